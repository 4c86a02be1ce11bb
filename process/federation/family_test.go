package federation

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// childScript plays a child: it becomes ready, fails twice, then runs until its standard
// input ends. The last argument but one is the file that counts its starts.
const childScript = `#!/bin/sh
echo x >> "$2"
test "$(cat "$2" | wc -l)" -gt 6 && exec cat
echo '{"message":"ready"}' >&2
exit 1
`

// A child that fails after it was ready is started again, however often: what it
// cannot go on over it refuses in a later life. One that fails before it is ready
// ends all.
func TestFamily_AChildThatFailsOnceReadyIsStartedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	binary, counter := filepath.Join(dir, "child"), filepath.Join(dir, "counter")
	var said bytes.Buffer
	f := &Family{binary: binary, log: &prefixed{out: &said}, pids: map[string]int{}, pause: time.Millisecond}
	run := func(script string) error {
		if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		go func() {
			for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
				if b, _ := os.ReadFile(counter); bytes.Count(b, []byte("x")) > 6 {
					cancel()
				}
			}
		}()
		return f.Run(ctx, []Member{{Role: "site", Name: "north", File: counter}}, func() error { return nil })
	}
	if err := run(childScript); !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, said.String())
	}
	if n := strings.Count(said.String(), "site north failed (exit status 1); restarting it in"); n != 6 {
		t.Errorf("started again %d times\n%s", n, said.String())
	}
	if err := os.Remove(counter); err != nil {
		t.Fatal(err)
	}
	if err := run("#!/bin/sh\nexit 1\n"); err == nil || !strings.Contains(err.Error(), "ended by itself") {
		t.Errorf("one that is never ready: %v", err)
	}
}
