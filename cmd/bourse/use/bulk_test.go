package use

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// contextOf is the context file of a broker of this test.
func contextOf(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	name := filepath.Join(t.TempDir(), "context.json")
	if err := (&client.Context{Broker: server.URL}).Write(name); err != nil {
		t.Fatal(err)
	}
	return name
}

// cancel --batch cancels what of a batch is not over, in the order of submission. One that is
// refused keeps none of the others.
func TestCancel_ABatch(t *testing.T) {
	t.Parallel()
	var cancelled []string
	var c cancelling
	c.batch = "night"
	c.Context = contextOf(t, func(w http.ResponseWriter, r *http.Request) {
		id := filepath.Base(r.URL.Path)
		switch {
		case r.Method == http.MethodDelete && id == "b":
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"status": 409, "detail": "b has run"}`)
		case r.Method == http.MethodDelete:
			cancelled = append(cancelled, id)
			_ = json.NewEncoder(w).Encode(api.Cancelled{ID: id})
		default:
			if q := r.URL.Query(); q.Get("batch") != "night" || q.Get("state") != "open" {
				t.Errorf("%v is asked for", q)
			}
			_ = json.NewEncoder(w).Encode(api.JobList{Jobs: []api.Job{{ID: "c", State: "waiting"}, {ID: "b", State: "running"}, {ID: "a", State: "running"}}}) // newest first
		}
	})
	var said strings.Builder
	err := c.run(t.Context(), nil, strings.NewReader(""), io.Discard, &said)
	if !slices.Equal(cancelled, []string{"a", "c"}) || err == nil || !strings.Contains(err.Error(), "1 of 3 jobs could not be cancelled") || !strings.Contains(said.String(), "b has run") {
		t.Errorf("%v are cancelled: %v, %s", cancelled, err, said.String())
	}
}

// jobs --watch shows a job again for each change that can be seen, and ends with it: with an
// error, if it did not succeed.
func TestJobsWatch_DrawsWhatHasChangedUntilItIsOver(t *testing.T) {
	t.Parallel()
	states := []grid.JobState{grid.JobWaiting, grid.JobWaiting, grid.JobRunning, grid.JobFailed}
	var asked atomic.Int32
	var c jobsCommand
	c.watching = true
	c.Context = contextOf(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/jobs/") {
			n := min(max(0, int(asked.Add(1))-2), len(states)-1) // once for its identity
			_ = json.NewEncoder(w).Encode(api.Job{ID: "wave-abcdefgh", State: states[n].String(), Reason: &api.Reason{Code: "failed", Detail: "it exited with status 3"}})
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil { // each turn is a reason to look again
			if _, err := io.WriteString(w, "event: turn\ndata: {\"turn\":\"placed\",\"job\":{\"id\":\"wave-abcdefgh\",\"state\":\"placed\"}}\n\n"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			if int(asked.Load()) > len(states) {
				return
			}
		}
	})
	calls, err := c.Broker()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = c.watch(t.Context(), calls, "wave", &out)
	if err == nil || !strings.Contains(err.Error(), "exited with status 3") {
		t.Errorf("it ends with %v", err)
	}
	var seen []string
	for line := range strings.Lines(out.String()) {
		if word, state, _ := strings.Cut(strings.TrimSpace(line), " "); word == "state" {
			seen = append(seen, strings.TrimSpace(state))
		}
	}
	if !slices.Equal(seen, []string{"waiting", "running", "failed"}) || strings.Contains(out.String(), clearScreen) {
		t.Errorf("it draws %v:\n%s", seen, out.String())
	}
}

// get goes on where a call broke off, and fetches anew what does not come out right.
func TestGet_GoesOnWhereACallBrokeOff(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 1000)
	digest := sha256.Sum256([]byte(text))
	sum := hex.EncodeToString(digest[:])
	for left, want := range map[string][]int64{text[:4000]: {4000, 7000}, "": {0, 3000, 6000, 9000}, "rubbish": {7, 3007, 6007, 9007, 0, 3000, 6000, 9000}, text: nil} {
		var from []int64
		var c getting
		c.to = t.TempDir()
		c.Context = contextOf(t, func(w http.ResponseWriter, r *http.Request) {
			switch at, _ := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64); filepath.Base(r.URL.Path) {
			case "files":
				_ = json.NewEncoder(w).Encode(api.WorkFiles{Found: 1, Files: []api.WorkFile{{Path: "out/data", Size: int64(len(text))}}})
			case "digest":
				_ = json.NewEncoder(w).Encode(api.WorkDigest{Path: "out/data", Size: int64(len(text)), SHA256: sum})
			case "file":
				from = append(from, at)
				_ = json.NewEncoder(w).Encode(api.JobOutput{From: at, Size: int64(len(text)), Data: []byte(text[at:min(int(at)+3000, len(text))])})
			}
		})
		calls, err := c.Broker()
		if err != nil {
			t.Fatal(err)
		}
		beside := filepath.Join(c.to, "out", ".data."+sum[:16]+".part")
		if left != "" {
			if err := os.MkdirAll(filepath.Dir(beside), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(beside, []byte(left), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out strings.Builder
		if err := c.fetch(context.Background(), calls, "wave", []string{"out/data"}, &out); err != nil {
			t.Errorf("from %d bytes: %v", len(left), err)
		}
		got, err := os.ReadFile(filepath.Join(c.to, "out", "data"))
		if _, still := os.Stat(beside); err != nil || string(got) != text || still == nil || !slices.Equal(from, want) {
			t.Errorf("from %d bytes: %d bytes by pieces from %v, %v: %s", len(left), len(got), from, err, out.String())
		}
	}
}

// get without a path lists files, and fetches all of them if it is told where to.
func TestGet_AllWhereToIsSaid(t *testing.T) {
	t.Parallel()
	digest := sha256.Sum256([]byte("13"))
	file := contextOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch filepath.Base(r.URL.Path) {
		case "files":
			_ = json.NewEncoder(w).Encode(api.WorkFiles{Found: 1, Files: []api.WorkFile{{Path: "out.txt", Size: 2}}})
		case "digest":
			_ = json.NewEncoder(w).Encode(api.WorkDigest{Path: "out.txt", Size: 2, SHA256: hex.EncodeToString(digest[:])})
		case "file":
			_ = json.NewEncoder(w).Encode(api.JobOutput{Size: 2, Data: []byte("13")})
		default:
			_ = json.NewEncoder(w).Encode(api.Job{ID: "arr[13]", State: "done", Legs: []api.Leg{{}}})
		}
	})
	for _, x := range []struct {
		args    []string
		fetches bool
	}{{nil, false}, {[]string{"--to", ""}, true}, {[]string{"--to", "", "--list"}, false}} {
		folder := t.TempDir()
		for i := range x.args {
			if x.args[i] == "" {
				x.args[i] = folder
			}
		}
		var out strings.Builder
		cmd := newGet()
		cmd.SetOut(&out)
		cmd.SetArgs(append([]string{"arr[13]", "--context", file}, x.args...))
		if err := cmd.Execute(); err != nil {
			t.Fatalf("%q: %v", x.args, err)
		}
		text, _ := os.ReadFile(filepath.Join(folder, "out.txt"))
		if fetches := string(text) == "13"; fetches != x.fetches || !strings.Contains(out.String(), "out.txt") {
			t.Errorf("%q fetches %q: %s", x.args, text, out.String())
		}
	}
}

// A list says that there are more only if there are.
func TestJobs_OnlyTheFirst(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		there int
		says  bool
	}{{2, false}, {3, true}} {
		var c jobsCommand
		c.most = 2
		c.Context = contextOf(t, func(w http.ResponseWriter, r *http.Request) {
			limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
			list := []api.Job{{ID: "c", State: "waiting"}, {ID: "b", State: "waiting"}, {ID: "a", State: "waiting"}}
			_ = json.NewEncoder(w).Encode(api.JobList{Jobs: list[:min(limit, x.there)]})
		})
		server, err := c.Broker()
		if err != nil {
			t.Fatal(err)
		}
		for _, show := range []func(out, messages io.Writer) error{
			func(out, messages io.Writer) error { return c.list(t.Context(), server, out, messages) },
			func(out, messages io.Writer) error {
				return c.showArray(t.Context(), server, &api.Job{ID: "arr"}, out, messages)
			},
		} {
			var out, messages strings.Builder
			if err := show(&out, &messages); err != nil {
				t.Fatal(err)
			}
			if says := strings.Contains(messages.String(), "--most shows more"); says != x.says || strings.Contains(out.String(), "\na ") {
				t.Errorf("of %d: %q\n%s", x.there, messages.String(), out.String())
			}
		}
	}
}
