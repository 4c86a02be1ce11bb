//go:build linux

package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// A machine's clock cannot be set wrong for one process. So these tests build a
// bourse of which one file is another: its wall clock is ahead by what a file
// says. The product has nothing of it.

// clockVariable names that file.
const clockVariable = "BOURSE_DRILL_CLOCK"

const wrongWall = `package process

import (
	"os"
	"strings"
	"sync"
	"time"
)

var ahead struct {
	sync.Mutex
	read time.Time
	by   time.Duration
}

// WallClock is a clock that is wrong by what a file says.
func WallClock() time.Time {
	ahead.Lock()
	defer ahead.Unlock()
	if time.Since(ahead.read) > 20*time.Millisecond {
		text, _ := os.ReadFile(os.Getenv("` + clockVariable + `"))
		ahead.by, _ = time.ParseDuration(strings.TrimSpace(string(text)))
		ahead.read = time.Now()
	}
	return time.Now().Add(ahead.by)
}
`

var wrongBuild struct {
	sync.Once
	program string
	err     error
}

// wrongClocked is that bourse.
func wrongClocked(t *testing.T) string {
	t.Helper()
	thorough.Only(t, "starts processes")
	if *built != "" {
		t.Skip("a clock can be set wrong only in a bourse that is built from here")
	}
	w := &wrongBuild
	w.Do(func() {
		dir := filepath.Dir(binary)
		w.program = filepath.Join(dir, "bourse-wrong-clock")
		wall, err := filepath.Abs("../../process/wall.go")
		if err != nil {
			w.err = err
			return
		}
		overlay, _ := json.Marshal(map[string]any{"Replace": map[string]string{wall: filepath.Join(dir, "wall.go")}})
		for name, text := range map[string]string{"wall.go": wrongWall, "overlay.json": string(overlay)} {
			if w.err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); w.err != nil {
				return
			}
		}
		if out, err := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", w.program, "github.com/bourse-grid/bourse/cmd/bourse").CombinedOutput(); err != nil {
			w.err = fmt.Errorf("%w: %s", err, out)
		}
	})
	must(t, w.err)
	return w.program
}

// ahead has the agent's machine be ahead from now on.
func (a *agent) ahead(by time.Duration) {
	a.f.t.Helper()
	a.clock = filepath.Join(a.dir, "clock")
	must(a.f.t, os.WriteFile(a.clock+".new", []byte(by.String()), 0o600))
	must(a.f.t, os.Rename(a.clock+".new", a.clock))
}

// later places a job of nodes of every site that starts in an hour.
func (f *federation) later(name string) api.Job {
	f.t.Helper()
	price := api.Price{Price: 20 * grid.Price(grid.Credit)}
	slow := api.Performance{Performance: grid.Unit / 2}
	a, err := f.client().Submit(context.Background(), api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{
		{Name: name, Nodes: 200, Length: api.Seconds{Duration: 10 * grid.Minute}, Ready: api.Write(api.Moment{After: grid.Hour}), MaxPrice: &price, MinPerformance: &slow}}})
	must(f.t, err)
	var j api.Job
	eventually(f.t, patience, "the job is placed, and every leg confirmed", func() bool {
		j, err = f.client().Job(context.Background(), a.Jobs[0].ID)
		return err == nil && j.State == "placed" && strings.Count(f.shown(f.site("north"), "leg-moved"), `"state":"confirmed"`) > 0
	})
	return j
}

// asks returns how the API of an agent answers an operator.
func (f *federation) asks(a *agent) func(path string) (status int, text string) {
	f.t.Helper()
	ca := filepath.Join(f.dir, "ca")
	store, err := certificate.Load(certificate.Files{Authority: filepath.Join(ca, "ca.pem"), Certificate: filepath.Join(ca, "operator-olga.pem"),
		Key: filepath.Join(ca, "operator-olga.key")}, certificate.Options{})
	must(f.t, err)
	c := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: store.Client(certificate.Want{Role: certificate.Role(a.role), Host: a.host})}}
	return a.gets(c)
}

// gets reads paths of an agent's API as a client does: status 0 where there is no answer.
func (a *agent) gets(c *http.Client) func(path string) (status int, text string) {
	return func(path string) (int, string) {
		r, err := c.Get(a.api() + path)
		if err != nil {
			return 0, err.Error()
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		return r.StatusCode, string(text)
	}
}

// docs/FAILURES.md: a site whose machine is two hours ahead when it starts again
// asks its broker first, waits, says why, and has done nothing by that clock; it
// goes on by itself once the clock is right.
func TestClock_ASiteThatStartsTwoHoursAheadWaits(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	early := f.later("early")
	north := f.site("north")
	north.kill()
	north.ahead(2 * time.Hour)
	north.start()
	eventually(t, patience, "north says why it waits", func() bool {
		return north.said("the agents wait", "that of broker:vo1 is 2h0m0s behind it")
	})
	f.holds("BourseWaits", north)
	server := f.asks(north)
	if status, text := server("/readyz"); status != 503 || !strings.Contains(text, "broker:vo1 is 2h0m0s behind it") {
		t.Errorf("readyz says %d %s", status, text)
	}
	if status, text := server("/healthz"); status != 200 {
		t.Errorf("healthz says %d %s: whoever watches the process would start it again", status, text)
	}
	if moves := f.shown(north, "leg-moved"); strings.Contains(moves, `"state":"running"`) || strings.Contains(moves, `"state":"settled"`) {
		t.Errorf("it has started or settled a leg an hour before its time:\n%s", moves)
	}
	w := newWalk(f)
	w.played = map[string]func(){"tracking": func() {}, "makestep": func() { north.ahead(0) }}
	w.typedOf("Clock wrong", 0)
	north.ready()
	eventually(t, patience, "readyz is well", func() bool { status, _ := server("/readyz"); return status == 200 })
	f.place("after", 100, grid.Second, 60*time.Second)
	if j, err := f.client().Job(context.Background(), early.ID); err != nil || j.State != "placed" || *j.Cost != *early.Cost || len(j.Legs) != len(early.Legs) {
		t.Errorf("the job of before is %+v, %v", j, err)
	}
	if f.alert("BourseWaits", north) || f.alert("BourseClockAhead", north) {
		t.Error("its clock is right, and is called wrong")
	}
	north.ahead(-time.Minute) // set back while it runs
	f.holds("BourseClockAhead", north)
	w.typedOf("Clock wrong", 0)
	eventually(t, patience, "its clock is right", func() bool { return !f.alert("BourseClockAhead", north) })
	if out, exit := w.tries("bourse sites"); exit != 0 || !strings.Contains(out, "usable") || strings.Contains(out, "skewed") {
		t.Errorf("its clock is right: exit %d\n%s", exit, out)
	}
	f.stop()
	f.verify()
}

// docs/FAILURES.md: a site that starts two hours ahead while nobody can contradict its clock
// does not lose what it has sold: it waits, says what is at stake and what the operator can
// do, and goes on by itself once somebody agrees with its clock.
func TestClock_ASiteThatStartsCutOffKeepsWhatItHasSold(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n", sites: []sitePlan{{"north", 64, "[clock]\nwait = \"1s\"\n"}, {"south", 96, ""}, {"east", 48, ""}}})
	f.start()
	early := f.later("early")
	for _, a := range f.agents {
		a.kill()
	}
	north := f.site("north")
	north.ahead(2 * time.Hour)
	north.start()
	eventually(t, patience, "north says what is at stake", func() bool {
		return north.said("the agents wait", "1 window passed since the journal", "wait = ")
	})
	if moves := f.shown(north, "leg-moved"); strings.Contains(moves, `"state":"running"`) || strings.Contains(moves, `"state":"lost"`) {
		t.Errorf("it has acted by that clock:\n%s", moves)
	}
	north.ahead(0)
	for _, a := range f.agents {
		if a != north {
			a.start()
		}
	}
	for _, a := range f.agents {
		a.ready()
	}
	f.place("after", 100, grid.Second, 60*time.Second)
	if j, err := f.client().Job(context.Background(), early.ID); err != nil || j.State != "placed" || *j.Cost != *early.Cost || len(j.Legs) != len(early.Legs) {
		t.Errorf("the job of before is %+v, %v", j, err)
	}
	f.stop()
	f.verify()
}

// docs/OPERATING.md: a site that started while nobody could contradict its clock
// has settled a leg an hour before its time. Under the right clock it waits and
// names the remedy; rebase says what it has done; its broker pays nothing for it.
func TestClock_AJournalOfAWrongClockIsBroughtBack(t *testing.T) {
	t.Parallel()
	hasty := "hold = \"8s\"\nin_doubt = \"12s\"\n[clock]\nwait = \"1s\"\nalone = \"1s\"\n"
	f := lay(t, plan{broker: "batch_size = 1\n", sites: []sitePlan{{"north", 64, hasty}, {"south", 96, hasty}, {"east", 48, hasty}}})
	f.start()
	early := f.later("early")
	for _, a := range f.agents {
		a.kill()
	}
	north := f.site("north")
	north.ahead(2 * time.Hour)
	north.start()
	north.ready() // nobody else is there
	eventually(t, patience, "it settles the leg", func() bool { return strings.Contains(f.shown(north, "leg-moved"), `"state":"settled"`) })
	north.kill()
	north.ahead(0)
	for _, a := range f.agents {
		a.start()
	}
	for _, a := range f.agents {
		if a != north {
			a.ready()
		}
	}
	eventually(t, patience, "north names the remedy", func() bool {
		return north.said("the agents wait", "broker:vo1 agrees with this clock", "bourse journal rebase")
	})
	if out, messages, exit := f.bourse("journal", "rebase", "--apply", north.journal()); exit != 1 || !strings.Contains(messages, "stop the process first") {
		t.Errorf("a rebase under a process that runs: exit %d\n%s%s", exit, out, messages)
	}
	rebased := 0
	for i, out := range newWalk(f).typedOf("Clock wrong", 1) {
		if strings.Contains(out, "of job "+early.ID) || strings.Contains(out, "before its window began; it stays so") {
			rebased++
		} else if out != "" {
			t.Errorf("line %d of the card: %s", i+1, out)
		}
	}
	if rebased != 2 {
		t.Errorf("%d lines of the card tell of the leg that is settled, want 2", rebased)
	}
	eventually(t, 90*time.Second, "the broker takes the leg for lost", func() bool {
		return strings.Contains(f.shown(f.broker, "leg-done"), `"code":"early"`)
	})
	f.place("after", 100, grid.Second, 60*time.Second)
	f.stop()
	if out, _, exit := f.bourse("journal", "verify", f.dir); exit != 1 || !strings.Contains(out, "is settled") || !strings.Contains(out, "I9") {
		t.Errorf("verify does not report the leg: exit %d\n%s", exit, out)
	}
}
