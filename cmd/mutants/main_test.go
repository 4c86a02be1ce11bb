package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What runs for ever is ended by the processor time that it takes; who only waits for a
// busy machine is not.
func TestTest_IsEndedByProcessorTime(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{"while :; do :; done": false, "sleep 2": true} {
		binary := filepath.Join(t.TempDir(), "tests")
		if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script), 0o777); err != nil {
			t.Fatal(err)
		}
		if said, took, err := test(t.TempDir(), binary, "^$", 0, time.Second); (err == nil) != want || took > 3*time.Second {
			t.Errorf("%s: %v after %v, %s", script, err, took, said)
		}
	}
}

// What is said to be equivalent is a change of its package as that is now; of another
// package nothing is asked.
func TestNamed_TellsWhatIsNoChangeAnyMore(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	same, err := equivalent()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string][]mutant{}
	for name := range same {
		file, _, _ := strings.Cut(name, " ")
		dirs[filepath.Dir(file)] = nil
	}
	for dir := range dirs {
		sources, err := read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sources {
			dirs[dir] = append(dirs[dir], s.mutants()...)
		}
		if err := named(dir, same, dirs[dir]); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	const gone = "policy/pricing/gone.go f: x++ | x++ -> "
	same[gone] = "why"
	for dir, list := range dirs {
		if err := named(dir, same, list); (err != nil) != (dir == filepath.Join("policy", "pricing")) || err != nil && !strings.Contains(err.Error(), gone) {
			t.Errorf("%s, with a name that is none in policy/pricing: %v", dir, err)
		}
	}
}
