// Command bourse is the one binary: it reads the command line, wires the
// packages together and is the only place that exits.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	out := &output{w: os.Stdout}
	root := newRoot()
	root.SetOut(out)
	err := root.Execute()
	if out.err != nil {
		err = failed(out.err)
	}
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "bourse:", err)
	}
	os.Exit(exitCode(err))
}

// output remembers that results could not be written, as on a full disk: then
// the command has failed, whether it looked or not.
type output struct {
	w   io.Writer
	err error
}

// Write fails for good at the first error.
func (o *output) Write(b []byte) (n int, err error) {
	if o.err != nil {
		return 0, o.err
	}
	n, o.err = o.w.Write(b)
	return n, o.err
}

// failure is an error that is not the caller's fault: exit 1 instead of 2.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// failed marks err as "refused or failed". What is not marked is bad usage or
// bad input.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return failure{err}
}

// exitCode follows the contract: 0 done, 1 refused or failed, 2 bad usage or
// bad input.
func exitCode(err error) int {
	var f failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &f):
		return 1
	}
	return 2
}
