package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestDriverCheck_OfTheSampleAndOfWhatIsNoDriver(t *testing.T) {
	t.Parallel()
	const python = "/usr/bin/python3"
	if _, err := os.Stat(python); err != nil {
		t.Skip(python + " is not installed")
	}
	out, said, code := workloadCommand("driver", "check", "--json", python, "../../docs/examples/driver.py", "--folder", t.TempDir(), "--nodes", "2")
	var list []struct {
		Number      int
		Name, State string
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 11 {
		t.Fatalf("exit %d: %v\n%s%s", code, err, out, said)
	}
	for _, c := range list {
		if want := map[bool]string{true: "ok", false: "skipped"}[c.Number <= 8]; c.State != want {
			t.Errorf("%d %s: %s, want %s", c.Number, c.Name, c.State, want)
		}
	}
	if out, said, code := workloadCommand("driver", "check", "/bin/cat"); code != 1 || !strings.Contains(out, "FAILED") || !strings.Contains(said, "docs/DRIVERS.md") {
		t.Errorf("exit %d\n%s%s", code, out, said)
	}
	for _, args := range []string{"driver check", "driver check ./nothing-there"} {
		if _, said, code := workloadCommand(strings.Fields(args)...); code != 2 || !strings.Contains(said, "the driver") {
			t.Errorf("%q: exit %d, %s", args, code, said)
		}
	}
}
