package main

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
)

// Text from users and peers reaches a terminal as plain text, whatever it contains and however it
// is cut into writes. JSON is unchanged.
func TestOutput_LetsNothingThroughThatATerminalTakesForACommand(t *testing.T) {
	t.Parallel()
	for size := 1; size < 40; size++ {
		var b bytes.Buffer
		o := &flags.Output{W: &b}
		for text := []byte("größe\x1b[2J\t\u009b1m日本\u202e\xff\n\xe2\x82"); len(text) > 0; text = text[min(size, len(text)):] {
			if n, err := o.Write(text[:min(size, len(text))]); err != nil || n != min(size, len(text)) {
				t.Fatal(n, err)
			}
		}
		o.Flush()
		if want := "größe\\u001b[2J\t\\u009b1m日本\\u202e\\xff\n\\xe2\\x82"; b.String() != want {
			t.Errorf("in pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
}

func TestOutput_FailsForGoodAtTheFirstError(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := &flags.Output{W: &b}
	if _, err := o.Write([]byte("whole")); err != nil || b.String() != "whole" {
		t.Fatalf("%v, %q", err, b.String())
	}
	o.W = broken{}
	if _, err := o.Write([]byte("lost")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want the writer's error", err)
	}
	o.W = &b
	if _, err := o.Write([]byte("more")); !errors.Is(err, os.ErrClosed) || b.String() != "whole" {
		t.Errorf("after an error %v and %q, want the error and nothing more written", err, b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }
