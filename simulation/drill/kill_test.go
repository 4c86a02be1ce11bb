//go:build linux

package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// The promise, on processes: agents are killed at random moments of 200
// transactions and started again, some at another address. Nothing that users
// were told is lost, no node is promised twice, no leg stays held past its
// limit.
func TestKill_NothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	for i := range forms(1, 10) {
		t.Run(fmt.Sprintf("seed%d", *seed+i), func(t *testing.T) {
			f := lay(t, plan{broker: "batch_size = 1\n"})
			f.start()
			r := rand.New(rand.NewPCG(*seed+i, 1))
			l := newLoad(f, 200)
			done := l.run(r.Uint64())
			kills := f.kills(r, l, done)
			t.Logf("%d kills: %v", len(kills), kills)
			l.settle()
			f.held(l)
		})
	}
}

// forms is how many forms of a test to run.
func forms(short, many uint64) uint64 {
	if *long {
		return many
	}
	return short
}

// kills kills agents until the load is over, at least eight times.
func (f *federation) kills(r *rand.Rand, l *load, done <-chan struct{}) (whom []string) {
	f.t.Helper()
	for {
		select {
		case <-done:
			if len(whom) >= 8 {
				return whom
			}
		case <-time.After(time.Duration(100+r.IntN(600)) * time.Millisecond):
		}
		select { // in the middle of what a submission sets off
		case <-l.taken:
			time.Sleep(time.Duration(r.IntN(15)) * time.Millisecond)
		case <-time.After(500 * time.Millisecond):
		}
		victims := []*agent{f.broker}
		if r.IntN(5) < 3 {
			victims[0] = f.agents[1+r.IntN(len(f.agents)-1)]
		}
		if other := f.agents[r.IntN(len(f.agents))]; r.IntN(4) == 0 && other != victims[0] {
			victims = append(victims, other)
		}
		for _, a := range victims {
			a.kill()
			name := a.id()
			if r.IntN(3) == 0 {
				a.move()
				name += " (moved)"
			}
			whom = append(whom, name)
		}
		f.write()
		time.Sleep(time.Duration(r.IntN(800)) * time.Millisecond)
		for _, a := range victims {
			a.start()
		}
		for _, a := range victims {
			a.ready()
		}
	}
}

// move gives an agent that does not run another address, which its certificate
// is for.
func (a *agent) move() {
	n := slices.Index(a.f.agents, a) + 1
	now := fmt.Sprintf("%s1%d0", a.f.net, n)
	if a.host == now {
		now = fmt.Sprintf("%s2%d0", a.f.net, n)
	}
	a.host = now
}

// load is users who submit, look and cancel.
type load struct {
	f    *federation
	jobs int
	said *userHistory
	mu   sync.Mutex
	ids  []string // that it has taken

	taken chan struct{} // a batch has just been taken, if anybody listens
}

func newLoad(f *federation, jobs int) *load {
	return &load{f: f, jobs: jobs, said: newUserHistory(), taken: make(chan struct{})}
}

// api calls the broker where it is now.
func (l *load) server() *client.Client {
	c, err := client.Read(l.f.context())
	if err == nil {
		var server *client.Client
		if server, err = c.ToBroker(); err == nil {
			return server
		}
	}
	panic(err)
}

// run has four users at work; the channel is closed when all jobs are asked for.
func (l *load) run(seed uint64) <-chan struct{} {
	done := make(chan struct{})
	var users sync.WaitGroup
	const crew = 4
	for u := range crew {
		users.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(u)))
			for left := l.jobs / crew; left > 0; {
				n := min(left, 1+r.IntN(6))
				left -= n
				l.submit(r, u, n)
				l.see(r)
				if r.IntN(3) == 0 {
					l.cancel(r)
				}
				time.Sleep(time.Duration(r.IntN(600)) * time.Millisecond)
			}
		})
	}
	go func() { users.Wait(); close(done) }()
	return done
}

// submit hands in a batch until the broker has taken it: under one identity, so
// that it is one batch however often it is said.
func (l *load) submit(r *rand.Rand, user, n int) {
	b := api.Batch{ID: client.NewBatchID()}
	for i := range n {
		price := api.Price{Price: 9 * grid.Price(grid.Credit)}
		nodes := 1 + r.IntN(40)
		if r.IntN(3) == 0 {
			nodes = 100 + r.IntN(100) // more than any site has
		}
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprintf("job%d", i), User: fmt.Sprintf("user%d", user), Nodes: nodes,
			Length: api.Seconds{Duration: grid.Duration(1+r.IntN(6)) * grid.Second}, MaxPrice: &price})
	}
	l.hand(b)
}

// hand hands in a batch until the broker has taken it.
func (l *load) hand(b api.Batch) {
	since := l.said.now()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		a, err := l.server().Submit(ctx, b)
		stop()
		if err == nil {
			for _, j := range a.Jobs {
				if !j.Taken {
					l.f.t.Errorf("job %s is not taken: %v", j.ID, j.Reason)
					continue
				}
				l.said.took(since, call{j.ID, "submit"}, "yes")
				l.mu.Lock()
				l.ids = append(l.ids, j.ID)
				l.mu.Unlock()
			}
			select {
			case l.taken <- struct{}{}:
			default:
			}
			return
		}
		if open, _ := lost(err); !open || time.Now().After(end) {
			l.f.t.Errorf("batch %s is not taken: %v", b.ID, err)
			return
		}
	}
}

// any is a job that has been taken.
func (l *load) any(r *rand.Rand) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ids) == 0 {
		return ""
	}
	return l.ids[r.IntN(len(l.ids))]
}

func (l *load) see(r *rand.Rand) {
	id := l.any(r)
	if id == "" {
		return
	}
	since := l.said.now()
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
	defer stop()
	j, err := l.server().Job(ctx, id)
	state := told(j.State)
	if err != nil {
		_, state = lost(err)
	}
	l.said.took(since, call{id, "see"}, state)
}

func (l *load) cancel(r *rand.Rand) {
	id := l.any(r)
	if id == "" {
		return
	}
	since := l.said.now()
	ctx, stop := context.WithTimeout(context.Background(), 3*time.Second)
	defer stop()
	_, err := l.server().Cancel(ctx, id)
	answer := told("yes")
	if err != nil {
		_, answer = lost(err)
	}
	l.said.took(since, call{id, "cancel"}, answer)
}

// settle waits until no job waits or is tried, and takes down what becomes of
// each.
func (l *load) settle() {
	l.f.t.Helper()
	var jobs []api.Job
	waiting := map[string]string{}
	since := l.said.now()
	ok := false
	for end := time.Now().Add(patience); !ok && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		since = l.said.now()
		var err error
		if jobs, err = l.server().Jobs(context.Background(), client.Filter{}); err != nil {
			continue
		}
		clear(waiting)
		for i := range jobs {
			if s := jobs[i].State; s == "waiting" || s == "trying" {
				waiting[jobs[i].ID] = fmt.Sprintf("%s, %v", s, jobs[i].Reason)
			}
		}
		ok = len(waiting) == 0
	}
	if !ok {
		l.f.t.Errorf("%d jobs are not placed after %v: %v", len(waiting), patience, waiting)
	}
	states := map[string]int{}
	known := map[string]bool{}
	for i := range jobs {
		known[jobs[i].ID] = true
		states[jobs[i].State]++
		l.said.took(since, call{jobs[i].ID, "see"}, told(jobs[i].State))
	}
	for id := range l.said.taken {
		if !known[id] {
			l.f.t.Errorf("job %s was taken, and the broker does not know it any more", id)
		}
	}
	l.f.t.Logf("%d jobs: %v", len(jobs), states)
}

// held stops the federation and holds it to its promises: by what users were
// told, by the ledgers' histories and by the journals.
func (f *federation) held(l *load) {
	f.t.Helper()
	eventually(f.t, patience, "no site holds a leg in doubt", func() bool { return f.inDoubt() == 0 })
	f.stop()
	f.judged(l)
}

// judged holds a federation that has stopped to its promises.
func (f *federation) judged(l *load) {
	f.t.Helper()
	if err := l.said.check(); err != nil {
		f.t.Error(err)
	}
	for _, b := range f.holders() {
		h, err := readLegs(b.facts())
		must(f.t, err)
		if err := h.check(); err != nil {
			f.t.Errorf("%s: %v", b.id(), err)
		}
		v := f.verified(f.without(b)...)
		if v.Counts.InFlight > 0 {
			f.t.Errorf("%s: %d legs have not heard of their decision", b.id(), v.Counts.InFlight)
		}
		for _, n := range v.Findings {
			if !n.Note {
				f.t.Errorf("%s %s, fact %d: %s", n.Invariant, n.Agent, n.Number, n.What)
				continue
			}
			for _, a := range f.agents {
				switch {
				case n.Invariant != "I4" || n.Agent != a.id() || a.lives.Load() > 1:
				case pastLimit(f.t, n.What) <= a.lateness(): // by its own word
					f.t.Logf("%s has lived once, and: %s", n.Agent, n.What)
				default:
					f.t.Errorf("%s has lived once, and: %s", n.Agent, n.What)
				}
			}
		}
		f.t.Logf("%s: %d calls of users, %d operations on legs; %+v", b.id(), len(l.said.ops), h.Len(), v.Counts)
	}
}

// pastLimit is for how long a leg was held after its limit, by a note of I4. An alarm rings as
// late as the machine is busy, and no later than its process says (lateness); in virtual time,
// where it rings at its instant, the torture allows no delay.
func pastLimit(t *testing.T, note string) time.Duration {
	t.Helper()
	var held, limit float64
	_, after, _ := strings.Cut(note, " for ")
	if _, err := fmt.Sscanf(after, "%f s, its limit is %f s", &held, &limit); err != nil {
		t.Fatalf("%q: %v", note, err)
	}
	return time.Duration((held - limit) * float64(time.Second)).Round(time.Millisecond)
}

// lateness is by how much an alarm of an agent that has lived once has rung late at most, by its
// log, which does not name what is under a tenth of a second.
func (a *agent) lateness() time.Duration {
	most := 100 * time.Millisecond
	a.life.mu.Lock()
	defer a.life.mu.Unlock()
	for _, line := range a.lines {
		var said struct {
			Agent string
			Late  int64 `json:"late_ms"`
		}
		if strings.Contains(line, `"late_ms"`) && json.Unmarshal([]byte(line), &said) == nil && said.Agent == a.id() {
			most = max(most, time.Duration(said.Late)*time.Millisecond)
		}
	}
	return most
}

// inDoubt counts legs that are held or prepared at sites; -1 if a site cannot
// say.
func (f *federation) inDoubt() int {
	c, err := client.Read(f.context())
	must(f.t, err)
	n := 0
	for name := range c.Sites {
		server, err := c.ToSite(name)
		must(f.t, err)
		list, _, err := server.Reservations(context.Background(), "", 10_000)
		if err != nil {
			return -1
		}
		for i := range list {
			if s := list[i].State; s == "held" || s == "prepared" || s == "asked" {
				n++
			}
		}
	}
	return n
}

// verdict is what bourse journal verify says.
type verdict struct {
	Counts struct {
		Transactions, Committed, Aborted, InFlight, Exempt int
	}
	Broken   int
	Findings []struct {
		Invariant, Agent, What string
		Number                 uint64
		Note                   bool
	}
}

// verified is that of the journals under some folders, or of all.
func (f *federation) verified(folders ...string) (v verdict) {
	f.t.Helper()
	if folders == nil {
		folders = []string{f.dir}
	}
	out, messages, exit := f.bourse(append([]string{"journal", "verify", "--json"}, folders...)...)
	if err := json.Unmarshal([]byte(out), &v); err != nil || exit != 0 && v.Broken == 0 {
		f.t.Fatalf("journal verify: exit %d, %v\n%s%s", exit, err, out, messages)
	}
	return v
}
