package flags

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

var (
	interrupted = make(chan struct{})
	interrupt   = sync.OnceFunc(func() { close(interrupted) })
)

// Interrupted is closed when an interrupted command has said its last words: then the program
// must end at once, with exit status 1. Only main ends it.
func Interrupted() <-chan struct{} { return interrupted }

// OnInterrupt has the program end on Ctrl-C or SIGTERM, until stop is called. First it calls
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
			interrupt()
		}
	}()
	return func() {
		signal.Stop(hear)
		close(over)
	}
}
