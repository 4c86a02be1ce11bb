package main

import (
	"bytes"
	"errors"
	"os"
	"testing"
)

func TestOutput_FailsForGoodAtTheFirstError(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	o := &output{w: &b}
	if _, err := o.Write([]byte("whole")); err != nil || b.String() != "whole" {
		t.Fatalf("%v, %q", err, b.String())
	}
	o.w = broken{}
	if _, err := o.Write([]byte("lost")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v, want the writer's error", err)
	}
	o.w = &b
	if _, err := o.Write([]byte("more")); !errors.Is(err, os.ErrClosed) || b.String() != "whole" {
		t.Errorf("after an error %v and %q, want the error and nothing more written", err, b.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }
