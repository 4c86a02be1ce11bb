package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// onInterrupt has Ctrl-C, or the end that a batch system asks for, clean up and tell
// how to go on, and ends the program; until the function that it returns is called.
func onInterrupt(stderr io.Writer, cleanup func(), remedy string) (stop func()) {
	hear := make(chan os.Signal, 1)
	over := make(chan struct{})
	signal.Notify(hear, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		select {
		case <-over:
		case <-hear:
			cleanup()
			fmt.Fprintf(stderr, "\nbourse: interrupted; %s\n", remedy)
			os.Exit(1)
		}
	}()
	return func() {
		signal.Stop(hear)
		close(over)
	}
}
