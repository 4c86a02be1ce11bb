package main

import (
	"os"
	"strings"
	"testing"
)

// The README shows the output of simulate to the letter.
func TestREADME_TheFirstRunIsWhatItPrints(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	command := "simulate --seed 7"
	if !strings.Contains(string(page), "./bourse "+command+" --out out\n") {
		t.Fatalf("the README does not run %s", command)
	}
	out, msg, code := workloadCommand(strings.Fields(command)...)
	tables, _, _ := strings.Cut(out, "\nNo files written")
	if code != 0 || !strings.Contains(string(page), "```\n"+tables+"```\n") {
		t.Errorf("exit %d: %s; the README has not\n%s", code, msg, tables)
	}
}
