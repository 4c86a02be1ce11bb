// Package manager simulates the resource manager of a cluster, with the driver in front of
// it: an agent that answers looks and commands, and fails as a real one does. It behaves as
// Slurm was seen to behave:
//
//   - A reservation names its nodes, and creating it is the atomic check. The same one again
//     is refused as an overlap.
//   - A crash loses what was acknowledged in the last seconds, and the numbers of jobs with
//     it.
//   - Limits are whole minutes, and are enforced by a sweep.
//   - Jobs that have ended are forgotten after a while.
//
// It also serves a queue of local jobs, by policy/backfill. Its nodes may be had by
// pilots instead of reservations (pilots.go). With neither it is a machine that begins what it
// is told to at once.
//
// A Manager has these parts, each with its own state. The driver (driver.go) has the line
// of commands, the looks, and what goes wrong with answers. Its commands (commands.go) are
// carried out by the controller (controller.go), which keeps the book of reservations and
// jobs (book.go), saves it and loses it. The queue (queue.go) starts jobs and enforces
// limits. Work is on the nodes (nodes.go), whatever the book says. Faults (faults.go) are
// what is wrong at present, and what an administrator does.
//
// Faults come as Strike messages from the world. Everything is drawn from seeded streams:
// the same messages give the same answers. truth.go has what is true of the nodes, whatever
// the manager has said, for checks from outside.
package manager
