// Package search finds alternatives for the jobs of a batch: windows of slots on different
// nodes with a common start. It uses the algorithms ALP and AMP of Toporkov et al. (section
// 3), and a search that is not bound to the earliest start. Alternatives of a batch never
// overlap, so any combination of them can be taken (section 2).
//
// A List holds the free slots, either of individually named nodes or of groups of identical
// nodes. A Finder looks for one window in it and takes it out. Batch repeats passes over
// the jobs until a pass finds nothing.
//
// A job of unlike parts has a window if each part has nodes of its own kind, from its offset
// after the common start on: see piece.go, and package assign for the choice at a start.
//
// The package has no clock and no randomness, and does no I/O: the same list and the same
// requests give the same alternatives. It never chooses between alternatives;
// policy/selection does.
package search
