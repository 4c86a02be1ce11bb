// Package simulation runs scenarios in virtual time: sites, their clusters, brokers and
// users, one world for each seed. It runs one seed or many, a sweep over settings, and the
// replay of one trace on one cluster. On request it checks a run against the protocol's
// invariants. The same scenario and seed give the same facts, byte for byte.
//
// All decisions are the agents'. Package torture runs the world with every fault, and
// package drill does the same with real processes.
package simulation
