// Package explain says why a broker's job got what it got: what the sites
// offered, which alternatives there were, which one was taken and why the others
// lost, what became of it, and what would have changed the answer: so many
// credits, minutes or nodes, a site more or less. All that it knows is the broker's
// journal. It plans cycles again with the broker's own functions (planning.Rerun), and
// has tried every change that it names, and the next smaller one.
//
// The package never asks a site, reads a clock or does I/O: facts in, an
// Explanation out. It says what it cannot know: detail that was not recorded, or
// that is older than the journal's segments.
package explain
