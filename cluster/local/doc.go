// Package local is the driver of a cluster whose nodes are places on this machine:
// work runs as child processes, as the account that its user is given, in a folder
// of its own. It is for trying, for tests and for small machines: there are no
// containers and no limits of memory or processors, and a node is a place that one
// work has, not a processor.
//
// The driver remembers nothing. A folder for each work says what is to run, and who
// runs it, and what came of it; whoever reads the folder, in whatever life of the
// site, knows all there is to know:
//
//	FOLDER/NAME/order.json   what is to run; the folder comes to be with it, whole
//	FOLDER/NAME/script       of a work that is one
//	FOLDER/NAME/home/        where it begins, unless the job says otherwise
//	FOLDER/NAME/claim.json   the process that runs it: made once, and never again
//	FOLDER/NAME/output       what it has printed
//	FOLDER/NAME/result.json  what came of it
//	FOLDER/.ended/NAME/      the same, of what was deleted, for a week
//
// Each work has a supervisor: a process of its own, of this program, that outlives
// the site's. It claims the folder, begins the work, keeps what it prints within
// bounds, ends it and all that it has started at the end of its window, and writes
// down what came of it. A work whose folder is claimed never begins again: that is
// how it runs at most once, whatever is killed in between. If the supervisor itself
// is killed, or the machine restarts, the work is lost: the next look finds that out.
//
// It follows the section "local" of the hand-over: one process a leg, since all
// nodes of a leg are on one machine.
package local
