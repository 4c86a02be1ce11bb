package ssh

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fake is a program named ssh. By its destination it is a machine that works, with what shells
// print besides, or one of which something is wrong.
const fake = `#!/bin/sh
for last; do :; done
while [ "$1" != -- ]; do case $1 in BatchMode=yes) batch=1;; ControlPath=*) socket=${1#*=};; esac; shift; done
case $2 in
noise) echo welcome; echo 'bourse-X begin one'; echo motd >&2; sh -c "$last"; echo bye; exit 0;;
flood) exec head -c 20000000 /dev/zero;;
cut) sh -c "$last" | head -c "$(cat "$FAKE_CUT")"; exit 255;;
ended) cat >/dev/null; echo 'sorry, no shell' >&2; exit 1;;
hang) sleep 600;;
deaf) exec sleep 600;;
changed) printf '@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\r\nHost key verification failed.\r\n' >&2; exit 255;;
factor) [ -z "$batch" ] && touch "$socket" && exit 0; [ -e "$socket" ] && exec sh -c "$last"
  echo 'ana@factor: Permission denied (publickey,keyboard-interactive).' >&2; exit 255;;
gone) echo 'ssh: connect to host gone port 22: No route to host' >&2; exit 255;;
*) exec sh -c "$last";;
esac
`

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("/tmp", "fssh-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "ssh"), []byte(fake), 0o755)
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	os.Setenv("FAKE_CUT", filepath.Join(dir, "cut"))
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// to is a host with a folder of its own for its connection.
func to(t *testing.T, destination string) *Host {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fssh-c-") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return &Host{Destination: destination, Control: filepath.Join(dir, "c"), Login: "bourse site login site.toml"}
}

// The output of steps comes back as it is, with their status, through ssh and without it, and
// whatever else the account's shell prints.
func TestCall_PartsComeBackAsTheyAre(t *testing.T) {
	t.Parallel()
	odd := "it's \\ $HOME `id` \"x\"\n\nEOF\n"
	for _, where := range []string{"ana@north", "noise", ""} {
		a, err := to(t, where).Call(t.Context(), 0,
			Step{"one", "printf 'a\\0b\\n\\n'; echo bad >&2; exit 7"},
			Step{"two", File("cat", odd)},
			Step{"three", "cat; echo " + Quote("it's")}) // without input
		if err != nil {
			t.Fatalf("%q: %v", where, err)
		}
		one := a.Parts["one"]
		if string(one.Out) != "a\x00b\n\n" || string(one.Errs) != "bad\n" || one.Exit != 7 || string(a.Parts["two"].Out) != odd || string(a.Parts["three"].Out) != "it's\n" {
			t.Errorf("%q: got %+v", where, a.Parts)
		}
		if a.End.Before(a.Begun) {
			t.Errorf("ended before it began")
		}
	}
}

// An answer that is cut off anywhere is no answer, and a script that is cut off does nothing.
func TestCall_NothingIsMadeOfACutAnswer(t *testing.T) {
	steps := []Step{{"one", "echo 1"}, {"two", "echo 2"}}
	cut := os.Getenv("FAKE_CUT")
	whole := 0
	for _, at := range []int{0, 1, 40, 60, 100, 140, 150, 4000} {
		if err := os.WriteFile(cut, fmt.Appendln(nil, at), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := to(t, "cut").Call(t.Context(), 0, steps...)
		var failed *Error
		switch {
		case err == nil && string(a.Parts["two"].Out) == "2\n" && at == 4000: // all of it has come, whatever ssh says
			whole++
		case !errors.As(err, &failed) || failed.Login:
			t.Errorf("cut after %d bytes: %+v, %v", at, a, err)
		}
	}
	if whole != 1 {
		t.Error("an answer that came whole was not taken")
	}
	made := filepath.Join(t.TempDir(), "made")
	text := script("m", []Step{{"one", "touch " + Quote(made)}})
	for end := len(text) - len("\nbourse_main </dev/null; exit 0\n"); end > 0; end -= 29 {
		h := to(t, "")
		_, _ = h.Call(t.Context(), 0, Step{"cut", "sh -s <<'no-such-end'\n" + text[:end] + "\nno-such-end"})
		if _, err := os.Stat(made); err == nil {
			t.Fatalf("a script of %d of %d bytes was run", end, len(text))
		}
	}
}

// Each trouble is said, with its remedy, and bounded.
func TestCall_TroubleIsSaidAndBounded(t *testing.T) {
	t.Parallel()
	for where, c := range map[string]struct {
		limit time.Duration
		login bool
		words string
	}{
		"flood":   {0, false, "flood printed more than 4 MiB"},
		"ended":   {0, false, "was cut off; it last said: sorry, no shell"},
		"hang":    {300 * time.Millisecond, false, "no answer from hang in 300ms"},
		"deaf":    {300 * time.Millisecond, false, "no answer from deaf in 300ms"},
		"changed": {0, false, "the host key of changed has changed"},
		"factor":  {0, true, "needs login: bourse site login site.toml opens the connection to factor"},
		"gone":    {0, false, "No route to host"},
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			h := to(t, where)
			h.most = 4 << 20
			_, err := h.Call(t.Context(), c.limit, Step{"one", File("cat", strings.Repeat("long\n", 100_000))})
			if err == nil || NeedsLogin(err) != c.login || !strings.Contains(err.Error(), c.words) {
				t.Errorf("got %v, must have %q", err, c.words)
			}
		})
	}
}

// Once the connection was opened by hand, calls go over it.
func TestOpen_CallsGoOverTheConnection(t *testing.T) {
	t.Parallel()
	h := to(t, "factor")
	if _, err := h.Call(t.Context(), 0, Step{"one", "echo in"}); !NeedsLogin(err) {
		t.Fatalf("got %v", err)
	}
	if err := h.Open(t.Context(), strings.NewReader(""), nil, nil); err != nil {
		t.Fatal(err)
	}
	a, err := h.Call(t.Context(), 0, Step{"one", "echo in"})
	if err != nil || string(a.Parts["one"].Out) != "in\n" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// The socket of a connection lets whoever can open it act as the account.
func TestSocket_LiesInAFolderOfOursAlone(t *testing.T) {
	t.Parallel()
	h := to(t, "ana@north")
	if err := os.Mkdir(h.Control, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Call(t.Context(), 0, Step{"one", "true"}); err == nil || !strings.Contains(err.Error(), "must be of mode 700") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(h.Control, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Call(t.Context(), 0, Step{"one", "true"}); err != nil {
		t.Error(err)
	}
	h.Control = filepath.Join(t.TempDir(), strings.Repeat("d", 80))
	if _, err := h.Call(t.Context(), 0, Step{"one", "true"}); err == nil || !strings.Contains(err.Error(), "shorter path") {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{"", "-oProxyCommand=x", "a b", "a;b", "$(id)", strings.Repeat("a", 256)} {
		if CheckDestination(bad) == nil {
			t.Errorf("%q is taken for a destination", bad)
		}
	}
	if _, err := (&Host{Destination: "-oProxyCommand=x"}).Call(context.Background(), 0); err == nil {
		t.Error("an option is taken for a destination")
	}
}

// An answer that makes no sense is none, and nothing in it breaks the reader.
func FuzzParse(f *testing.F) {
	f.Add([]byte("m begin one\nx\nm end one 0\nm whole\n"), []byte("m begin one\n\nm end one\n"))
	f.Add([]byte("m begin one\n\nm end one 300\nm whole\n"), []byte(nil))
	f.Fuzz(func(t *testing.T, out, errs []byte) {
		parts, whole := parse("m", []Step{{"one", ""}, {"two", ""}}, out, errs)
		if whole && len(parts) != 2 {
			t.Errorf("whole, with %d parts", len(parts))
		}
	})
}
