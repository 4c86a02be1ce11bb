// Package manager simulates the resource manager of a cluster, with the driver in
// front of it: an agent that answers looks and commands, and that fails as a real one
// does. It does what Slurm was seen to do: a reservation names its nodes, and creating
// it is the atomic check; the same again is refused as an overlap; what was acknowledged
// in the last seconds is lost in a crash, with the numbers of jobs; limits are whole
// minutes and enforced by a sweep; jobs that have ended are forgotten after a while. A
// queue of local jobs is served beside, by policy/backfill. Without reservations it is a
// machine that begins what it is told to, at once.
//
// The parts of a Manager, each with its own state: the driver (driver.go: the line of
// commands, looks, what goes wrong with answers) has commands (commands.go) carried out
// by the controller (controller.go), which keeps the book of reservations and jobs
// (book.go), saves and loses it; the queue (queue.go) starts jobs and enforces limits;
// work is on the nodes (nodes.go) whatever the book says; faults (faults.go) are what is
// wrong at present, and what an administrator does.
//
// What goes wrong comes as Strike messages from the world. Everything is drawn from
// seeded streams: the same messages give the same answers. What is true of its nodes,
// whatever it has told anybody, is in truth.go, for those who check from outside.
package manager
