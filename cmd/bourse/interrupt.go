package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// onInterrupt has Ctrl-C, or the end that a batch system asks for, end the program, which
// says what last returns: what is left, and how to go on. last may clean up. It holds
// until the function that it returns is called.
func onInterrupt(stderr io.Writer, last func() string) (stop func()) {
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
