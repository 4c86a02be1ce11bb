package flags

import (
	"strings"
	"testing"
)

// Only y and yes go on; where the input is no terminal nobody is asked.
func TestAgrees_OnlyYesGoesOn(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "": false, "no\n": false, "yes please\n": false} {
		var out strings.Builder
		if got := agrees(strings.NewReader(text), &out, "Declare north lost?"); got != want || out.String() != "Declare north lost? [y/N] " {
			t.Errorf("%q: %t, %q", text, got, out.String())
		}
	}
	var out strings.Builder
	if !Agrees(strings.NewReader("no\n"), &out, "Go on?") || out.Len() > 0 {
		t.Errorf("a program was asked: %q", out.String())
	}
}
