// Package local is the driver of a cluster whose nodes are places on this machine. Work
// runs as child processes, as the account that its user is mapped to, in a folder of its
// own. It is for trying things out, for tests and for small machines: there are no
// containers and no limits of memory or processors, and a node is a place for one piece of
// work, not a processor.
//
// The driver remembers nothing. A folder for each piece of work says what to run, who runs
// it and what came of it. Whoever reads the folder, in whatever life of the site, knows all
// that there is to know:
//
//	FOLDER/NAME/order.json   what to run; the folder appears with it, whole
//	FOLDER/NAME/script       the script, if the work is one
//	FOLDER/NAME/home/        where it begins, unless the job says otherwise
//	FOLDER/NAME/claim.json   the process that runs it: made once, and never again
//	FOLDER/NAME/output       what it has printed
//	FOLDER/NAME/result.json  what came of it
//	FOLDER/.ended/NAME/      the same for deleted work, for a week
//
// Work has supervisors: processes of this program that outlive the site's. One looks after up
// to 32 pieces of work that have cgroups, or after one that has none. It claims the folder,
// begins the work, keeps the output within bounds, ends the work and all that it has started
// at the end of its window, and writes down what came of it. Work whose folder is claimed never
// begins again. So it runs at most once, whatever is killed in between. If the supervisor itself is killed, or the machine restarts, the
// work is lost, and the next look finds that out.
//
// It follows the section "local" of the hand-over: one process for each leg, since all
// nodes of a leg are on one machine.
package local
