// Package sla decides which reservations with flexible times a site accepts, where they
// lie on its timeline, and who could be shifted for them (Netto, Bubendorfer and Buyya
// 2007).
//
// A service level agreement (SLA) promises a number of nodes for a runtime, somewhere
// between a ready time and a deadline. Until the job starts, the site may move it within
// that window to let others in. Running work never moves, and an accepted SLA is never
// broken. A submission either fits, and then all slots change at once, or it changes
// nothing.
//
// The procedure is that of the paper's section 3, with its misprints corrected. A job
// whose turn comes takes the first slot that fits. If a later job then finds none, the two
// change places, and all between them get back the slots they had (fixqueue). The package
// knows no clock, draws nothing and does no I/O: the owner of a Schedule tells it the time
// and carries out what it decides.
package sla
