package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A test that runs for ever is ended by its processor time. One that only waits for a busy machine
// is not.
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

// Each change listed as equivalent is a change of its package as it is now. Other packages are not
// examined.
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

// changes lists the names of the changes of a file, without its path.
func changes(t *testing.T, text string) (names []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n\n"+text), 0o666); err != nil {
		t.Fatal(err)
	}
	sources, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range sources[0].mutants() {
		_, name, _ := strings.Cut(m.name(), ".go ")
		names = append(names, name)
	}
	return names
}

// A panic is not left out, nor what it says changed: it never comes to that. The condition
// before it is changed as any other.
func TestMutants_LeavePanicsAlone(t *testing.T) {
	t.Parallel()
	got := changes(t, "func f(ok bool) {\n\tif ok {\n\t\tpanic(1 + 2)\n\t}\n\tg(1)\n}\n")
	if want := []string{"f: if ok { | ok -> !(ok)", "f: g(1) | g(1) -> "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two places on one line, and equal lines of a function, have names of their own; equal
// lines of different functions have them anyway.
func TestMutants_HaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	got := changes(t, "func f(a int) int { return a * a * a }\n\nfunc g(a int) {\n\ta++\n\ta++\n}\n\nfunc h(a int) {\n\ta++\n}\n")
	line := "f: func f(a int) int { return a * a * a } | * -> /"
	// The last product is the outer one, and so the first to be changed.
	if want := []string{line + " (2)", line, "g: a++ | a++ -> ", "g: a++ | a++ ->  (2)", "h: a++ | a++ -> "}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
