// Package explain says why a broker's job got what it got: what the sites
// offered, which alternatives there were, which one was taken and why the others
// lost, what became of it, and what would have changed the answer: so many
// credits, minutes or nodes, a site more or less. It knows nothing but the facts
// of the broker's journal. What a cycle chose it plans again, by the broker's own
// functions (planning.Rerun), and what it says would have changed the answer it has
// really tried, with that change and with the next smaller one.
//
// The package never asks a site, reads a clock or does I/O: facts in, an
// Explanation out. What it cannot know it says: detail that was not recorded, or
// is older than the journal's segments are kept.
package explain
