// Package studies holds experiments: those of the papers that Bourse follows, and
// one of its own on load balancing by price. Each gives rows of measure, setting,
// the paper's figure, the figure found here with its 95 % interval, and a verdict.
package studies
