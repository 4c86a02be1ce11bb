// Package supervisor is the process that looks after work on a machine: it claims the work's
// folder, begins the work, keeps its output within bounds, ends it and all that it has started
// at the end of its window, and writes down what came of it. It stays until nothing of the work
// is left, however long that takes. Package local says what the folder holds.
//
// One process looks after several pieces of work that have cgroups of their own, which say
// whose a process is; else after one, whose are all of its descendants.
//
// The process is bourse itself, called as "bourse supervise FOLDER" or "bourse supervise
// several FOLDER". cmd/bourse/supervise begins and ends it before the rest of the program is
// initialised: without cgroups a hundred pieces of work cost a hundred of these processes. The language has packages initialised in the order of
// their import paths as far as their imports allow, so this package imports nothing of the
// project, no other module, and no standard package whose own imports come late
// (path/filepath, regexp).
package supervisor
