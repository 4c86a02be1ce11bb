package main

import (
	"path/filepath"
	"strings"
	"testing"
)

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
