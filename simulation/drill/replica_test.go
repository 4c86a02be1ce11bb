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
	"syscall"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// The promise of a broker that several processes hold, on processes: two users submit,
// look and cancel and an operator pays in, all the time, while whoever leads is killed
// again and again; between two kills replicas hang, and are cut off from each other. What
// was acknowledged is never lost, nothing is decided twice, and the replicas end alike.
func TestReplicas_WhatWasAcknowledgedOutlivesItsLeaders(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n", replicas: 3})
	f.start()
	d := &succession{load: newLoad(f, 0), r: rand.New(rand.NewPCG(*seed, 31)), after: map[string][]time.Duration{}}
	stop := d.work()
	n := *kills
	if n == 0 {
		n = int(forms(5, 25))
	}
	for k := range n {
		if k%2 == 1 {
			d.trouble()
		}
		d.succeed()
	}
	stop()
	d.report(n)
	d.alerted()
	d.settle()
	eventually(t, time.Minute, "all jobs are over", d.over)
	d.paidOnce()
	eventually(t, 40*time.Second, "no site holds a leg in doubt", func() bool { return f.inDoubt() == 0 })
	f.stop()
	f.judged(d.load)
	f.alike(d.load)
}

// succession is a drill under way.
type succession struct {
	*load
	r     *rand.Rand
	after map[string][]time.Duration // until the next job was taken, by what had happened

	mu   sync.Mutex
	paid map[string]grid.Credits // in, as the operator was told, by key
}

// work has two users and an operator at work until the function that it returns is called.
func (d *succession) work() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	d.paid = map[string]grid.Credits{}
	var crew sync.WaitGroup
	for u := range 2 {
		crew.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(u)))
			for ctx.Err() == nil {
				d.hand(d.some(r, u, 1+r.IntN(2)))
				d.see(r)
				if r.IntN(4) == 0 {
					d.cancel(r)
				}
				time.Sleep(time.Duration(r.IntN(1200)) * time.Millisecond)
			}
		})
	}
	crew.Go(func() {
		r := rand.New(rand.NewPCG(*seed, 2))
		for ctx.Err() == nil {
			d.deposit(r)
			time.Sleep(time.Duration(200+r.IntN(1500)) * time.Millisecond)
		}
	})
	return func() { cancel(); crew.Wait() }
}

// some is a batch of a user, small enough that what comes in is run.
func (d *succession) some(r *rand.Rand, user, n int) api.Batch {
	b := api.Batch{ID: client.NewBatchID()}
	for i := range n {
		price := api.Price{Price: 9 * grid.Price(grid.Credit)}
		nodes := 1 + r.IntN(12)
		if r.IntN(12) == 0 {
			nodes = 100 + r.IntN(60) // more than any site has
		}
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprintf("job%d", i), User: fmt.Sprintf("user%d", user), Nodes: nodes,
			Length: api.Seconds{Duration: grid.Duration(1+r.IntN(3)) * grid.Second}, MaxPrice: &price})
	}
	return b
}

// deposit pays in until that is acknowledged, under one key.
func (d *succession) deposit(r *rand.Rand) {
	w := api.Deposit{Key: client.NewDepositKey(), Credits: api.Credits{Credits: grid.Credits(1+r.IntN(9)) * grid.Credit}}
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		_, err := d.server().Deposit(ctx, w)
		stop()
		if err == nil {
			d.mu.Lock()
			d.paid[w.Key] = w.Credits.Credits
			d.mu.Unlock()
			return
		}
		if open, _ := lost(err); !open || time.Now().After(end) {
			d.f.t.Errorf("deposit %s is not taken: %v", w.Key, err)
			return
		}
	}
}

// succeed kills the one that leads and notes how long it takes until a job is taken that
// is handed in then. The other two are up, and the one that was killed is again when it
// returns.
func (d *succession) succeed() {
	leader := d.united()
	select { // in the middle of what a submission sets off
	case <-d.taken:
		time.Sleep(time.Duration(d.r.IntN(15)) * time.Millisecond)
	case <-time.After(time.Duration(d.r.IntN(800)) * time.Millisecond):
	}
	begun := time.Now()
	leader.kill()
	d.next("a kill", leader, begun)
	time.Sleep(time.Duration(d.r.IntN(500)) * time.Millisecond)
	leader.start()
	leader.ready()
}

// next hands in a job and notes how long after what has happened to a replica it is taken.
func (d *succession) next(what string, one *agent, since time.Time) {
	d.hand(d.some(d.r, d.r.IntN(2), 1))
	took := time.Since(since)
	d.after[what] = append(d.after[what], took)
	d.f.t.Logf("%s %s of %s, the next job is taken after %v", since.UTC().Format("15:04:05.000"), what, one.id(), took.Round(time.Millisecond))
}

// trouble has a replica hang for a while, or cuts one off from the others: altogether, or
// in one direction. Mostly it is the one that leads.
func (d *succession) trouble() {
	leader := d.united()
	one := leader
	if d.r.IntN(3) == 0 {
		one = d.f.replicas[d.r.IntN(len(d.f.replicas))]
	}
	lasts := time.Duration(200+d.r.IntN(2500)) * time.Millisecond
	kind := d.r.IntN(4)
	what := []string{"a hang", "a cut", "a cut on the way out", "a cut on the way in"}[kind]
	if one != leader {
		what = "where it follows, " + what
	}
	begun := time.Now()
	if kind == 0 {
		one.signal(syscall.SIGSTOP)
	} else {
		d.cut(one, kind, true)
	}
	d.next(what, one, begun)
	time.Sleep(time.Until(begun.Add(lasts)))
	if kind == 0 {
		one.signal(syscall.SIGCONT)
	} else {
		d.cut(one, kind, false)
	}
}

// cut cuts a replica off from the others, or mends that: 1 altogether, 2 what it sends, 3
// what it hears.
func (d *succession) cut(one *agent, which int, cut bool) {
	for _, p := range d.f.passages {
		for _, from := range d.f.replicas {
			if from != p.to && (from == one && which != 3 || p.to == one && which != 2) {
				p.set(from, cut)
			}
		}
	}
}

// leadership is what a replica has said last of who leads, in this life.
func (a *agent) leadership() (said struct {
	Leads  bool
	Term   uint64
	Leader string
}) {
	a.life.mu.Lock()
	defer a.life.mu.Unlock()
	for _, line := range slices.Backward(a.lines) {
		if strings.Contains(line, `"message":"leadership"`) {
			_ = json.Unmarshal([]byte(line), &said)
			break
		}
	}
	return said
}

// united waits until all replicas name the same leader, and returns it.
func (d *succession) united() (leader *agent) {
	d.f.t.Helper()
	eventually(d.f.t, time.Minute, "the replicas name one leader", func() bool {
		leader = nil
		name := d.f.replicas[0].leadership().Leader
		for _, a := range d.f.replicas {
			said := a.leadership()
			if said.Leader != name || said.Leads != (a.id() == name) {
				return false
			}
			if said.Leads {
				leader = a
			}
		}
		return leader != nil
	})
	return leader
}

// alerted has first one, then two of three replicas gone, reads the alerts, and types what the
// card of docs/RUNBOOK.md says.
func (d *succession) alerted() {
	leader := d.united()
	var others []*agent
	for _, a := range d.f.replicas {
		if a != leader {
			others = append(others, a)
		}
	}
	w := newWalk(d.f)
	card := w.cards["Replica lost"][0]
	others[0].kill()
	d.f.holds("BourseReplicaGone", leader)
	if said := w.types("Replica lost", card[0]); strings.Count(said, "  no  ") != 1 {
		d.f.t.Errorf("%s, and one of three is gone:\n%s", card[0], said)
	}
	if d.f.alert("BourseNobodyLeads", leader) {
		d.f.t.Error("somebody leads, and nobody is said to")
	}
	leader.kill()
	d.f.holds("BourseNobodyLeads", others[1])
	if said, exit := w.tries(card[0]); exit != 1 || strings.Count(said, "  no  ") != 2 {
		d.f.t.Errorf("%s, and two of three are gone: exit %d\n%s", card[0], exit, said)
	}
	for _, a := range []*agent{leader, others[0]} { // each at its machine
		w.services["bourse-broker"] = a
		for _, line := range card[1:] {
			w.types("Replica lost", line)
		}
	}
	leader = d.united()
	eventually(d.f.t, patience, "all are heard", func() bool { return !d.f.alert("BourseReplicaGone", leader) })
}

// report says how long jobs had to wait, and holds a long drill to its bounds.
func (d *succession) report(n int) {
	for what, took := range d.after {
		d.f.t.Logf("until the next job is taken after %s: %s, longest %v, of %d", what, quantiles(took), took[len(took)-1].Round(time.Millisecond), len(took))
	}
	lives := 0
	for _, a := range d.f.replicas {
		lives += int(a.lives.Load())
	}
	if lives != n+len(d.f.replicas) {
		d.f.t.Errorf("%d lives of replicas with %d kills", lives, n)
	}
	if took := d.after["a kill"]; *kills > 0 && (took[len(took)/2] > 2*time.Second || took[len(took)-1] > 5*time.Second) {
		d.f.t.Errorf("a killed leader's successor takes the next job after %s, %v at most; must be 2 s in the median and 5 s at most", quantiles(took), took[len(took)-1])
	}
}

// over reports whether no job has anything before it.
func (d *succession) over() bool {
	jobs, err := d.server().Jobs(context.Background(), client.Filter{})
	return err == nil && !slices.ContainsFunc(jobs, func(j api.Job) bool { return windowed(j.State) || j.State == "waiting" || j.State == "trying" })
}

// paidOnce checks that each deposit counts once, and that the broker has spent what sites
// have been paid.
func (d *succession) paidOnce() {
	c, err := client.Read(d.f.context())
	must(d.f.t, err)
	sum := 1_000_000_000 * grid.Credit
	for _, x := range d.paid {
		sum += x
	}
	var spent, paid grid.Credits
	eventually(d.f.t, patience, "the broker and its sites agree on what was paid", func() bool {
		a, err := d.server().Accounts(context.Background())
		must(d.f.t, err)
		if a.Money.Budget.Credits != sum {
			d.f.t.Fatalf("%d deposits were acknowledged, and all that is paid in is %v, not %v", len(d.paid), a.Money.Budget, sum)
		}
		spent, paid = a.Money.Spent.Credits, 0
		for name := range c.Sites {
			server, err := c.ToSite(name)
			must(d.f.t, err)
			s, err := server.Site(context.Background())
			must(d.f.t, err)
			for _, b := range s.Brokers {
				paid += b.Paid.Credits
			}
		}
		return spent == paid && a.Money.Pending.Credits == 0
	})
	d.f.t.Logf("%d deposits, %v spent, %v paid to sites", len(d.paid), spent, paid)
}
