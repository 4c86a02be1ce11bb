package live

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/lines"
	"github.com/bourse-grid/bourse/agents/live/members"
)

// forged has a process hear a word of gossip that its sender need not be
// entitled to.
func (p testNode) forged(t *testing.T, m members.Member) {
	t.Helper()
	m.Oldest, m.Version = 1, 1
	meta, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	p.hear(m.Node(), meta, true)
	synctest.Wait()
}

func (p testNode) superseded() bool {
	select {
	case <-p.Superseded():
		return true
	default:
		return false
	}
}

// Somebody with only the gossip key may announce a later life of a broker, at an address
// where nobody is, where somebody else is, or where the broker itself is. The broker goes
// on, and still receives what sites send.
func TestNode_GossipAloneStopsNobodyAndDivertsNothing(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		broker, sites := federation(t, newMemory(), 2, "fast")
		site := sites[0]
		for _, address := range []string{"10.0.0.9:1", sites[1].Address(), broker.Address()} {
			for _, life := range []uint64{broker.self.Life + 1_000_000, broker.self.Life} {
				if life == broker.self.Life && address == broker.Address() {
					continue // this is true
				}
				for _, p := range []testNode{site, broker} {
					p.forged(t, members.Member{Agent: "broker:vo", Address: address, Life: life})
				}
				if m, _ := site.directory.Find("broker:vo"); m.Address != broker.Address() || m.Life != broker.self.Life {
					t.Errorf("the site sends to life %d at %s, not %d at %s", m.Life, m.Address, broker.self.Life, broker.Address())
				}
			}
		}
		before := broker.received()
		site.send(t, "site:s000", "broker:vo", agents.Offers{Cycle: 1})
		eventually(t, 5*time.Second, "the broker is answered", func() bool { return broker.received() == before+1 })
		time.Sleep(2 * time.Minute)
		if broker.superseded() {
			t.Error("the broker has stopped")
		}
		if n := site.Node.Stats().Doubted; n == 0 {
			t.Error("nothing was doubted")
		}
		if calls := site.Node.Stats().Doubted; calls > 40 {
			t.Errorf("%d calls in two minutes", calls)
		}
	})
}

// The earlier of two processes of one broker hears of the later one as soon as gossip has
// announced that one and it has answered. Sites send to the later one.
func TestNode_TheEarlierOfTwoBrokersIsSuperseded(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, sites := federation(t, memory, 1, "fast")
		twin := startPeer(t, NodeOptions{Name: "broker:vo", network: memory, Life: broker.self.Life + 1000}, sites[0].Gossip())
		took := eventually(t, 5*time.Second, "the earlier one hears of it", broker.superseded)
		t.Logf("heard after %v", took)
		eventually(t, 5*time.Second, "sites send to the later one", func() bool {
			m, _ := sites[0].directory.Find("broker:vo")
			return m.Address == twin.Address()
		})
		time.Sleep(time.Minute)
		if twin.superseded() {
			t.Error("the later one is superseded too")
		}
	})
}

// A process with an agent's certificate tells peers, and another process of its own name,
// which life it is. A process with anybody else's certificate is not believed.
func saysWhichLifeItIs(v *town) {
	v.guard.life.Store(77)
	guard := func(role certificate.Role, name string) *Guard {
		g, err := NewGuard(GuardOptions{Store: v.member(role, name), Log: zerolog.Nop()})
		if err != nil {
			v.Fatal(err)
		}
		return g
	}
	broker, twin := guard(certificate.Broker, "vo1"), guard(certificate.Site, "north")
	foreign, err := certificate.Init(filepath.Join(v.TempDir(), "other"), "cms", certificate.InitOptions{})
	if err != nil {
		v.Fatal(err)
	}
	issued, err := foreign.Issue(certificate.Request{Role: certificate.Broker, Name: "vo1", Hosts: []string{"127.0.0.1"}})
	if err != nil {
		v.Fatal(err)
	}
	store, err := certificate.Load(issued.Files, certificate.Options{})
	if err != nil {
		v.Fatal(err)
	}
	stranger, err := NewGuard(GuardOptions{Store: store, Log: zerolog.Nop()})
	if err != nil {
		v.Fatal(err)
	}
	for _, c := range []struct {
		what string
		by   *Guard
		to   agents.ID
		want string
	}{
		{"a broker calls the site", broker, "site:north", ""},
		{"another process of the site calls it", twin, "site:north", ""},
		{"somebody else's address", broker, "site:south", "site south is meant"},
		{"another role", broker, "broker:vo1", "where a broker is meant"},
		{"another VO", stranger, "site:north", "no authority trusted here"},
	} {
		ctx, cancel := context.WithTimeout(v.Context(), patience)
		life, err := c.by.call(ctx, members.Member{Agent: c.to, Address: v.carrier.address()})
		cancel()
		if c.want == "" && (err != nil || life != 77) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			v.Errorf("%s: life %d, %v", c.what, life, err)
		}
	}
}

// Whoever has the gossip key can name hundreds of processes that do not answer. Each has one
// line a minute, and all together ten; the next line says how many were left out.
func TestDoubted_LinesAreBoundedInAll(t *testing.T) {
	t.Parallel()
	var l lines.Limiter
	now, shown, told := time.Unix(1000, 0), 0, uint64(0)
	for second := range 121 {
		for i := range 200 {
			if hidden, ok := l.AllowOf("doubted", "site:fake"+string(rune('a'+i)), now.Add(time.Duration(second)*time.Second)); ok {
				shown++
				told += hidden
			}
		}
	}
	if shown != 3*lines.LinesAMinute || told != 2*(200-lines.LinesAMinute) {
		t.Errorf("%d lines, which tell of %d others", shown, told)
	}
}
