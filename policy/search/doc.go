// Package search finds alternatives for the jobs of a batch: windows of slots on
// different nodes with one common start, by the algorithms ALP and AMP of
// Toporkov et al. (section 3) and by a search that is not bound to the earliest
// start. Alternatives of a batch never overlap, so any combination of them can
// be taken (section 2).
//
// A List holds the free slots, of nodes named one by one or of groups of alike
// nodes; a Finder looks for one window in it and takes it out; Batch repeats
// passes over the jobs until a pass finds nothing.
//
// The package knows no clock, draws nothing and does no I/O: the same list and
// the same requests give the same alternatives. It never chooses between
// alternatives; that is policy/selection's.
package search
