package main

import "time"

// wallClock is the machine's wall clock, of which the agents of a process take
// their time. It stands in a file of its own so that a test can build a bourse
// whose clock is wrong.
func wallClock() time.Time { return time.Now() }
