// Package sla decides which reservations with flexible times a site accepts,
// where they stand on its timeline, and who could be shifted for them (Netto,
// Bubendorfer and Buyya 2007).
//
// A service level agreement (SLA) promises so many nodes for so long somewhere
// between a ready time and a deadline. Until it starts the site may move it
// within that window to let others in. Two things never happen: running work
// never moves, and an accepted SLA is never broken. A submission either fits,
// and then all slots change at once, or it leaves no trace.
//
// The procedure is that of the paper's section 3 with its misprints mended: a
// job whose turn comes takes the first slot that fits; if a later job then finds
// none, the two change places and all between them get back the slots they had
// (fixqueue). The package knows no clock, draws nothing and does no I/O: whoever
// owns a Schedule tells it the time and carries out what it decides.
package sla
