//go:build linux

package drill

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/tree/thorough"
)

// A user's first hour: bourse up with five sites, a batch with co-allocated jobs,
// every command, a site that joins while the others run, and the journals.
func TestUp_AsAUserWould(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "starts processes")
	dir, err := os.MkdirTemp("", "drill-up-")
	must(t, err)
	f := &federation{t: t, dir: dir}
	t.Cleanup(f.end)
	up := exec.Command(binary, "up", "--sites", "5", "--dir", dir, "--json", "--port", fmt.Sprint(16_000+os.Getpid()%100*150))
	log, err := os.Create(dir + "/log")
	must(t, err)
	up.Stderr = log
	said, err := up.StdoutPipe()
	must(t, err)
	must(t, up.Start())
	ended := make(chan error, 1)
	t.Cleanup(func() { _ = up.Process.Signal(os.Interrupt); <-ended; _ = log.Close() })
	var where struct {
		Agents []struct {
			Agent, Agents string
			PID           int
		}
	}
	err = json.NewDecoder(said).Decode(&where)
	go func() { ended <- up.Wait(); close(ended) }()
	if err != nil || len(where.Agents) != 6 {
		text, _ := os.ReadFile(dir + "/log")
		t.Fatalf("%v: %+v\n%s", err, where, text)
	}

	must(t, os.WriteFile(dir+"/batch.toml", []byte("[[job]]\nname = \"wave\"\nuser = \"ana\"\nnodes = 8\nlength = \"20m\"\nmax_price = 9.0\n"+
		"[[job]]\nname = \"tide\"\nnodes = 200\nlength = \"10m\"\nmin_performance = 0.5\nmax_price = 9.0\n"), 0o600))
	for _, c := range []struct {
		args string
		want []string
	}{
		{"submit @batch.toml --wait", []string{"wave", "tide", "placed", ","}},
		{"jobs", []string{"wave", "tide"}},
		{"jobs tide", []string{"placed", "confirmed"}},
		{"explain tide", []string{"tide", "credits"}},
		{"sites", []string{"north", "south", "east", "west", "island", "usable"}},
		{"offers", []string{"north", "island"}},
		{"reservations", []string{"wave", "tide"}},
		{"accounts", []string{"VO vo1"}},
		{"cancel wave", []string{"credits are refunded"}},
		{"jobs wave", []string{"withdrawn"}},
	} {
		out, messages, exit := f.bourse(strings.Fields(c.args)...)
		if exit != 0 || !containsAll(out, c.want) {
			t.Errorf("bourse %s: exit %d, want %q in\n%s%s", c.args, exit, c.want, out, messages)
		}
	}
	f.joins()
	out, messages, exit := f.bourse("journal", "verify", dir)
	if exit != 0 || !strings.Contains(out, "no invariant is broken") {
		t.Errorf("journal verify: exit %d\n%s%s", exit, out, messages)
	}
}

// joins starts one more site beside a federation that runs, and holds that it is
// offered within a cycle or two.
func (f *federation) joins() {
	f.t.Helper()
	text, err := os.ReadFile(f.dir + "/site-north/site.toml")
	must(f.t, err)
	_, messages, exit := f.bourse("ca", "issue", "--dir", f.dir+"/ca", "--role", "site", "--name", "late", "--host", "127.99.0.1")
	if exit != 0 {
		f.t.Fatalf("ca issue: exit %d\n%s", exit, messages)
	}
	late := &agent{f: f, role: "site", name: "late", dir: f.dir + "/site-late", host: "127.99.0.1"}
	must(f.t, os.Mkdir(late.dir, 0o700))
	var file strings.Builder
	table := ""
	ports := map[string]int{"[listen]": agentPort, "[gossip]": gossipPort, "[http]": apiPort, "[rendezvous]": meetPort}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[") {
			table = strings.Fields(line)[0]
		}
		if port := ports[table]; port > 0 && strings.HasPrefix(line, "address") {
			line = fmt.Sprintf("address = \"%s:%d\"\n", late.host, port)
		}
		file.WriteString(strings.ReplaceAll(line, "north", "late"))
	}
	must(f.t, os.WriteFile(late.file(), []byte(file.String()), 0o600))
	f.agents = append(f.agents, late)
	late.start()
	late.ready()
	begun := time.Now()
	eventually(f.t, patience, "the site that has joined is offered", func() bool {
		_, _, _ = f.bourse("submit", f.small(), "--wait")
		return f.answers("late")
	})
	f.t.Logf("a site that joins is offered %v after it is ready; cycles are 5 s apart", time.Since(begun).Round(100*time.Millisecond))
	late.stop()
}

// small is a batch of one small job, so that there is a cycle.
func (f *federation) small() string {
	f.t.Helper()
	name := f.dir + "/small.toml"
	must(f.t, os.WriteFile(name, []byte("[[job]]\nname = \"small\"\nnodes = 1\nlength = \"1s\"\nmax_price = 9.0\n"), 0o600))
	return name
}

// At ten sites a killed one is gone from offers within 1 s with the fast
// profile, within 10 s with LAN timings, and back in the next cycle after its
// restart.
func TestKilled_GoneFromOffersInTime(t *testing.T) {
	t.Parallel()
	for profile, most := range map[string]time.Duration{"fast": time.Second, "lan": 10 * time.Second} {
		if profile == "lan" && !*long && !*speed {
			continue // it takes a quarter of a minute
		}
		t.Run(profile, func(t *testing.T) {
			var sites []sitePlan
			for i := range 10 {
				sites = append(sites, sitePlan{name: fmt.Sprint("site", i), nodes: 10})
			}
			f := lay(t, plan{sites: sites, profile: profile, broker: "batch_size = 1\n"})
			f.start()
			f.place("before", 91, 1000, patience)
			api := f.client()
			member := func(name string) bool {
				l, err := api.Sites(context.Background())
				must(t, err)
				for _, s := range l.Sites {
					if s.Name == name {
						return s.Member
					}
				}
				return false
			}
			var took []time.Duration
			for i := range 5 {
				a := f.site(fmt.Sprint("site", 2*i))
				a.kill()
				begun := time.Now()
				eventually(t, 3*most+10*time.Second, a.name+" is gone from offers", func() bool { return !member(a.name) })
				took = append(took, time.Since(begun))
				a.start()
				a.ready()
				back := time.Now()
				eventually(t, 30*time.Second, a.name+" is back", func() bool { return member(a.name) })
				j := f.place(fmt.Sprint("all", i), 91, 1000, patience)
				t.Logf("%s: gone after %v; back %v after its restart, a job over %d sites placed", a.name, took[i].Round(time.Millisecond), time.Since(back).Round(time.Millisecond), len(j.Sites))
			}
			slow := 0
			for _, d := range took {
				if d > most {
					slow++
				}
			}
			if slow > 2 { // other work on the machine may delay one
				t.Errorf("%d of %d were gone later than %v: %v", slow, len(took), most, took)
			}
			f.stop()
			f.verify()
		})
	}
}
