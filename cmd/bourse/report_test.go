package main

import (
	"bytes"
	"testing"
)

// runReport runs the command without looking at what it prints.
func runReport(t *testing.T, args ...string) error {
	t.Helper()
	_, err := reportOut(args...)
	return err
}

func reportOut(args ...string) (string, error) {
	root := newRoot()
	var o, m bytes.Buffer
	root.SetOut(&o)
	root.SetErr(&m)
	root.SetArgs(append([]string{"report"}, args...))
	err := root.Execute()
	return o.String(), err
}
