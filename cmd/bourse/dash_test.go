package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/web/client"
	"github.com/bourse-grid/bourse/web/dash"
)

// The holder of the link gets one session, which asks the broker in the name of the
// context and ends with the command.
func TestDash_PrintsALinkToASession(t *testing.T) {
	t.Parallel()
	broker := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"agent": "broker:vo1", "role": "operator", "name": "olga"}`)
	}))
	defer broker.Close()
	file := filepath.Join(t.TempDir(), "context.json")
	if err := (&client.Context{Broker: broker.URL}).Write(file); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	var messages bytes.Buffer
	ended := make(chan error, 1)
	go func() {
		root := newRoot()
		root.SetOut(in)
		root.SetErr(&messages)
		root.SetArgs([]string{"dash", "--context", file, "--json"})
		ended <- root.ExecuteContext(ctx)
		in.Close()
	}()
	var said struct{ Link string }
	if err := json.NewDecoder(out).Decode(&said); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	base, secret, _ := strings.Cut(said.Link, "#")
	call := func(method, path, body string, change func(*http.Request)) *http.Response {
		t.Helper()
		r, err := http.NewRequest(method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", strings.TrimSuffix(base, "/"))
		change(r)
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	nothing := func(*http.Request) {}
	first := call("POST", "session", `{"link": "`+secret+`"}`, nothing)
	var s dash.Session
	if err := json.NewDecoder(first.Body).Decode(&s); err != nil || s.Token == "" || !s.Broker {
		t.Fatalf("%s: %+v, %v", first.Status, s, err)
	}
	if again := call("POST", "session", `{"link": "`+secret+`"}`, nothing); again.StatusCode != http.StatusForbidden {
		t.Errorf("the second time: %s", again.Status)
	}
	text, _ := io.ReadAll(call("GET", "broker/v1/caller", "", func(r *http.Request) {
		r.AddCookie(first.Cookies()[0])
		r.Header.Set(dash.TokenHeader, s.Token)
	}).Body)
	if !strings.Contains(string(text), "olga") {
		t.Errorf("the broker's answer is %s", text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if said := messages.String(); !strings.Contains(said, "as operator olga") || strings.Contains(said, secret) {
		t.Errorf("it says %q", said)
	}
	if _, err := http.Get(base); err == nil {
		t.Error("the page is served after the end")
	}
}

func TestDash_SaysAtOnceWhatCannotBeReached(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "context.json")
	if err := (&client.Context{Broker: "http://127.0.0.1:1"}).Write(file); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runCommand(t.Context(), "dash", "--context", file); exitCode(err) != 1 || !strings.Contains(err.Error(), "is it running?") {
		t.Errorf("no broker: %v", err)
	}
	if _, _, err := runCommand(t.Context(), "dash", "--context", file+"x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no context: %v", err)
	}
	if _, _, err := runCommand(t.Context(), "dash", "--port", "70000"); exitCode(err) != 2 {
		t.Errorf("--port 70000: %v", err)
	}
}
