package process

import "golang.org/x/sys/unix"

// unsynchronised is what the kernel says if nothing keeps its clock right.
const unsynchronised = 5 // TIME_ERROR

// tryClock asks the kernel whether something keeps its clock right.
func tryClock() Finding {
	state, err := unix.Adjtimex(&unix.Timex{})
	switch {
	case err != nil:
		return warning("the kernel does not say whether its clock is synchronised: %v", err)
	case state == unsynchronised:
		return warning("the clock of this machine is not synchronised; sites and brokers must agree to 2 s: run NTP (chrony, systemd-timesyncd)")
	}
	return ok("the clock of this machine is synchronised")
}
