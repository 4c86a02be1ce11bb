//go:build linux

package drill

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live"
	"github.com/bourse-grid/bourse/agents/live/gossip"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

var manyOffers = flag.Int("drill.crowd", 1000, "with -drill.speed: how many sites a broker has in TestSpeed_ACrowdOfSites")

// offering is a site that does nothing but answer requests for offers: its links, its
// certificate and its gossip are those of any site.
type offering struct {
	name    string
	network live.Network
	offers  agents.Offers
	asked   *atomic.Int64
}

// Connect, Deliver, Tell and Stop make it the host of a node.
func (s *offering) Connect(n live.Network)                          { s.network = n }
func (s *offering) Tell(agents.ID, agents.ID, agents.Message) error { return nil }
func (s *offering) Stop(context.Context) error                      { return nil }
func (s *offering) Deliver(e *wire.Envelope) (taken bool) {
	m, err := wire.Decode(e)
	if err != nil {
		return true
	}
	if q, ok := m.(agents.OfferRequest); ok {
		s.asked.Add(1)
		answer := s.offers
		answer.Cycle, answer.Now = q.Cycle, grid.Time(time.Now().UnixMilli())
		if e, err := wire.Encode(agents.ID("site:"+s.name), agents.ID(e.GetFrom()), answer); err == nil {
			s.network.Send(agents.ID(e.GetTo()), e)
		}
	}
	return true
}

// offersOf are 30 steps of a group that is too dear for the job that is waiting.
func offersOf(name string) agents.Offers {
	now := grid.Time(time.Now().UnixMilli())
	p := make(grid.Profile, 30)
	for i := range p {
		p[i] = grid.Step{At: now.Add(grid.Duration(i-1) * 40 * grid.Minute), Free: 4 + 4*(i%2)}
	}
	g := grid.Group{Site: name, Name: "main", Nodes: 8, Performance: grid.Unit, Price: 1000 * grid.Price(grid.Credit)}
	return agents.Offers{Version: 1, Groups: []agents.GroupOffer{{Group: g, Admissible: p, Clear: p}}, Stamp: agents.Stamp{Epoch: 1, Seq: 1}}
}

// crowdVariable tells a process of the test that it holds a part of a crowd: the folder of
// the certificates, the seed of gossip, the first site and the one after the last.
const crowdVariable = "DRILL_CROWD"

// perProcess is how many sites a process holds, and how many start before the next wait
// until the broker knows them: newcomers cost all others processor time, and where that is
// short the actor library gives up starting a remote, after 3 s.
const perProcess = 100

// holdCrowd holds sites until its input ends. It says "ready" when all are started, and how
// often they have been asked for each line that it reads.
func holdCrowd(order string) error {
	part := strings.Fields(order)
	if len(part) != 4 {
		return fmt.Errorf("%s: %q", crowdVariable, order)
	}
	first, err := strconv.Atoi(part[2])
	if err != nil {
		return err
	}
	last, err := strconv.Atoi(part[3])
	if err != nil {
		return err
	}
	keys, err := certificate.GossipKeys(filepath.Join(part[0], "gossip.key"))
	if err != nil {
		return err
	}
	asked := new(atomic.Int64)
	for i := first; i < last; i++ {
		if err := startOffering(siteOfCrowd(i), part[0], part[1], keys, asked); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(asked.Load())
	}
	return nil
}

func siteOfCrowd(i int) string { return fmt.Sprintf("s%04d", i) }

// startOffering starts one site in this process, with which it ends.
func startOffering(name, ca, seed string, keys [][]byte, asked *atomic.Int64) error {
	store, err := certificate.Load(certificate.In(ca, certificate.Site, name), certificate.Options{})
	if err != nil {
		return err
	}
	guard, err := live.NewGuard(live.GuardOptions{Store: store, Log: zerolog.Nop()})
	if err != nil {
		return err
	}
	_, err = live.StartNode(live.NodeOptions{Name: agents.ID("site:" + name), Host: &offering{name: name, offers: offersOf(name), asked: asked},
		Listen: "127.0.0.1:0", Transport: guard.Transport(), Log: zerolog.Nop(),
		Gossip: gossip.Options{Listen: "127.0.0.1:0", Label: "vo1", Keys: keys, Profile: "lan", Seeds: []string{seed}}})
	return err
}

// multitude is the processes that hold a crowd.
type multitude []*crowdPart

type crowdPart struct {
	t    *testing.T
	in   io.WriteCloser
	said *bufio.Scanner
}

// assemble starts so many sites, which the broker finds by gossip: the next process of them
// when it knows those of the last one, or a minute later.
func (f *federation) assemble(n int) (c multitude) {
	f.t.Helper()
	for i := range n {
		_, err := f.ca.Issue(certificate.Request{Role: certificate.Site, Name: siteOfCrowd(i), Hosts: []string{"127.0.0.1"}})
		must(f.t, err)
	}
	begun := time.Now()
	for first := 0; first < n; first += perProcess {
		last := min(first+perProcess, n)
		c = append(c, f.assemblePart(first, last))
		for end := time.Now().Add(time.Minute); f.usable() < last && time.Now().Before(end); {
			time.Sleep(time.Second)
		}
		f.t.Logf("%d started, %d known, %v after the first was started", last, f.usable(), time.Since(begun).Round(time.Second))
	}
	return c
}

func (f *federation) assemblePart(first, last int) *crowdPart {
	f.t.Helper()
	self, err := os.Executable()
	must(f.t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s:%d %d %d", crowdVariable, filepath.Join(f.dir, "ca"), f.broker.host, gossipPort, first, last))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	must(f.t, err)
	out, err := cmd.StdoutPipe()
	must(f.t, err)
	must(f.t, cmd.Start())
	f.t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	p := &crowdPart{f.t, in, bufio.NewScanner(out)}
	if said := p.hear(); said != "ready" {
		f.t.Fatalf("sites %d to %d do not start: %q", first, last, said)
	}
	return p
}

func (p *crowdPart) hear() string {
	p.said.Scan()
	return p.said.Text()
}

// asked is how often all sites have been asked.
func (c multitude) asked() (sum int) {
	for _, p := range c {
		_, err := fmt.Fprintln(p.in)
		must(p.t, err)
		n, err := strconv.Atoi(p.hear())
		must(p.t, err)
		sum += n
	}
	return sum
}

// cycles are how many the broker has closed in which it asked, and how long they took.
func (f *federation) cycles() (n float64, took float64) {
	f.t.Helper()
	store, err := certificate.Load(certificate.In(filepath.Join(f.dir, "ca"), certificate.Operator, "olga"), certificate.Options{})
	must(f.t, err)
	c := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: store.Client(certificate.Want{Role: certificate.Broker, Host: f.broker.host})}}
	defer c.CloseIdleConnections()
	answer, err := c.Get(f.broker.api() + "/metrics")
	must(f.t, err)
	defer func() { _ = answer.Body.Close() }()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "bourse_cycle_seconds_sum "); ok {
			took, _ = strconv.ParseFloat(v, 64)
		}
		if v, ok := strings.CutPrefix(lines.Text(), "bourse_cycle_seconds_count "); ok {
			n, _ = strconv.ParseFloat(v, 64)
		}
	}
	return n, took
}

// sockets is how many a process has open.
func (a *agent) sockets() (n int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", a.pid()))
	for _, file := range files {
		if to, _ := os.Readlink(file); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// A broker's process with 1,000 sites, each with a certificate, a link and gossip of its
// own, in processes of some hundred: at rest, and while a job waits for which every cycle
// asks all, or those that max_asked allows.
func TestSpeed_ACrowdOfSites(t *testing.T) {
	if !*speed {
		t.Skip("measures; asked for with -drill.speed")
	}
	for _, most := range []int{0, *manyOffers / 10} {
		t.Run(fmt.Sprintf("asked%d", most), func(t *testing.T) {
			f := lay(t, plan{sites: []sitePlan{}, profile: "lan", broker: fmt.Sprintf("batch_size = 1\nmax_asked = %d\n", most)})
			f.broker.start()
			f.broker.ready()
			begun := time.Now()
			alone := f.broker.memory()
			sites := f.assemble(*manyOffers)
			started := time.Since(begun)
			for end := time.Now().Add(5 * time.Minute); f.usable() < *manyOffers && time.Now().Before(end); {
				time.Sleep(time.Second)
			}
			t.Logf("%d of %d sites known %v after the first was started, %v after the last", f.usable(), *manyOffers, time.Since(begun).Round(time.Second), (time.Since(begun) - started).Round(time.Second))
			time.Sleep(20 * time.Second)
			busy := f.processor()
			time.Sleep(20 * time.Second)
			busy = f.processor() - busy
			t.Logf("at rest: %d MB (alone %d), at most %d; %d sockets; %.1f %% of a processor", f.broker.memory(), alone, f.broker.peak(), f.broker.sockets(), busy.Seconds()/20*100)
			_, err := f.client().Submit(context.Background(), f.batchOf(1, 10, grid.Hour))
			must(t, err)
			time.Sleep(5 * time.Second) // all are called for the first time
			n, took := f.cycles()
			busy, before := f.processor(), sites.asked()
			time.Sleep(30 * time.Second)
			n2, took2 := f.cycles()
			busy = f.processor() - busy
			n, took = n2-n, took2-took
			t.Logf("max_asked %d: %.0f cycles in 30 s, %.0f ms each on average, %.0f sites asked in each, %.0f ms of the broker's processor time; %d MB, at most %d; %d sockets",
				most, n, took/n*1000, float64(sites.asked()-before)/n, busy.Seconds()/n*1000, f.broker.memory(), f.broker.peak(), f.broker.sockets())
		})
	}
}
