package process

import "time"

// WallClock is the machine's wall clock, from which the agents of a process take their
// time. It has a file of its own so that a test can build a bourse with a wrong clock.
func WallClock() time.Time { return time.Now() }
