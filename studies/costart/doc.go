// Package costart is an experiment of our own: how often do the parts of a job begin together at
// clusters that grant no reservations, and what do the pilots idle for that?
//
// Each cluster replays a log under EASY, its arrivals spread so that the load is what is wanted. At
// an instant drawn for each of them a job of two or three parts is gathered by the product's own
// rules (policy/gather): its pilots stand in the queues as any other job, and are in others' way.
// All strategies meet the same jobs at the same instants. What is compared with is "Co-start
// without rights", section Figures.
package costart
