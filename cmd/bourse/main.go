// Command bourse is the project's only binary. It reads the command line, wires the
// packages together, and is the only place that calls os.Exit.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
)

func main() {
	out := &flags.Output{W: os.Stdout}
	root := newRoot()
	root.SetOut(out)
	go func() {
		<-flags.Interrupted()
		os.Exit(1)
	}()
	err := root.Execute()
	if out.Err != nil {
		err = failure.Of(out.Err)
	}
	out.Flush()
	if err != nil && err.Error() != "" {
		fmt.Fprintf(os.Stderr, "bourse: %s\n", flags.Visible(wordsOf(err)))
	}
	os.Exit(exitCode(err))
}

// wordsOf is the text of an error for users. An error about a file names the file and the
// problem, without the system call that failed.
func wordsOf(err error) string {
	words := err.Error()
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		words = strings.Replace(words, p.Error(), p.Path+": "+p.Err.Error(), 1)
	}
	return words
}

// exitCode follows the contract: 0 done, 1 refused or failed, 2 bad usage or
// bad input.
func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case failure.Is(err):
		return 1
	}
	return 2
}
