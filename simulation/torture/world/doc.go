// Package world draws the federation of a seed, brings it to life and disturbs it: messages
// are lost, processes die, disks fail, sites lie, users and operators change their minds. It
// judges nothing: package check looks at what a World has and hears of each step.
//
// Each kind of world, and each kind of trouble, is a file: what a seed draws, from a stream of
// its own (streams.go), and how it strikes. World.drawKinds and World.strike list them. So most
// worlds are as they were before another kind was added.
//
// In half of the worlds there are resource managers behind some sites (managed.go). Where
// clusters have journals, some begin again with older ones (past.go). One world of sixteen has a
// site of time-shared nodes (shares.go). In one of sixteen sites ask the owners of flexible legs
// to shift them for a payment (offers.go). One world of sixteen has sites that lie (lies.go). In
// another one of sixteen bounds are so low that they are reached, there are many moves, and a day
// and a half passes at the end, after which all agents must have forgotten everything
// (strained.go). In one of sixteen users and tenants have terms, which operators change in the
// middle of everything; budgets are for periods, and there are deposits (terms.go). In another
// one of sixteen all sites are silent to one broker at a time, for a quarter of an hour, and more
// people than may wait insist that a job be given up (silence.go).
package world
