//go:build !linux

package process

// tryClock cannot ask the kernel here.
func tryClock() Finding {
	return warning("whether the clock of this machine is synchronised is not known; sites and brokers must agree to 2 s")
}
