//go:build linux

package drill

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// docs/FAILURES.md: of two processes of one broker with journals of their own,
// and users at both, at most one goes on taking jobs. The earlier one stops
// because it hears of the later one and has called it or, where it cannot reach
// it, by the next answer of a site: to the one that has asked. What either has
// taken is in its journal, and started alone it goes on with it: at the first start
// if a site has told it of the later life, else at the second.
func TestTwin_AtMostOneOfTwoBrokersGoesOnTakingJobs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		apart   bool // the earlier one cannot reach the later one
		copied  bool // the later one begins with a copy of the journal
		because string
	}{
		{"told", false, false, "a later process of broker:vo1 answers at"},
		{"told-with-a-copy", false, true, "a later process of broker:vo1 answers at"},
		{"apart-with-a-copy", true, true, "another process has its name"},
	} {
		if !*long && c.name != "told-with-a-copy" {
			continue // make drill has the others
		}
		t.Run(c.name, func(t *testing.T) {
			f := lay(t, plan{broker: "batch_size = 4\n"})
			twin := f.twin(c.apart)
			for _, a := range f.agents[:len(f.agents)-1] {
				a.start()
			}
			for _, a := range f.agents[:len(f.agents)-1] {
				a.ready()
			}
			eventually(t, patience, "the broker knows all sites", func() bool { return f.usable() == 3 })
			f.place("before", 200, grid.Second, patience)
			if c.copied {
				_, messages, exit := f.bourse("journal", "copy", f.broker.facts(), filepath.Join(twin.journal(), "broker-vo1"))
				if exit != 0 {
					t.Fatal(messages)
				}
			}
			early, late := f.users(f.broker), f.users(twin)
			early.wait(t, 3)
			twin.start()
			twin.ready()
			begun := time.Now()
			if exit := f.broker.fails(20 * time.Second); exit != 1 {
				t.Errorf("exit %d of the earlier broker, want 1", exit)
			}
			t.Logf("the earlier broker has stopped %v after the later one was ready", time.Since(begun).Round(10*time.Millisecond))
			if !f.broker.said(c.because) {
				t.Errorf("no line says %q:\n%s", c.because, f.broker.tail(5))
			}
			if c.copied { // it is the latest for the sites too
				late.wait(t, 5)
			} else { // the sites know its counter with another nonce, and say so
				if exit := twin.fails(20 * time.Second); exit != 1 {
					t.Errorf("exit %d of the later broker, want 1", exit)
				}
			}
			kept := [][]string{early.stop(), late.stop()}
			if twin.running() {
				f.finished(twin, kept[1])
				twin.stop()
			}
			f.broker.start()
			f.broker.ready()
			if c.copied && !c.apart { // no site has told it yet which life is the latest
				if exit := f.broker.fails(20 * time.Second); exit != 1 {
					t.Errorf("exit %d, want 1", exit)
				}
				f.broker.start()
				f.broker.ready()
			}
			f.finished(f.broker, kept[0])
			f.place("after", 200, grid.Second, 60*time.Second)
			f.stop()
			must(t, os.RemoveAll(twin.dir)) // of one broker one journal is held against the sites'
			f.verify()
		})
	}
}

// twin adds another process of the broker at an address of its own. Where they
// are to be apart, the first one holds the second's certificate for revoked, and
// so does not believe that it is there.
func (f *federation) twin(apart bool) *agent {
	f.t.Helper()
	a := &agent{f: f, role: "broker", name: "vo1", keys: f.broker.keys, dir: filepath.Join(f.dir, "twin"), host: f.net + "99"}
	must(f.t, os.Mkdir(a.dir, 0o700))
	f.agents = append(f.agents, a)
	f.write()
	if apart {
		must(f.t, os.CopyFS(filepath.Join(f.dir, "ca-early"), os.DirFS(filepath.Join(f.dir, "ca"))))
		for _, key := range []string{"broker-vo1.key", "gossip.key"} {
			must(f.t, os.Chmod(filepath.Join(f.dir, "ca-early", key), 0o600))
		}
		use(f.t, f.broker, "../ca-early")
	}
	issued, err := f.ca.Issue(certificate.Request{Role: certificate.Broker, Name: "vo1", Hosts: []string{f.broker.host, a.host}, Replace: true})
	must(f.t, err)
	if apart {
		must(f.t, os.WriteFile(filepath.Join(f.dir, "ca-early", "revoked.txt"), fmt.Appendf(nil, "%s # the twin\n", issued.Serial), 0o600))
	}
	return a
}

// crowd is users who submit a job to one process again and again.
type crowd struct {
	mu    sync.Mutex
	taken []string
	done  context.CancelFunc
	ends  sync.WaitGroup
}

func (f *federation) users(a *agent) *crowd {
	f.t.Helper()
	server := f.clientOf(a)
	ctx, stop := context.WithCancel(context.Background())
	c := &crowd{done: stop}
	price := api.Price{Price: 20 * grid.Price(grid.Credit)}
	c.ends.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			one, end := context.WithTimeout(ctx, 2*time.Second)
			r, err := server.Submit(one, api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{
				{Name: fmt.Sprint("job", n), Nodes: 1 + 37*n%150, Length: api.Seconds{Duration: grid.Second}, MaxPrice: &price}}})
			end()
			if err == nil && r.Jobs[0].Taken {
				c.mu.Lock()
				c.taken = append(c.taken, r.Jobs[0].ID)
				c.mu.Unlock()
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	return c
}

// wait waits until so many more jobs have been taken.
func (c *crowd) wait(t *testing.T, more int) {
	t.Helper()
	count := func() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.taken) }
	begun := count()
	eventually(t, 30*time.Second, fmt.Sprintf("%d jobs are taken", more), func() bool { return count() >= begun+more })
}

func (c *crowd) stop() []string {
	c.done()
	c.ends.Wait()
	return c.taken
}

// clientOf calls the API of one process of the broker.
func (f *federation) clientOf(a *agent) *client.Client {
	f.t.Helper()
	c, err := client.Read(f.context())
	must(f.t, err)
	c.Broker = a.api()
	server, err := c.ToBroker()
	must(f.t, err)
	return server
}

// finished waits until all jobs of a process are done.
func (f *federation) finished(a *agent, jobs []string) {
	f.t.Helper()
	server := f.clientOf(a)
	for _, id := range jobs {
		var j api.Job
		var err error
		for end := time.Now().Add(90 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if j, err = server.Job(context.Background(), id); err == nil && j.State == "done" {
				break
			}
			if time.Now().After(end) {
				f.t.Fatalf("job %s, which %s had taken, is not done: %+v, %v", id, a.id(), j, err)
			}
		}
	}
}
