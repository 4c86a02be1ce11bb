package flags

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// OnInterrupt ends the program on Ctrl-C or SIGTERM, until stop is called. First it calls
// last, which may clean up, and prints what that returns: what is left, and how to go on.
func OnInterrupt(stderr io.Writer, last func() string) (stop func()) {
	hear := make(chan os.Signal, 1)
	over := make(chan struct{})
	signal.Notify(hear, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-over:
		case <-hear:
			fmt.Fprintf(stderr, "\nbourse: interrupted; %s\n", last())
			os.Exit(1)
		}
	}()
	return func() {
		signal.Stop(hear)
		close(over)
	}
}
