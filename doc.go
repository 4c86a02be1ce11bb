// Package bourse is the vocabulary of a metascheduler for grids of clusters:
// the values that sites, brokers and the tools around them speak of, and the
// arithmetic on them. Time, money and performance are whole numbers, so that
// every calculation is exact and the same on every machine.
//
// Nothing here waits, sends, stores, draws a random number or reads a clock.
// The package imports no other package of the module; all others may import it.
package bourse
