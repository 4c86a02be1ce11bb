// Package shadow says what a site would have sold, beside a cluster that Slurm serves, if it
// were allowed to. Nothing is reserved: windows that would have been sold are kept in a
// timeline of the market's own, and those who ask later find their nodes taken.
//
// A Market looks at the cluster's queue, by Slurm's own rules, again and again. All that it
// finds is an Event; its state and the Report follow from events alone, so both can be made
// again from what was written down. The same market follows a live cluster and a record.
package shadow
