package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// upReplicas runs a federation until the test ends, and returns what it says and the
// processes by their names there.
func upReplicas(t *testing.T, dir string) (stderr *written, pids map[string]int, stop func() error) {
	t.Helper()
	stdout, stderr, stop := startUp(t, dir)
	var said struct {
		Agents []struct {
			Agent string
			PID   int
		}
	}
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	pids = map[string]int{}
	for _, a := range said.Agents {
		pids[a.Agent] = a.PID
	}
	return stderr, pids, stop
}

// leaderOf is the name of the member that has led last, and how many leaderships there
// have been.
func leaderOf(logs string) (name string, n int) {
	for line := range strings.Lines(logs) {
		if strings.Contains(line, "leads=true") {
			name, _, _ = strings.Cut(line, " ")
			n++
		}
	}
	return name, n
}

// Three processes hold a broker, and the one that leads is killed while jobs come: none
// that was taken is lost, each is placed once, and the journal of a replica is read as a
// broker's. A broker that has run alone is taken over with its jobs.
func TestUp_ABrokerOutlivesItsLeaders(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 2, 0, testPort(3), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	at := filepath.Join(dir, federation.ContextFile)
	var taken []string
	submit := func(name string) time.Duration {
		t.Helper()
		batch := filepath.Join(dir, name+".toml")
		text := fmt.Sprintf("[[job]]\nname = %q\nnodes = 4\nlength = \"1m\"\nmin_performance = 0.5\nmax_price = 9.0\n", name)
		if err := os.WriteFile(batch, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		out, messages, err := runCommand(ctx, "submit", batch, "--context", at)
		if err != nil {
			t.Fatalf("%s: %v\n%s%s", name, err, out, messages)
		}
		taken = append(taken, strings.TrimSpace(out))
		return time.Since(begun)
	}
	_, _, stop := upReplicas(t, dir)
	submit("alone")
	if err := stop(); err != nil {
		t.Fatal(err)
	}

	// Two files more, and what the three have in common in each.
	replicate(t, dir, members[0], 3)
	stderr, pids, stop := upReplicas(t, dir)
	if len(pids) != 5 {
		t.Fatalf("%d processes: %v", len(pids), pids)
	}
	submit("before")
	for k := range 3 {
		name, n := leaderOf(stderr.String())
		pid := pids["broker:"+name]
		child, err := os.FindProcess(pid)
		if err == nil {
			err = child.Kill()
		}
		if err != nil {
			t.Fatalf("%s, process %d: %v", name, pid, err)
		}
		t.Logf("%s killed: the next job is taken after %v", name, submit(fmt.Sprintf("after%d", k)))
		eventually(t, time.Minute, "another leads", func() bool { _, now := leaderOf(stderr.String()); return now > n })
		delete(pids, "broker:"+name)
		eventually(t, time.Minute, "the one that was killed is back", func() bool {
			_, since, _ := strings.Cut(stderr.String(), name+" was killed")
			return regexp.MustCompile(`(?m)^` + name + ` .* INF ready`).MatchString(since)
		})
		if name, _ := leaderOf(stderr.String()); pids["broker:"+name] == 0 {
			break // it has come back under another number
		}
	}
	eventually(t, 2*time.Minute, "all are placed", func() bool {
		out, _, err := runCommand(t.Context(), "jobs", "--json", "--context", at)
		var said struct{ Jobs []struct{ ID, State string } }
		if err != nil || json.Unmarshal([]byte(out), &said) != nil {
			return false
		}
		list := said.Jobs
		placed := 0
		for _, id := range taken {
			for _, j := range list {
				if j.ID == id && (j.State == "placed" || j.State == "running" || j.State == "done") {
					placed++
				}
			}
		}
		return placed == len(taken) && len(list) == len(taken)
	})
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	// Without what the broker alone has left: that is in the replicas' journals.
	if err := os.RemoveAll(filepath.Join(filepath.Dir(members[0].File), "journal", "broker-vo1")); err != nil {
		t.Fatal(err)
	}
	out, _, err := runCommand(t.Context(), "journal", "verify", dir)
	if err != nil || !strings.Contains(out, "replica:vo1/") || !strings.Contains(out, "5 journals") || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("%v\n%s", err, out)
	}
}

// replicate turns the file of a single broker into the files of several replicas that take
// it over.
func replicate(t *testing.T, dir string, m federation.Member, n int) {
	t.Helper()
	text, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	ports := &federation.Ports{Next: testPort(4)}
	if err := ports.Reserve(dir); err != nil {
		t.Fatal(err)
	}
	a, err := ports.Take(4 * n)
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	files := []string{string(text)}
	for k := range n {
		http := m.HTTP
		if k > 0 {
			http = fmt.Sprintf("%s:%d", federation.Host, a[4*k+3])
			other := strings.NewReplacer(m.Listen, fmt.Sprintf("%s:%d", federation.Host, a[4*k+1]), m.HTTP, http).Replace(string(text))
			at := strings.Index(other, "[gossip]\naddress = \"")
			end := strings.Index(other[at:], "\nvo = ")
			gossip := strings.TrimPrefix(other[at:at+end], "[gossip]\naddress = ")
			other = other[:at] + fmt.Sprintf("[gossip]\naddress = \"%s:%d\"\nseeds = [%s]", federation.Host, a[4*k+2], gossip) + other[at+end:]
			files = append(files, other)
		}
		fmt.Fprintf(&list, "[[replica.member]]\nid = %d\naddress = \"%s:%d\"\napi = \"https://%s\"\n", k+1, federation.Host, a[4*k], http)
	}
	for k, text := range files {
		file := m.File
		if k > 0 {
			file = federation.ReplicaFile(dir, federation.VO, k)
		}
		text += fmt.Sprintf("[replica]\nid = %d\npast = 1\naddress = \"%s:%d\"\n%s", k+1, federation.Host, a[4*k], list.String())
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
