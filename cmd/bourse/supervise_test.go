//go:build linux

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/cmd/bourse/supervise"
)

// A supervisor begins before the packages are initialised that it does not need, which are
// most of the program. So it is small, and begins quickly.
func TestSupervise_BeginsBeforeTheRestOfTheProgram(t *testing.T) {
	t.Parallel()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(binary, supervise.Command, t.TempDir())
	c.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	text := string(out)
	if err == nil || !strings.Contains(text, "is not the folder of a piece of work") {
		t.Fatalf("%v: %s", err, text)
	}
	if !strings.Contains(text, "init encoding/json @") {
		t.Errorf("what is initialised does not show:\n%s", text)
	}
	for line := range strings.Lines(text) {
		for _, late := range []string{"google.golang.org/protobuf/types", "github.com/prometheus/", "github.com/bourse-grid/bourse ", "github.com/bourse-grid/bourse/agents", "regexp", "net/http"} {
			if strings.HasPrefix(line, "init "+late) {
				t.Errorf("initialised before: %s", line)
			}
		}
	}
}
