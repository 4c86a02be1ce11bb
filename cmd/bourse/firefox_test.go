package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// firefox is a Firefox that is driven by its own protocol, Marionette: lengths and JSON over
// TCP.
type firefox struct {
	net.Conn
	in   *bufio.Reader
	last int // number of the last call
}

// openFirefox starts a headless Firefox with a profile of its own, or skips the test with a
// word. It ends with the test.
func openFirefox(t *testing.T) *firefox {
	t.Helper()
	thorough.Only(t, "starts a browser")
	program := ""
	for _, name := range []string{"firefox-esr", "firefox"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no firefox here: the page is not tested in it")
	}
	profile := t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(`user_pref("marionette.port", 0);`), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, program, "--headless", "--marionette", "--no-remote", "--profile", profile)
	c.Env = append(os.Environ(), "HOME="+profile, "MOZ_CRASHREPORTER_DISABLE=1")
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = c.Wait() })
	port := ""
	eventually(t, 2*time.Minute, "listening", func() bool {
		text, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		port = strings.TrimSpace(string(text))
		return err == nil && port != ""
	})
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(4 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	f := &firefox{Conn: conn, in: bufio.NewReader(conn)}
	f.read(t) // it says who it is
	f.call(t, "WebDriver:NewSession", map[string]any{}, nil)
	return f
}

// read reads one message.
func (f *firefox) read(t *testing.T) []byte {
	t.Helper()
	length, err := f.in.ReadString(':')
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSuffix(length, ":"))
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(f.in, text); err != nil {
		t.Fatal(err)
	}
	return text
}

// call sends a command and reads its result into to; nil: it does not matter.
func (f *firefox) call(t *testing.T, command string, args, to any) {
	t.Helper()
	f.last++
	text, err := json.Marshal([]any{0, f.last, command, args})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "%d:%s", len(text), text); err != nil {
		t.Fatal(err)
	}
	var answer [4]json.RawMessage // 1, number, problem, result
	if err := json.Unmarshal(f.read(t), &answer); err != nil {
		t.Fatal(err)
	}
	if problem := string(answer[2]); problem != "null" {
		t.Fatalf("%s: %.2000s", command, problem)
	}
	if to == nil {
		return
	}
	if err := json.Unmarshal(answer[3], &struct {
		Value any `json:"value"`
	}{to}); err != nil {
		t.Fatal(err)
	}
}

func (f *firefox) open(t *testing.T, address string) {
	t.Helper()
	f.call(t, "WebDriver:Navigate", map[string]any{"url": address}, nil)
}

// ask evaluates a script that calls done with its result.
func (f *firefox) ask(t *testing.T, script string, to any) {
	t.Helper()
	f.call(t, "WebDriver:ExecuteAsyncScript", map[string]any{"script": "const done = arguments[arguments.length - 1];\n" + script, "args": []any{}, "scriptTimeout": 120_000, "sandbox": nil}, to)
}

// until waits until an expression is true.
func (f *firefox) until(t *testing.T, js string) {
	t.Helper()
	f.ask(t, `const look = () => { let is = false; try { is = `+js+`; } catch {} is ? done(true) : setTimeout(look, 50); }; look();`, nil)
}
