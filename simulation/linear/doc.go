// Package linear checks from outside that sites kept their word leg by leg: what brokers asked of
// their ledgers and were answered must be a history that one ledger, taking the operations one after
// the other, could have had (Herlihy and Wing, linearizability). Torture and drill record into it.
package linear
