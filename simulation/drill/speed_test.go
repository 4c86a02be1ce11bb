//go:build linux

package drill

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// Speed is measured where -drill.speed asks for it: five sites and a broker on
// loopback, mutual TLS, journals synced to the disk of the temporary folder.
// docs/internals/PERFORMANCE.md has the table.

// speedy is the federation that is measured: five sites, none of which has room
// for a job of five legs, and a broker that begins a cycle for every job.
func speedy(t *testing.T, batch int, more ...func(*plan)) *federation {
	if !*speed {
		t.Skip("measures; asked for with -drill.speed")
	}
	var sites []sitePlan
	for _, name := range []string{"north", "south", "east", "west", "island"} {
		sites = append(sites, sitePlan{name: name, nodes: 100})
	}
	p := plan{sites: sites, broker: fmt.Sprintf("batch_size = %d\n", batch)}
	for _, x := range more {
		x(&p)
	}
	return lay(t, p)
}

// patient is for several federations on one machine: no site is lost for being slow.
func patient(p *plan)                    { p.profile = "lan" }
func replicated(n int) func(*plan)       { return func(p *plan) { p.replicas = n } }
func running(program string) func(*plan) { return func(p *plan) { p.program = program } }

// placed notes when the broker's stream of events says that jobs are placed.
type placed struct {
	mu   sync.Mutex
	at   map[string]time.Time
	news chan struct{}
}

func (f *federation) placements(ctx context.Context) *placed {
	c := &placed{at: map[string]time.Time{}, news: make(chan struct{}, 1)}
	server := f.client()
	go func() {
		_ = server.Follow(ctx, "", func(e client.Event) error {
			if e.Turn == nil || e.Turn.Turn != "placed" {
				return nil
			}
			c.mu.Lock()
			c.at[e.Turn.Job.ID] = time.Now()
			c.mu.Unlock()
			select {
			case c.news <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	eventually(f.t, time.Minute, "the stream of events stands", func() bool {
		a, err := server.Submit(ctx, f.batchOf(1, 10, grid.Second))
		must(f.t, err)
		_, ok := c.when(a.Jobs[0].ID, time.Second)
		return ok
	})
	return c
}

// confirmed reads in the broker's journal when the last site has confirmed each
// job's window.
func (f *federation) confirmed() map[string]grid.Time {
	f.t.Helper()
	at, job := map[string]grid.Time{}, map[grid.TxID]string{}
	folder, err := journal.LookInto(f.broker.facts())
	must(f.t, err)
	_, err = journal.Read(folder, journal.NewCodec(), func(r journal.Record) error {
		switch x := r.Fact.(type) {
		case facts.TxBegun:
			job[x.Tx] = x.Job
		case facts.LegClosed:
			if x.Commit {
				at[job[x.Leg.Tx]] = r.At
			}
		}
		return nil
	})
	must(f.t, err)
	return at
}

// when is when a job was placed.
func (c *placed) when(id string, most time.Duration) (time.Time, bool) {
	late := time.After(most)
	for {
		c.mu.Lock()
		at, ok := c.at[id]
		c.mu.Unlock()
		if ok {
			return at, true
		}
		select {
		case <-c.news:
		case <-late:
			return time.Time{}, false
		}
	}
}

func (c *placed) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.at)
}

func (f *federation) batchOf(n, nodes int, length grid.Duration) api.Batch {
	price := api.Price{Price: 5 * grid.Price(grid.Credit)}
	b := api.Batch{ID: client.NewBatchID()}
	for i := range n {
		b.Jobs = append(b.Jobs, api.JobRequest{Name: fmt.Sprintf("job%d", i), Nodes: nodes, Length: api.Seconds{Duration: length}, MaxPrice: &price})
	}
	return b
}

// From the request of the user to the event that says that all sites have confirmed, a job
// at a time: by a broker alone, by one that three processes hold and, where
// -drill.against names another binary, by a broker alone of that, in turns.
func TestSpeed_FromSubmitToConfirmed(t *testing.T) {
	fs := []*measured{{what: "alone", federation: speedy(t, 1, patient)}, {what: "three replicas", federation: speedy(t, 1, patient, replicated(3))}}
	if *against != "" {
		fs = append(fs, &measured{what: "alone, " + filepath.Base(*against), federation: speedy(t, 1, patient, running(*against))})
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for _, f := range fs {
		f.start()
		f.seen = f.placements(ctx)
	}
	kinds := []struct {
		what        string
		jobs, nodes int
		want        string
	}{{"warming up", 50, 401, "-"}, {"one leg", 200, 10, "15 ms"}, {"five legs", 200, 401, "30 ms"}}
	for k, c := range kinds {
		for _, f := range fs {
			f.busy[k] = -f.processor()
		}
		for n := range c.jobs {
			for i := range fs {
				fs[(n+i)%len(fs)].one(ctx, k, c.nodes)
			}
		}
		for _, f := range fs {
			f.busy[k] += f.processor()
		}
	}
	for _, f := range fs {
		f.stop()
		confirmed := f.confirmed()
		for k, c := range kinds {
			var told, sure, more []time.Duration
			for i, x := range f.took[k] {
				told = append(told, x.placed.Sub(x.begun))
				sure = append(sure, time.UnixMilli(int64(confirmed[x.id])).Sub(x.begun))
				first := fs[0].took[k][i]
				more = append(more, told[i]-first.placed.Sub(first.begun))
			}
			t.Logf("%-10s %s: confirmed by all sites %s; the user told that it is placed %s, %s later than alone (wanted: p50 %s); %v of processor time a job, that of gossip in between included",
				c.what, f.what, quantiles(sure), quantiles(told), quantiles(more), c.want, (f.busy[k] / time.Duration(c.jobs)).Round(100*time.Microsecond))
		}
		f.verify()
	}
}

// measured is a federation with what its jobs took, by kind.
type measured struct {
	*federation
	what string
	seen *placed
	took [3][]sample
	busy [3]time.Duration // of processor time
}

// processor is the processor time that the processes of a federation have taken.
func (f *federation) processor() (sum time.Duration) {
	for _, a := range f.agents {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", a.pid()))
		must(f.t, err)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		for _, ticks := range fields[11:13] { // user and system, in hundredths of a second
			n, err := strconv.Atoi(ticks)
			must(f.t, err)
			sum += time.Duration(n) * 10 * time.Millisecond
		}
	}
	return sum
}

type sample struct {
	id            string
	begun, placed time.Time
}

// one submits a job and waits until it is placed.
func (f *measured) one(ctx context.Context, kind, nodes int) {
	f.t.Helper()
	begun := time.Now()
	a, err := f.client().Submit(ctx, f.batchOf(1, nodes, grid.Second))
	must(f.t, err)
	at, ok := f.seen.when(a.Jobs[0].ID, time.Minute)
	if !ok {
		f.t.Fatalf("%s: job %s is not placed within a minute", f.what, a.Jobs[0].ID)
	}
	f.took[kind] = append(f.took[kind], sample{a.Jobs[0].ID, begun, at})
	time.Sleep(5 * time.Millisecond)
}

// quantiles shows the median and the tails, which it sorts for.
func quantiles(d []time.Duration) string {
	slices.Sort(d)
	at := func(percent int) time.Duration { return d[len(d)*percent/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("p50 %v, p90 %v, p99 %v", at(50), at(90), at(99))
}

// Five-leg windows for a minute, as many as go.
func TestSpeed_CoAllocationsSustained(t *testing.T) {
	for _, batch := range []int{1, 20, 100} {
		t.Run(fmt.Sprintf("batch%d", batch), func(t *testing.T) {
			f := speedy(t, batch)
			f.start()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			seen, server := f.placements(ctx), f.client()
			asked := 0
			begun := time.Now()
			for time.Since(begun) < time.Minute {
				if asked-seen.count() >= 2*max(batch, 20) {
					time.Sleep(5 * time.Millisecond)
					continue
				}
				b := f.batchOf(max(batch, 20), 401, grid.Second)
				asked += len(b.Jobs)
				_, err := server.Submit(ctx, b)
				must(t, err)
			}
			end, memory := time.Now(), f.broker.memory()
			f.stop()
			n, late := 0, 0
			for _, at := range f.confirmed() {
				if at := time.UnixMilli(int64(at)); at.Before(end) {
					if n++; at.After(begun.Add(30 * time.Second)) {
						late++
					}
				}
			}
			t.Logf("batch_size %d: %d windows of five legs confirmed in a minute: %.1f a second, %.1f in the second half (wanted: 50); the broker has %d MB",
				batch, n, float64(n)/end.Sub(begun).Seconds(), float64(late)/(end.Sub(begun).Seconds()-30), memory)
			f.verify()
		})
	}
}

// How much a broker has to do whose memory is measured.
const (
	manySites = 200
	manyOpen  = 100_000
)

// fill writes the journal of a broker that has promised manyOpen legs at manySites: some
// half a million facts.
func fill(t *testing.T, name string) {
	t.Helper()
	folder, err := journal.OpenFolder(name)
	must(t, err)
	j, err := journal.Open(folder, journal.Options{Agent: "broker:vo1"}, nil)
	must(t, err)
	now := grid.Time(time.Now().UnixMilli())
	put := func(facts ...interface{ Kind() string }) {
		for _, x := range facts {
			must(t, j.Append(now, x))
		}
	}
	put(facts.LifeBegun{Incarnation: 1, Nonce: 7})
	for i := range manySites {
		put(facts.SiteJoined{Site: fmt.Sprintf("site%d", i)})
	}
	for i := range manyOpen {
		job := fmt.Sprintf("job%d-abcdefgh", i)
		tx := grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: uint64(i + 1)}
		start := now.Add(grid.Hour + grid.Duration(i/10)*grid.Second)
		leg := grid.Leg{Group: "main", Nodes: 1 + i%64, Start: start, End: start.Add(grid.Hour)}
		fare := grid.Fare{Base: grid.Credit}
		put(facts.JobSubmitted{Job: grid.Job{Name: job, User: fmt.Sprintf("user%d", i%100), Submit: now, Request: grid.Request{Nodes: leg.Nodes, Length: grid.Hour,
			MinPerformance: grid.Unit, MaxPrice: grid.Price(grid.Credit), Budget: 9 * grid.Credit, Deadline: grid.Never}, Origin: grid.Origin{Batch: fmt.Sprintf("b-%d", i/100), Label: job, Digest: "d"}}},
			facts.TxBegun{Tx: tx, Job: job, Alternative: 1, Sites: []string{fmt.Sprintf("site%d", i%manySites)}, Legs: []grid.Leg{leg}, Limits: []grid.Credits{2 * grid.Credit}},
			facts.LegPriced{Leg: grid.LegID{Tx: tx}, Fare: fare}, facts.TxDecided{Tx: tx, Job: job, Commit: true},
			facts.LegClosed{Leg: grid.LegID{Tx: tx}, Commit: true, Posted: fare.Total()})
	}
	must(t, j.Sync())
	must(t, folder.Close())
}

// The process of a broker with 200 sites and 100,000 open reservations: after a
// start from half a million facts, and after one from an image.
func TestSpeed_MemoryOfABroker(t *testing.T) {
	f := speedy(t, 100)
	fill(t, f.broker.facts())
	for _, from := range []string{"facts", "an image"} {
		begun := time.Now()
		f.broker.start()
		f.broker.ready()
		up := time.Since(begun)
		first, before := f.broker.memory(), f.broker.peak()
		time.Sleep(10 * time.Second)
		page, err := f.client().Jobs(context.Background(), client.Filter{State: "placed", Most: 3})
		must(t, err)
		t.Logf("%d sites, %d open reservations, begun from %s: ready after %v with %d MB, at most %d MB until then; after 10 s %d MB, at most %d MB until then (wanted: 200); %d jobs shown",
			manySites, manyOpen, from, up.Round(100*time.Millisecond), first, before, f.broker.memory(), f.broker.peak(), len(page))
		f.broker.stop()
	}
}

// The same broker, alone and held by three processes that have taken it over, after 20 s
// of running and again after each has been started anew.
func TestSpeed_MemoryOfReplicas(t *testing.T) {
	alone := speedy(t, 100, patient)
	three := speedy(t, 100, patient, replicated(3), func(p *plan) { p.past = true })
	fill(t, alone.broker.facts())
	fill(t, filepath.Join(three.broker.journal(), "broker-vo1"))
	for _, life := range []string{"first", "second"} {
		for _, f := range []*federation{alone, three} {
			for _, a := range f.holders() {
				a.start()
			}
			for _, a := range f.holders() {
				a.ready()
			}
			eventually(t, 2*time.Minute, "the broker shows its jobs", func() bool {
				page, err := f.client().Jobs(context.Background(), client.Filter{State: "placed", Most: 3})
				return err == nil && len(page) == 3
			})
			time.Sleep(20 * time.Second)
			for _, a := range f.holders() {
				t.Logf("%s life, %s of %d: %d MB, at most %d MB until then", life, a.id(), len(f.holders()), a.memory(), a.peak())
			}
			for _, a := range f.holders() {
				a.stop()
			}
		}
	}
}
