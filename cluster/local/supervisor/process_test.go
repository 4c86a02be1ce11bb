//go:build linux

package supervisor

import "testing"

func TestParseStat_WhateverTheProcessIsCalled(t *testing.T) {
	t.Parallel()
	const rest = " S 41 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3"
	for _, name := range []string{"sleep", ") Z 1 (", "a b c", ""} {
		s, err := parseStat([]byte("40 (" + name + ")" + rest))
		if err != nil || s != (stat{parent: 41, started: 987654}) {
			t.Errorf("%q: %+v, %v", name, s, err)
		}
	}
	if _, err := parseStat([]byte("40 (x) S 1")); err == nil {
		t.Error("half of a line was taken")
	}
}
