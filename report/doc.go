// Package report turns the facts of a run into output for users: a summary of measures, a
// table of jobs, the stream of events, a picture of all sites over time, a page with all
// figures and the story of each job, and the tables and the finding that end a simulation.
//
// A Collector is fed the facts in the order in which agents recorded them, and sums as it
// goes. It decides nothing, sends nothing and has no clock. Its output depends only on the
// facts, not on the machine, the date or the folder. The measures are those of a virtual
// organisation's economy: what sites earn and how long their own users wait, what the VO's
// jobs cost, when they run and why some do not (Toporkov et al.; Singh, Kesselman and Deelman,
// section 5).
//
// Money stays whole until it is printed. Shares and slowdowns are floats, rounded to six
// decimals when they are written.
package report
