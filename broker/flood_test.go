package broker

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// TestStep_NoMessageOfAPeerIsTooMuch hands a broker at work anything that a peer
// may say, with any values in it, true or not: it never panics, its accounts
// balance, nothing is spent beyond the budget, and a replay of its facts stands
// where it does.
func TestStep_NoMessageOfAPeerIsTooMuch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { flooded(t, rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3), 400) })
}

// The same, for a fuzzer: what is said, and when, follows from its bytes one after the
// other.
func FuzzBroker_Step(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for n := 1 << 8; n <= 16<<10; n *= 2 {
		seed := make([]byte, n)
		_, _ = r.Read(seed)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		flooded(t, &bytesSource{data, rand.NewPCG(1, 2)}, min(len(data)/16, 400))
	})
}

// bytesSource draws from bytes, and once they are used up at random: of a constant no
// number below a bound may ever come.
type bytesSource struct {
	left []byte
	rest rand.Source
}

func (s *bytesSource) Uint64() uint64 {
	if len(s.left) == 0 {
		return s.rest.Uint64()
	}
	var x [8]byte
	s.left = s.left[copy(x[:], s.left):]
	return binary.LittleEndian.Uint64(x[:])
}

// flooded is a broker to which strangers have sent a number of messages.
func flooded(t interface{ Fatalf(string, ...any) }, source rand.Source, times int) {
	f := &flood{rng: rand.New(source)}
	f.cfg = Defaults("vo1")
	f.cfg.Cycle, f.cfg.Phase, f.cfg.Horizon, f.cfg.Lead = 100*grid.Second, 0, 10_000*grid.Second, grid.Minute
	f.cfg.Budget, f.cfg.Sites = 100*grid.Credit, []agents.ID{"site:north", "site:south"}
	f.cfg.Explain, f.cfg.KeepJobs = 1<<20, grid.Hour
	f.b = New(f.cfg)
	f.step("", agents.Started{Nonce: 1})
	for range times {
		f.act()
		if err := f.b.Ledger().Check(); err != nil || f.b.mem.Accounts.Left() < 0 {
			t.Fatalf("%v; %v credits left", err, f.b.mem.Accounts.Left())
		}
	}
	again := New(f.cfg)
	for i, fact := range f.facts {
		again.Replay(f.ats[i], fact)
	}
	if again.mem.Accounts.Left() != f.b.mem.Accounts.Left() || again.Waiting() != f.b.Waiting() || len(again.mem.Txs.All()) != len(f.b.mem.Txs.All()) {
		t.Fatalf("a replay has %v credits left, %d jobs that wait, %d transactions, not %v, %d, %d",
			again.mem.Accounts.Left(), again.Waiting(), len(again.mem.Txs.All()), f.b.mem.Accounts.Left(), f.b.Waiting(), len(f.b.mem.Txs.All()))
	}
}

// flood is a broker among strangers.
type flood struct {
	rng    *rand.Rand
	cfg    Config
	b      *Broker
	now    grid.Time
	facts  []agents.Fact
	ats    []grid.Time
	alarms []agents.Alarm
	asked  []agents.Send
	lives  uint64
	seq    uint64
}

func (f *flood) step(from agents.ID, m agents.Message) {
	var out agents.Outbox
	f.b.Step(f.now, from, m, &out)
	for _, x := range out.Facts {
		f.facts, f.ats = append(f.facts, x), append(f.ats, f.now)
	}
	f.alarms = append(f.alarms, out.Alarms...)
	f.asked = append(f.asked, out.Sends...)
	if n := len(f.asked); n > 40 {
		f.asked = f.asked[n-40:]
	}
}

func (f *flood) act() {
	from := agents.ID([]string{"site:north", "site:south", "site:west", "", "user:ana", "broker:vo2", "operator:olga"}[f.rng.IntN(7)])
	switch n := f.rng.IntN(20); {
	case n < 3 && len(f.alarms) > 0:
		i := 0
		for k := range f.alarms {
			if f.alarms[k].At < f.alarms[i].At {
				i = k
			}
		}
		if f.mad(20) {
			i = f.rng.IntN(len(f.alarms))
		}
		f.now = max(f.now, f.alarms[i].At)
		m := f.alarms[i].Message
		f.alarms = append(f.alarms[:i], f.alarms[i+1:]...)
		f.step("", m)
	case n < 14 && len(f.asked) > 0:
		i := 0
		if f.mad(10) {
			i = f.rng.IntN(len(f.asked))
		}
		s := f.asked[i]
		f.asked = append(f.asked[:i], f.asked[i+1:]...)
		f.step(s.To, f.reply(s.Message))
	case n == 14 && f.mad(10):
		f.b = New(f.cfg)
		for i, fact := range f.facts {
			f.b.Replay(f.ats[i], fact)
		}
		f.alarms, f.lives = nil, f.lives+1
		f.step("", agents.Started{Nonce: 1 + f.lives})
	case n < 16:
		f.step("user:ana", agents.Submit{Job: grid.Job{Name: f.name(), User: "ana", Request: f.request()}})
	default:
		f.step(from, f.message())
	}
}

// mad is true once in n times.
func (f *flood) mad(n int) bool { return f.rng.IntN(n) == 0 }

// number is any number, mostly a small one.
func (f *flood) number() int64 {
	return []int64{0, 1, 2, 3, 1000, 60_000, 1_000_000, -1, math.MaxInt64, math.MinInt64, int64(grid.Never), f.rng.Int64()}[f.rng.IntN(12)]
}

func (f *flood) name() string {
	if f.mad(20) {
		return []string{"", "A", "\xff\x00"}[f.rng.IntN(3)]
	}
	return string(rune('a' + f.rng.IntN(26)))
}

func (f *flood) request() grid.Request {
	r := grid.Request{Nodes: 1 + f.rng.IntN(6), Length: 100 * grid.Second, MinPerformance: grid.Unit, Budget: 10 * grid.Credit}
	if f.mad(6) {
		r = grid.Request{Nodes: int(f.number()), Length: grid.Duration(f.number()), MinPerformance: grid.Performance(f.number()),
			MaxPrice: grid.Price(f.number()), Budget: grid.Credits(f.number()), Ready: grid.Time(f.number()), Deadline: grid.Time(f.number())}
	}
	return r
}

// leg is one that there is, or any.
func (f *flood) leg() grid.LegID {
	if n := len(f.b.mem.Txs.All()); n > 0 && f.rng.IntN(5) > 0 {
		id := f.b.mem.Txs.All()[f.rng.IntN(n)].ID()
		return grid.LegID{Tx: id, Leg: []int{0, 0, 0, 1, -1, 7}[f.rng.IntN(6)]}
	}
	return grid.LegID{Tx: grid.TxID{Broker: []string{"vo1", "vo2", ""}[f.rng.IntN(3)], Incarnation: uint32(f.rng.IntN(3)),
		Nonce: uint64(f.rng.IntN(3)), Seq: uint64(f.rng.IntN(5))}, Leg: int(f.number() % 20_000)}
}

func (f *flood) what() grid.Leg {
	if !f.mad(4) {
		start := f.now.Add(grid.Duration(f.rng.IntN(400)) * grid.Second)
		return grid.Leg{Group: "main", Nodes: 1 + f.rng.IntN(4), Start: start, End: start.Add(100 * grid.Second)}
	}
	return grid.Leg{Group: f.name(), Nodes: int(f.number()), Start: grid.Time(f.number()), End: grid.Time(f.number())}
}

func (f *flood) credits() grid.Credits { return grid.Credits(f.number()) }

func (f *flood) fare() grid.Fare {
	if !f.mad(4) {
		return grid.Fare{Base: grid.Credit}
	}
	return grid.Fare{Base: f.credits(), Additive: f.credits()}
}

func (f *flood) reason() grid.Reason {
	if !f.mad(4) {
		return grid.Reason{}
	}
	return grid.Reason{Code: []grid.Code{"", grid.Busy, grid.Unknown, grid.Cap, grid.Conflict, grid.Expired, "new"}[f.rng.IntN(7)], Detail: f.name()}
}

func (f *flood) stamp() agents.Stamp {
	if f.seq++; !f.mad(50) {
		return agents.Stamp{Epoch: 1, Seq: f.seq}
	}
	return agents.Stamp{Epoch: uint64(f.rng.IntN(2)), Seq: uint64(f.rng.IntN(1000)), From: uint64(f.rng.IntN(2))}
}

func (f *flood) profile() grid.Profile {
	if f.rng.IntN(4) > 0 {
		return grid.NewProfile(f.now, 4)
	}
	p := grid.Profile{}
	for range f.rng.IntN(4) {
		p = append(p, grid.Step{At: grid.Time(f.number()), Free: int(f.number())})
	}
	return p
}

func (f *flood) offers(cycle uint64) agents.Offers {
	o := agents.Offers{Cycle: cycle, Now: f.now, Stamp: f.stamp()}
	if !f.mad(6) {
		p := grid.NewProfile(f.now, 4)
		g := grid.Group{Name: "main", Nodes: 4, Performance: grid.Unit, Price: 3_600_000}
		o.Groups = []agents.GroupOffer{{Group: g, Admissible: p, Clear: grid.NewProfile(f.now, 4*f.rng.IntN(2))}}
		return o
	}
	if f.rng.IntN(2) == 0 {
		o.Now, o.Refusal = grid.Time(f.number()), f.reason()
	}
	for range 1 + f.rng.IntN(2) {
		g := agents.GroupOffer{Group: grid.Group{Site: f.name(), Name: f.name(), Nodes: 4, Performance: grid.Unit, Price: 3_600_000}, Admissible: f.profile(), Clear: f.profile()}
		if f.rng.IntN(8) == 0 {
			g.Group.Nodes, g.Group.Performance, g.Group.Price = int(f.number()), grid.Performance(f.number()), grid.Price(f.number())
		}
		o.Groups = append(o.Groups, g)
	}
	return o
}

func (f *flood) listed() agents.ListedLeg {
	return agents.ListedLeg{Leg: f.leg(), What: f.what(), Job: f.name(), User: f.name(), State: grid.LegState(f.rng.IntN(12)), Fare: f.fare(), Limit: f.credits(),
		Left: grid.Duration(f.number()), End: grid.Time(f.number()), Version: uint32(f.rng.IntN(3)), Refund: f.credits(), Penalty: f.credits()}
}

// reply answers what was asked, mostly as it should.
func (f *flood) reply(m agents.Message) agents.Message {
	switch m := m.(type) {
	case agents.OfferRequest:
		return f.offers(m.Cycle)
	case agents.QuoteRequest:
		q := agents.Quotes{Ref: m.Ref, Stamp: f.stamp()}
		for range m.Legs {
			q.Quotes = append(q.Quotes, grid.Quote{Fare: f.fare(), Refusal: f.reason()})
		}
		return q
	case agents.Hold:
		return agents.Held{Leg: m.Leg, Fare: grid.Fare{Base: min(m.Limit, grid.Credit)}, Stamp: f.stamp()}
	case agents.Prepare:
		return agents.Prepared{Leg: m.Leg, Stamp: f.stamp()}
	case agents.Confirm:
		return agents.Confirmed{Leg: m.Leg, Refund: f.credits(), Stamp: f.stamp()}
	case agents.Cancel:
		return agents.Cancelled{Leg: m.Leg, Stamp: f.stamp()}
	case agents.Release:
		return agents.Released{Leg: m.Leg, Refund: f.credits(), Stamp: f.stamp()}
	case agents.Reassert:
		return agents.Reasserted{Leg: m.Leg.Leg, Reason: f.reason(), Stamp: f.stamp()}
	case agents.List:
		l := agents.Listing{Incarnation: m.Incarnation, Stamp: f.stamp()}
		for range f.rng.IntN(3) {
			l.Legs = append(l.Legs, f.listed())
		}
		return l
	}
	return f.message()
}

// message is anything.
func (f *flood) message() agents.Message {
	leg, stamp := f.leg(), f.stamp()
	switch f.rng.IntN(24) {
	case 0:
		return agents.Held{Leg: leg, Fare: f.fare(), Version: uint32(f.rng.IntN(3)), Stamp: stamp}
	case 1:
		step := []string{"Hold", "Prepare", "Confirm", "Cancel", "Release", ""}[f.rng.IntN(6)]
		return agents.Refused{Leg: leg, Step: step, Fare: f.fare(), Reason: f.reason(), DecidedBy: uint32(f.rng.IntN(3)), Stamp: stamp}
	case 2:
		return agents.Prepared{Leg: leg, Stamp: stamp}
	case 3:
		return agents.Confirmed{Leg: leg, Refund: f.credits(), Stamp: stamp}
	case 4:
		return agents.Cancelled{Leg: leg, Stamp: stamp}
	case 5:
		return agents.Released{Leg: leg, Refund: f.credits(), Stamp: stamp}
	case 6:
		return agents.LegStarted{Leg: leg, Stamp: stamp}
	case 7:
		return agents.Settled{Leg: leg, End: grid.Time(f.number()), Charged: f.credits(), Stamp: stamp}
	case 8:
		return agents.Heuristic{Leg: leg, Stamp: stamp}
	case 9:
		return agents.Degraded{Leg: leg, Refund: f.credits(), Penalty: f.credits(), Stamp: stamp}
	case 10:
		return agents.Inquire{Leg: leg, Stamp: stamp}
	case 11:
		return agents.Reasserted{Leg: leg, Reason: f.reason(), Stamp: stamp}
	case 12:
		return agents.Listing{Incarnation: uint32(f.rng.IntN(4)), Legs: []agents.ListedLeg{f.listed()}, Stamp: stamp}
	case 13:
		return f.offers(uint64(f.number()))
	case 14:
		return agents.Quotes{Ref: uint64(f.rng.IntN(4)), Quotes: make([]grid.Quote, f.rng.IntN(3)), Stamp: stamp}
	case 15:
		return agents.SiteJoined{Site: agents.ID([]string{"site:west", "site:North", "site:", "x", "site:\n"}[f.rng.IntN(5)])}
	case 16:
		return agents.SiteLeft{Site: agents.ID([]string{"site:west", "site:north", "site:nobody"}[f.rng.IntN(3)])}
	case 17:
		return agents.JobCancel{Job: f.name(), User: "ana"}
	case 18:
		return agents.JobModify{Job: f.name(), User: "ana", Request: f.request()}
	case 20:
		return agents.SiteLost{Site: agents.ID([]string{"site:south", "site:north", "site:nobody"}[f.rng.IntN(3)])}
	case 21:
		return agents.SiteFound{Site: agents.ID([]string{"site:south", "site:north", "site:nobody"}[f.rng.IntN(3)])}
	case 19:
		return agents.Hold{Leg: leg, What: f.what()}
	}
	return agents.Noted{Leg: leg}
}
