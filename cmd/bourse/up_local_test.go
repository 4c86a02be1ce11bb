package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// running is a federation of local clusters under test.
type running struct {
	*testing.T
	dir    string
	pids   map[string]int // by agent
	stderr *written
}

// runUp starts a federation in which work really runs. What it has started is killed
// at the end: work goes on when a site stops. The files of its members are changed
// before.
func runUp(t *testing.T, sites, port int, changes func(members []federation.Member)) *running {
	t.Helper()
	r := &running{T: t, dir: t.TempDir(), pids: map[string]int{}}
	members, err := federation.LayOut(r.dir, sites, 0, port, federation.Local)
	if err != nil {
		t.Fatal(err)
	}
	change(t, members[0].File, `cycle = "5s"`, `cycle = "1s"`)
	changes(members)
	t.Cleanup(func() { // after the federation has stopped
		claims, _ := filepath.Glob(filepath.Join(r.dir, "*", "work", "*", "claim.json"))
		for _, name := range claims {
			var c struct{ Process struct{ PID int } }
			line, _ := os.ReadFile(name)
			if json.Unmarshal(line, &c) != nil || c.Process.PID == 0 {
				continue
			}
			line, _ = os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", c.Process.PID))
			if strings.Contains(string(line), filepath.Dir(name)) {
				_ = syscall.Kill(c.Process.PID, syscall.SIGKILL)
			}
		}
	})
	var said struct {
		Agents []struct {
			Agent string
			PID   int
		}
	}
	stdout, stderr, _ := startUp(t, r.dir)
	if err := json.Unmarshal([]byte(stdout.String()), &said); err != nil {
		t.Fatal(err)
	}
	for _, a := range said.Agents {
		r.pids[a.Agent] = a.PID
	}
	r.stderr = stderr
	return r
}

// bourse runs a user's command, which must succeed.
func (r *running) bourse(args ...string) string {
	r.Helper()
	out, messages, err := runCommand(r.Context(), append(args, "--context", filepath.Join(r.dir, federation.ContextFile))...)
	if err != nil {
		r.Fatalf("%q: %v\n%s%s", args, err, out, messages)
	}
	return out
}

// submit submits a batch and returns when its jobs are placed.
func (r *running) submit(batch string) {
	r.Helper()
	file := filepath.Join(r.dir, "batch.toml")
	if err := os.WriteFile(file, []byte(batch), 0o600); err != nil {
		r.Fatal(err)
	}
	if out := r.bourse("submit", file, "--wait"); strings.Contains(out, "abandoned") {
		r.Fatal(out)
	}
}

// jobShown is what is shown of a job.
type jobShown struct {
	State string
	Legs  []struct {
		Site, State string
		Part        string
		Start       time.Time
		Exit        *int
		Cost        float64
	}
}

func (r *running) job(name string) (j jobShown) {
	r.Helper()
	if err := json.Unmarshal([]byte(r.bourse("jobs", name, "--json")), &j); err != nil {
		r.Fatal(err)
	}
	return j
}

// logs is what the work of a leg has printed as yet, "" if it has not begun.
func (r *running) logs(job string, leg int) string {
	out, _, _ := runCommand(r.Context(), "logs", job, "--leg", strconv.Itoa(leg), "--context", filepath.Join(r.dir, federation.ContextFile))
	return out
}

// begun waits until a leg has printed a line with a time, in seconds, and returns it.
func (r *running) begun(job string, leg int) (at float64) {
	r.Helper()
	line := regexp.MustCompile(`(?m)^begun ([0-9.]+)$`)
	eventually(r.T, 2*time.Minute, "begun", func() bool {
		m := line.FindStringSubmatch(r.logs(job, leg))
		if m == nil {
			return false
		}
		var err error
		at, err = strconv.ParseFloat(m[1], 64)
		return err == nil
	})
	return at
}

// meet has the two legs of a job tell each other where they are.
func (r *running) meet(job string) {
	r.Helper()
	address := regexp.MustCompile(`(?m)^meet (\S+)$`)
	all := make(chan string, 2)
	for leg := range 2 {
		var found []string
		eventually(r.T, 2*time.Minute, "told of a rendezvous", func() bool { // its next line after begun
			found = address.FindStringSubmatch(r.logs(job, leg))
			return found != nil
		})
		go func() {
			answer, err := http.Post(fmt.Sprintf("%s?leg=%d&legs=2&wait=60s", found[1], leg), "text/plain", strings.NewReader(fmt.Sprint("host", leg)))
			if err != nil {
				all <- err.Error()
				return
			}
			defer func() { _ = answer.Body.Close() }()
			text, _ := io.ReadAll(answer.Body)
			all <- fmt.Sprintf("%d %s", answer.StatusCode, text)
		}()
	}
	for range 2 {
		if got := <-all; got != "200 0 host0\n1 host1\n" {
			r.Errorf("the rendezvous answers %q", got)
		}
	}
}

// A job over two sites begins on both at once, with its environment; its output and its
// status come back. Killing a site's process while work runs there changes nothing.
func TestUp_WorkRunsOnAllItsSitesAtOnceAndOutlivesAKill(t *testing.T) {
	thorough.Only(t, "starts processes")
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs Linux")
	}
	t.Parallel()
	r := runUp(t, 2, testPort(6), func([]federation.Member) {})
	const size = "nodes = 160\nlength = \"4m\"\nmin_performance = 0.5\nmax_price = 9.0\n" // more than either site has
	r.submit("[[job]]\nname = \"both\"\n" + size + `command = ["sh", "-c", '''
echo begun $(date +%s.%N); echo meet http://$BOURSE_RENDEZVOUS/v1/rendezvous/$BOURSE_TOKEN; echo $BOURSE_JOB leg $BOURSE_LEG of $BOURSE_LEGS at $BOURSE_SITE with $COLOUR
n=0; until [ -e go ] || [ $n -gt 4000 ]; do sleep 0.05; n=$((n+1)); done; echo went; exit $((3 + BOURSE_LEG))''']
env = { COLOUR = "blue" }
rendezvous = true
`)
	first, second := r.begun("both", 0), r.begun("both", 1)
	apart := max(first-second, second-first)
	r.meet("both")
	site := r.job("both").Legs[0].Site
	if err := syscall.Kill(r.pids["site:"+site], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 2*time.Minute, "started again", func() bool { return strings.Count(r.stderr.String(), " INF ready") == 4 })
	homes, _ := filepath.Glob(filepath.Join(r.dir, "site-*", "work", "bourse.*", "home"))
	if len(homes) != 2 {
		t.Fatalf("folders of work: %q", homes)
	}
	for _, home := range homes {
		if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, 2*time.Minute, "failed", func() bool { return r.job("both").State == "failed" }) // by its exit status
	for i, l := range r.job("both").Legs {
		if l.State != "settled" || l.Exit == nil || *l.Exit != 3+i {
			t.Errorf("leg %d: %+v", i, l)
		}
		want := fmt.Sprintf("leg %d of 2 at %s with blue\nwent\n", i, l.Site)
		if out := r.logs("both", i); !strings.HasSuffix(out, want) || strings.Count(out, "begun") != 1 {
			t.Errorf("leg %d printed\n%s\nwant at its end\n%s", i, out, want)
		}
	}
	for n := range 3 { // a busy machine may be late once
		if apart <= 1 {
			break
		}
		name := fmt.Sprintf("again%d", n)
		r.submit(fmt.Sprintf("[[job]]\nname = %q\n", name) + size + `command = ["sh", "-c", "echo begun $(date +%s.%N)"]` + "\n")
		first, second = r.begun(name, 0), r.begun(name, 1)
		apart = max(first-second, second-first)
	}
	if apart > 1 {
		t.Errorf("the legs of no job of four began within a second, of the last %.3f s apart", apart)
	}
	r.oneLine()
	r.parts()
}

// parts is the job of unlike parts that the README shows.
func (r *running) parts() {
	r.Helper()
	text, err := os.ReadFile("../../docs/examples/hybrid.toml")
	if err != nil {
		r.Fatal(err)
	}
	file := filepath.Join(r.dir, "hybrid.toml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), `"east"`, `"south"`, 1)), 0o600); err != nil {
		r.Fatal(err)
	}
	r.bourse("submit", file, "--wait=done")
	if out := r.bourse("logs", "hybrid", "--part", "qpu"); out != "part qpu of qpu gpu\n" {
		r.Errorf("part qpu printed %q", out)
	}
	if out := r.bourse("logs", "hybrid", "--part", "gpu"); out != "part gpu on 16 nodes\n" {
		r.Errorf("part gpu printed %q", out)
	}
	legs := r.job("hybrid").Legs
	if len(legs) != 2 || legs[0].Part != "qpu" || legs[0].Site != "south" || legs[1].Site != "north" || legs[0].Start.Sub(legs[1].Start) != 5*time.Second {
		r.Errorf("its legs: %+v", legs)
	}
}

// oneLine is a user's first day: a dry run, a command on one line, its output, the length of the
// next one, and many jobs cancelled at once.
func (r *running) oneLine() {
	r.Helper()
	at := []string{"submit", "--context", filepath.Join(r.dir, federation.ContextFile)}
	submit := func(want string, args ...string) {
		r.Helper()
		out, messages, err := runCommand(r.Context(), append(at[:3:3], args...)...)
		if said := fmt.Sprint(out, messages, err); !strings.Contains(said, want) {
			r.Errorf("submit %q: %q is missing in\n%s", args, want, said)
		}
	}
	submit("Nothing is held.", "--dry-run", "--name", "one", "--length", "20s", "--", "echo", "one line")
	submit("one without a price: at most ", "--name", "one", "--length", "20s", "--wait=done", "--", "echo", "one line")
	if out := r.logs("one", 0); out != "one line\n" {
		r.Errorf("it printed %q", out)
	}
	submit(`Your last jobs "one" ran for `, "--name", "one", "--", "echo", "one line")
	submit("1 of 1 job failed", "--name", "bad", "--length", "20s", "--wait=done", "--", "false")
	for _, name := range []string{"later", "latest"} {
		submit("placed", "--name", name, "--length", "20s", "--ready", "1h", "--wait", "--", "true")
	}
	if out := r.bourse("cancel", "--state", "placed", "--mine"); !strings.Contains(out, "later-") || !strings.Contains(out, "latest-") || r.job("later").State != "withdrawn" {
		r.Errorf("cancelled %s", out)
	}
}

// A user whom a site gives no account is refused there before any money moves, in words
// that say what its operator can do; no work of the job runs at the other site either.
func TestUp_AUserWithoutAnAccountIsRefusedBeforeMoneyMoves(t *testing.T) {
	thorough.Only(t, "starts processes")
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs Linux")
	}
	t.Parallel()
	r := runUp(t, 2, testPort(18), func(members []federation.Member) { change(t, members[1].File, `user = "*"`, `user = "somebody"`) })
	file := filepath.Join(r.dir, "batch.toml")
	batch := "[[job]]\nname = \"both\"\nnodes = 160\nlength = \"4m\"\nmin_performance = 0.5\nmax_price = 9.0\ncommand = [\"true\"]\n"
	if err := os.WriteFile(file, []byte(batch), 0o600); err != nil {
		t.Fatal(err)
	}
	r.bourse("submit", file)
	want := regexp.MustCompile(`no local account is given for user "[^"]+" at ` + "north" + `; its operator can add one: \[\[account\]\] user = "[^"]+", as = an account there`)
	eventually(t, 2*time.Minute, "refused", func() bool { return want.MatchString(strings.Join(strings.Fields(r.bourse("explain", "both")), " ")) })
	decided, _, err := runCommand(t.Context(), "journal", "show", filepath.Join(r.dir, "broker-vo1"), "--last", "40")
	if err != nil || !strings.Contains(decided, "ABORT") || strings.Contains(decided, "COMMIT") || strings.Contains(decided, "confirmed") {
		t.Errorf("%v: money has moved:\n%s", err, decided)
	}
	eventually(t, time.Minute, "given back", func() bool {
		var a struct {
			Money struct{ Spent, Pending float64 }
		}
		if out := r.bourse("accounts", "--json"); json.Unmarshal([]byte(out), &a) != nil || a.Money.Spent != 0 {
			t.Fatalf("%s", out)
		}
		return a.Money.Pending == 0
	})
	if works, _ := filepath.Glob(filepath.Join(r.dir, "site-*", "work", "bourse.*")); len(works) > 0 {
		t.Errorf("work was handed over: %q", works)
	}
}
