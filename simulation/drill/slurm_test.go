//go:build linux

package drill

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

var (
	count  = flag.Int("drill.count", 10, "co-allocations over real Slurm clusters")
	parts  = flag.Int("drill.parts", 40, "percent of the jobs that have two to four unlike parts")
	calm   = flag.Duration("drill.calm", 18*time.Second, "the mean time that a cluster is left alone between two misfortunes")
	within = flag.Duration("drill.within", time.Hour, "no more of them are begun after so long")
)

// Co-allocations over three real Slurm clusters, while controllers, daemons of nodes,
// sites and the broker are killed, nodes are drained, and an administrator deletes and
// moves reservations and cancels jobs. A checker that reads what the managers show and
// what work has written holds it all to docs/SLURM.md.
func TestSlurmDrill_EveryWindowRunsOnceOrIsLostWithItsReason(t *testing.T) {
	if os.Getenv("BOURSE_SLURM") != "1" || os.Geteuid() != 0 {
		t.Skip("needs a real Slurm and root: install slurmctld, slurmd, slurm-client and munge, and set BOURSE_SLURM=1")
	}
	lanes := min(mostLanes, *count)
	s := startSlurms(t, lanes)
	f := lay(t, plan{sites: []sitePlan{}})
	f.broker.keys = strings.Replace(f.broker.keys, `lead = "10s"`, `lead = "20s"`, 1)
	for c := 1; c <= 3; c++ {
		keys := fmt.Sprintf("name = %q\npolicy = \"easy\"\nlead = \"5s\"\n", siteOf(c))
		for lane := 1; lane <= lanes; lane++ {
			keys += fmt.Sprintf("[[group]]\nname = \"batch-2c-100m-lane%d\"\nnodes = %d\nprice = 1.0\n", lane, perLane)
		}
		keys += fmt.Sprintf("[cluster]\nkind = \"slurm\"\nconf = %q\npartition = \"batch\"\nholder = \"mail\"\nfolder = %q\n", s.conf(c), s.file("work-"+siteOf(c)))
		for user, as := range map[string]string{"ana": "games", "ben": "uucp", "cleo": "lp"} {
			keys += fmt.Sprintf("[[account]]\nuser = %q\nas = %q\n", user, as)
		}
		f.add("site", siteOf(c), lanes*perLane, keys)
	}
	f.write()
	f.start()
	d := &slurmDrill{T: t, s: s, f: f, begun: time.Now(), states: map[string]string{}}
	d.run(*count)
	d.judge()
}

// slurmDrill is such a drill.
type slurmDrill struct {
	*testing.T
	s *slurms
	f *federation

	mu    sync.Mutex
	begun time.Time

	states map[string]string // of the jobs, by identity
	next   int
}

// run has all jobs run, with a user at work in each lane.
func (d *slurmDrill) run(count int) {
	over := make(chan struct{})
	var users, others sync.WaitGroup
	for lane := 1; lane <= d.s.lanes; lane++ {
		users.Go(func() { d.user(lane, count) })
	}
	others.Go(func() { d.stranger(over) })
	for c := 1; c <= 3; c++ {
		others.Go(func() {
			r := rand.New(rand.NewPCG(*seed, uint64(100+c)))
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				case <-time.After(4 * time.Second):
				}
				_ = d.s.look(c)
				if n%2 == 0 {
					d.s.others(r, c)
				}
			}
		})
		others.Go(func() { d.misfortunes(c, over) })
	}
	others.Go(func() { d.restarts(over) })
	stop := make(chan struct{})
	go func() { // the misfortunes end with the load, the looks when all is gone
		users.Wait()
		close(stop)
	}()
	for begun := time.Now(); ; {
		select {
		case <-stop:
			close(over)
			others.Wait()
			d.Logf("%d jobs are over after %v", count, time.Since(begun).Round(time.Second))
			return
		case <-time.After(30 * time.Second):
			d.mu.Lock()
			n := map[string]int{}
			for _, s := range d.states {
				n[s]++
			}
			d.mu.Unlock()
			d.s.mu.Lock()
			fmt.Fprintf(os.Stderr, "%v: %v; %v\n", time.Since(begun).Round(time.Second), n, d.s.hands)
			d.s.mu.Unlock()
		}
	}
}

// user submits one job after the other, each for nodes of two or three clusters.
func (d *slurmDrill) user(lane, count int) {
	r := rand.New(rand.NewPCG(*seed, uint64(lane)))
	for {
		d.mu.Lock()
		n := d.next
		d.next++
		d.mu.Unlock()
		if n >= count || time.Since(d.begun) > *within {
			return
		}
		d.job(r, n, lane)
		time.Sleep(time.Duration(10+r.IntN(8)) * time.Second) // until its nodes are seen to be free again
	}
}

// job submits a job and waits until it is over. Some are cancelled.
func (d *slurmDrill) job(r *rand.Rand, n, lane int) {
	sleep := 1 + r.IntN(8)
	if r.IntN(12) == 0 {
		sleep = 100 // it is ended with its window
	}
	price := api.Price{Price: 9 * grid.Price(grid.Credit)}
	j := api.JobRequest{Name: fmt.Sprintf("job%d", n), User: []string{"ana", "ben", "cleo"}[n%3], Nodes: perLane + 1 + r.IntN(2*perLane),
		Length: api.Seconds{Duration: 30 * grid.Second}, MaxPrice: &price, Require: &api.Machine{Features: []string{fmt.Sprintf("lane%d", lane)}}}
	j.Command = []string{d.s.file("work.sh"), fmt.Sprint(sleep)}
	if r.IntN(100) < *parts {
		j.Nodes = 0
		if j.Apart = r.IntN(2) == 0; j.Apart {
			j.Parts = drawParts(r, 3) // as many as there are clusters
		} else {
			j.Parts = drawParts(r, 4)
		}
	}
	cancel := time.Duration(-1)
	if r.IntN(16) == 0 {
		cancel = time.Duration(r.IntN(50)) * time.Second
	}
	b := api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{j}}
	var id string
	d.until(2*time.Minute, "job "+j.Name+" is taken", func(ctx context.Context) bool {
		a, err := d.f.client().Submit(ctx, b)
		if err == nil && a.Jobs[0].Taken {
			id = a.Jobs[0].ID
		}
		return id != ""
	})
	begun := time.Now()
	d.until(20*time.Minute, "job "+j.Name+" is over", func(ctx context.Context) bool {
		if cancel >= 0 && time.Since(begun) > cancel {
			if _, err := d.f.client().Cancel(ctx, id); err == nil {
				cancel = -1
			}
		}
		got, err := d.f.client().Job(ctx, id)
		if err != nil {
			return false
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.states[id] = got.State
		return got.State == "done" || got.State == "failed" || got.State == "abandoned" || got.State == "withdrawn"
	})
}

// drawParts draws two parts or more of a job, some of them later than the job. All together
// have at most as many nodes as a lane of the three clusters.
func drawParts(r *rand.Rand, most int) (list []api.PartRequest) {
	left := 3 * perLane
	for n := 2 + r.IntN(most-1); n > 0; n-- {
		i := len(list)
		p := api.PartRequest{Name: string(rune('a' + i)), Nodes: 1 + r.IntN(min(perLane, left-n+1))}
		left -= p.Nodes
		if i > 0 && r.IntN(2) == 0 {
			p.Offset = &api.Seconds{Duration: grid.Duration(2+r.IntN(9)) * grid.Second}
		}
		list = append(list, p)
	}
	return list
}

// unmapped is a user whom no site gives an account.
const unmapped = "dora"

// stranger submits jobs of that user, each of which is refused with the word of what
// to do. The checker sees to it that nothing of them comes to a manager.
func (d *slurmDrill) stranger(over <-chan struct{}) {
	r := rand.New(rand.NewPCG(*seed, 400))
	for n := 0; ; n++ {
		price := api.Price{Price: 9 * grid.Price(grid.Credit)}
		j := api.JobRequest{Name: fmt.Sprintf("stranger%d", n), User: unmapped, Nodes: perLane + 1, Length: api.Seconds{Duration: 30 * grid.Second}, MaxPrice: &price,
			Require: &api.Machine{Features: []string{fmt.Sprintf("lane%d", 1+r.IntN(d.s.lanes))}}}
		j.Command = []string{d.s.file("work.sh"), "1"}
		b := api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{j}}
		var id, said string
		d.until(2*time.Minute, "job "+j.Name+" is taken", func(ctx context.Context) bool {
			a, err := d.f.client().Submit(ctx, b)
			if err == nil && a.Jobs[0].Taken {
				id = a.Jobs[0].ID
			}
			return id != ""
		})
		d.until(10*time.Minute, "job "+j.Name+" is refused for want of an account", func(ctx context.Context) bool {
			got, err := d.f.client().Job(ctx, id)
			if err == nil && got.Reason != nil {
				said = got.Reason.Detail
			}
			return strings.Contains(said, "[[account]]")
		})
		d.until(2*time.Minute, "job "+j.Name+" is withdrawn; it was told "+said, func(ctx context.Context) bool {
			_, err := d.f.client().Cancel(ctx, id)
			return err == nil
		})
		select {
		case <-over:
			return
		case <-time.After(time.Minute):
		}
	}
}

// until waits for what may not be while agents are down.
func (d *slurmDrill) until(most time.Duration, what string, holds func(context.Context) bool) {
	for end := time.Now().Add(most); ; time.Sleep(time.Second) {
		ctx, stop := context.WithTimeout(context.Background(), 10*time.Second)
		ok := holds(ctx)
		stop()
		if ok {
			return
		}
		if time.Now().After(end) {
			d.Errorf("not within %v: %s", most, what)
			return
		}
	}
}

// misfortunes happen to a cluster, one after the other.
func (d *slurmDrill) misfortunes(c int, over <-chan struct{}) {
	r := rand.New(rand.NewPCG(*seed, uint64(200+c)))
	for {
		select {
		case <-over:
			return
		case <-time.After(*calm*2/9 + time.Duration(r.Int64N(int64(*calm*14/9)))):
		}
		d.s.mend(c)
		d.misfortune(r, c)
	}
}

func (d *slurmDrill) misfortune(r *rand.Rand, c int) {
	s, node := d.s, 1+r.IntN(d.s.lanes*perLane)
	down := time.Duration(r.IntN(6000)) * time.Millisecond
	if r.IntN(8) == 0 {
		down += 25 * time.Second
	}
	hand := func(what string, args ...string) {
		over := s.upset(c, what)
		if _, err := s.run(c, "", args...); err != nil {
			s.mu.Lock()
			s.hands[what]--
			s.mu.Unlock()
		}
		over()
	}
	switch r.IntN(12) {
	case 0, 1, 2, 3:
		over := s.upset(c, "controller killed")
		if !s.killed(c, "slurmctld") {
			d.Errorf("the controller of %s does not run", siteOf(c))
		}
		time.Sleep(down)
		if err := s.script("resume", fmt.Sprint(c)); err != nil {
			d.Logf("%v", err)
		}
		over()
	case 4, 5, 6:
		over := s.upset(c, "node daemon killed")
		s.killed(c, fmt.Sprintf("c%dn%d", c, node))
		time.Sleep(down)
		if err := s.script("resume", fmt.Sprint(c), fmt.Sprint(node)); err != nil {
			d.Errorf("%v", err)
		}
		over()
	case 7: // nobody else kills the controller meanwhile
		over := s.upset(c, "node drained")
		name := fmt.Sprintf("NodeName=c%dn%d", c, node)
		_, err := s.run(c, "", "scontrol", "update", name, "State=DRAIN", "Reason=drill")
		time.Sleep(10*time.Second + down)
		if err == nil {
			_, err = s.run(c, "", "scontrol", "update", name, "State=RESUME")
		}
		if err != nil {
			d.Errorf("%v", err)
		}
		over()
	case 8:
		if name, _ := s.any(r, c, "reservation"); name != "" {
			hand("reservation deleted by hand", "scontrol", "delete", "ReservationName="+name)
		}
	case 9:
		if name, _ := s.any(r, c, "reservation"); name != "" {
			hand("reservation moved by hand", "scontrol", "update", "ReservationName="+name, "StartTime=now+10minutes", "Duration=5")
		}
	default:
		if name, is := s.any(r, c, "job"); is != "" { // the number may be another's by now
			hand("job cancelled by hand", "scancel", "--name="+name, strings.Fields(is)[1])
		}
	}
}

// restarts kill sites and the broker, and start them again.
func (d *slurmDrill) restarts(over <-chan struct{}) {
	r := rand.New(rand.NewPCG(*seed, 300))
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(3000+r.IntN(16_000)) * time.Millisecond):
		}
		a := d.f.agents[r.IntN(len(d.f.agents))]
		d.s.mu.Lock()
		d.s.hands[a.role+" killed"]++
		d.s.mu.Unlock()
		a.kill()
		down := time.Duration(r.IntN(4000)) * time.Millisecond
		if r.IntN(10) == 0 && a != d.f.broker {
			down += 30 * time.Second
		}
		time.Sleep(down)
		d.restart(a)
	}
}

// restart starts an agent until it is ready: that of a site gives up while its
// controller is down.
func (d *slurmDrill) restart(a *agent) {
	for range 5 {
		a.start()
		select {
		case <-a.begun:
			return
		case <-a.ended:
			d.Logf("%s ended by itself: %v\n%s", a.id(), a.err, a.tail(3))
		case <-time.After(2 * time.Minute):
			d.Errorf("%s is not ready within 2 min\n%s", a.id(), a.tail(10))
			return
		}
	}
	d.Errorf("%s cannot be started\n%s", a.id(), a.tail(10))
}

// judge waits until nothing of ours is left, ends the federation, and has the checker
// at it.
func (d *slurmDrill) judge() {
	begun := time.Now()
	for !d.s.empty() && time.Since(begun) < afterEnd {
		time.Sleep(2 * time.Second)
	}
	d.Logf("nothing of ours is left in a manager %v later", time.Since(begun).Round(time.Second))
	foreignEnd := time.Now().Add(2 * time.Minute)
	for time.Now().Before(foreignEnd) && d.s.busy() {
		time.Sleep(time.Second)
	}
	d.f.stop()
	t := d.s.finish()
	c, err := readClaims(d.f.broker, d.f.agents[1:])
	must(d.T, err)
	c.jobs = d.states
	v := check(t, c)
	for what, n := range d.s.hands {
		d.Logf("%6d times: %s", n, what)
	}
	d.Logf("what has come of it:\n%s", v)
	for _, b := range v.broken {
		d.Errorf("%s", b)
	}
	verified := d.f.verified()
	for _, n := range verified.Findings {
		if !n.Note {
			d.Errorf("%s %s, fact %d: %s", n.Invariant, n.Agent, n.Number, n.What)
		}
	}
	d.Logf("%+v", verified.Counts)
}
