// Package grid is the vocabulary of a metascheduler for grids of clusters:
// the values that sites, brokers and the tools around them exchange, and the
// arithmetic on them. Time, money and performance are whole numbers, so every
// calculation is exact and gives the same result on every machine.
//
// Nothing here blocks, sends, stores, draws a random number or reads a clock.
// The package imports no other package of the module; any of them may import it.
package grid
