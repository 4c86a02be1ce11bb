package broker

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// letter is a message on its way; an alarm has no address.
type letter struct {
	to, from agents.ID
	m        agents.Message
}

// anarchy is a broker among model sites whose messages come in any order, twice
// or never, and that dies at any time.
type anarchy struct {
	t      *rapid.T
	draw   *rand.Rand
	cfg    Config
	b      *Broker
	now    grid.Time
	lives  uint64
	sites  map[agents.ID]*modelSite
	names  []agents.ID
	bag    []letter
	alarms []agents.Alarm
	facts  []agents.Fact
	ats    []grid.Time          // when they were recorded
	asks   map[agents.ID]string // of this life, not answered
	asked  int
}

// TestRestart_AllOrNothingWhateverComesWhenever is the promise under anything
// that messages and a broker's process may do.
func TestRestart_AllOrNothingWhateverComesWhenever(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := newAnarchy(t)
		for range rapid.IntRange(200, 500).Draw(t, "steps") {
			a.act()
		}
		a.settle()
		a.rest()
	})
}

func newAnarchy(t *rapid.T) *anarchy {
	a := &anarchy{t: t, draw: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), sites: map[agents.ID]*modelSite{}, cfg: Defaults("vo1")}
	for _, name := range []string{"east", "north", "south"} {
		id := transaction.SiteID(name)
		a.cfg.Sites, a.names = append(a.cfg.Sites, id), append(a.names, id)
		a.sites[id] = &modelSite{id: id, free: 4, legs: map[grid.LegID]*agents.ListedLeg{}, charged: map[grid.LegID]bool{}, instead: map[grid.LegID]grid.LegID{}}
	}
	a.cfg.Cycle, a.cfg.Phase, a.cfg.Horizon, a.cfg.Lead = 100*grid.Second, 0, 10_000*grid.Second, grid.Minute
	a.cfg.BatchSize, a.cfg.Users = 2, map[string]UserTerms{"ana": {Share: 2}}
	a.cfg.Budget = grid.Credits(rapid.IntRange(5, 60).Draw(t, "budget")) * grid.Credit
	a.cfg.BudgetUntil = grid.Duration(rapid.IntRange(0, 5).Draw(t, "until")) * 1000 * grid.Second
	a.cfg.BudgetPeriod = grid.Duration(rapid.IntRange(0, 3).Draw(t, "period")) * 500 * grid.Second
	a.begin()
	for i := range 5 {
		j := testJob(fmt.Sprint("j", i), rapid.IntRange(1, 12).Draw(t, "nodes"), 1000*grid.Second, 30*grid.Credit)
		j.Ready = grid.Time(rapid.IntRange(0, 900).Draw(t, "ready")) * sec
		j.User = owner(i)
		a.step("users", agents.Submit{Job: j})
	}
	return a
}

// owner is whose job of a number is.
func owner(i int) string { return []string{"", "ana", "ben"}[i%3] }

func (a *anarchy) begin() {
	a.lives++
	a.alarms, a.asks = nil, map[agents.ID]string{}
	a.b = New(a.cfg)
	for i, f := range a.facts {
		a.b.Replay(a.ats[i], f)
	}
	a.step("", agents.Started{Nonce: a.lives})
}

// act does one of the things that may happen.
func (a *anarchy) act() {
	pick := func(n int) int { return a.draw.IntN(max(n, 1)) }
	switch what := pick(100); {
	case what < 80 && len(a.bag) > 0:
		i := 0 // mostly in order
		if what < 20 {
			i = pick(len(a.bag))
		}
		x := a.bag[i]
		if what > 3 { // else it comes again
			a.bag = append(a.bag[:i:i], a.bag[i+1:]...)
		}
		if what < 75 { // else it is lost
			a.deliver(x)
		}
	case what < 90:
		a.pass(grid.Duration(1+pick(20_000)) * grid.Millisecond)
	case what < 92:
		a.begin()
	case what < 96:
		id := a.names[pick(3)]
		if m := a.sites[id].happen(a.now, pick(8)); m != nil {
			a.bag = append(a.bag, letter{"", id, m})
		}
	case what == 96:
		i := pick(20)
		a.ask(agents.JobCancel{Job: fmt.Sprint("j", i), User: owner(i)})
	case what == 97:
		r := testJob("", 1+pick(6), 1000*grid.Second, 30*grid.Credit).Request
		i := pick(5)
		a.ask(agents.JobModify{Job: fmt.Sprint("j", i), User: owner(i), Request: r})
	case what == 98 && pick(2) == 0:
		n := 1 + pick(5)
		a.step("operator:olga", agents.Deposit{Key: fmt.Sprint("d", n), Credits: grid.Credits(n) * grid.Credit})
	case what == 98:
		a.sites[a.names[pick(3)]].shut = owner(pick(3))
	case what == 99: // an operator gives a site up, or takes that back
		if id := a.names[pick(3)]; pick(2) == 0 {
			a.step("operator:olga", agents.SiteLost{Site: id})
		} else {
			a.step("operator:olga", agents.SiteFound{Site: id})
		}
	default:
		a.sites[a.names[pick(3)]].free = pick(5)
	}
}

// ask asks for something as a client of the API does: each time from an address of
// its own, where one answer is waited for.
func (a *anarchy) ask(m agents.Message) {
	a.asked++
	id := agents.ID(fmt.Sprint("users:", a.asked))
	a.asks[id] = fmt.Sprintf("%+v at %v", m, a.now)
	a.step(id, m)
}

func (a *anarchy) deliver(x letter) {
	if x.to == "" {
		a.step(x.from, x.m)
		return
	}
	if m := a.sites[x.to].answer(a.now, x.m); m != nil {
		a.bag = append(a.bag, letter{"", x.to, m})
	}
}

// pass lets time go by.
func (a *anarchy) pass(d grid.Duration) {
	for until := a.now.Add(d); ; {
		first := -1
		for i, x := range a.alarms {
			if x.At <= until && (first < 0 || x.At < a.alarms[first].At) {
				first = i
			}
		}
		if first < 0 {
			a.now = until
			return
		}
		x := a.alarms[first]
		a.alarms = append(a.alarms[:first:first], a.alarms[first+1:]...)
		a.now = max(a.now, x.At)
		a.step("", x.Message)
	}
}

// settle delivers everything in order, with notices repeated, for a while.
func (a *anarchy) settle() {
	for _, id := range a.names {
		a.step("operator:olga", agents.SiteFound{Site: id})
	}
	for range 200 {
		for len(a.bag) > 0 {
			x := a.bag[0]
			a.bag = a.bag[1:]
			a.deliver(x)
		}
		for _, id := range a.names {
			for _, leg := range a.sites[id].order {
				if m := a.sites[id].notice(a.sites[id].legs[leg]); m != nil {
					a.step(id, m)
				}
			}
		}
		a.pass(grid.Second)
	}
}

// step hands the broker a message and checks what must hold after each.
func (a *anarchy) step(from agents.ID, m agents.Message) {
	var out agents.Outbox
	a.b.Step(a.now, from, m, &out)
	a.facts = append(a.facts, out.Facts...)
	for range out.Facts {
		a.ats = append(a.ats, a.now)
	}
	a.alarms = append(a.alarms, out.Alarms...)
	for _, s := range out.Sends {
		if m, ok := s.Message.(agents.Confirm); ok {
			if t := a.b.mem.Txs.Get(m.Leg.Tx); t.Open() || !t.Resolved() {
				a.t.Fatalf("I3: Confirm of leg %v, and this life has not decided", m.Leg)
			}
		}
		if a.sites[s.To] != nil {
			a.bag = append(a.bag, letter{s.To, "", s.Message})
		}
		if strings.HasPrefix(string(s.To), "users:") {
			if a.asks[s.To] == "" {
				a.t.Fatalf("%s is answered twice, or by a life that was not asked: %+v", s.To, s.Message)
			}
			delete(a.asks, s.To)
		}
	}
	if err := a.b.Ledger().Check(); err != nil || a.b.mem.Accounts.Left() < 0 {
		a.t.Fatalf("I8: %v; %v credits left", err, a.b.mem.Accounts.Left())
	}
}

// rest checks what holds in the end.
func (a *anarchy) rest() {
	decided, ended, took := map[grid.TxID]bool{}, map[grid.LegID]bool{}, map[grid.TxID]bool{}
	for _, id := range a.names {
		for leg := range a.sites[id].charged {
			took[leg.Tx] = true
		}
	}
	for _, f := range a.facts {
		switch f := f.(type) {
		case facts.TxDecided:
			if _, twice := decided[f.Tx]; twice {
				a.t.Fatalf("I3: %v is decided twice", f.Tx)
			}
			decided[f.Tx] = f.Commit
		case facts.TxReversed:
			if decided[f.Tx] = false; took[f.Tx] {
				a.t.Fatalf("I3: COMMIT of %v took effect and is reversed", f.Tx)
			}
		case facts.LegDone:
			if ended[f.Leg] {
				a.t.Fatalf("I8: leg %v ends twice", f.Leg)
			}
			ended[f.Leg] = true
		}
	}
	for _, id := range a.names {
		s := a.sites[id]
		for leg, l := range s.legs {
			_, known := decided[leg.Tx]
			switch {
			case s.charged[leg] && !decided[leg.Tx]:
				a.t.Fatalf("I2: leg %v is %v, its transaction is aborted", leg, l.State)
			case !l.State.Terminal() && l.State < grid.Confirmed && known && !a.leftToItsLimit(leg):
				a.t.Fatalf("I13: leg %v is %v still", leg, l.State)
			case decided[leg.Tx] && (l.State == grid.Cancelled || l.State == grid.Refused):
				a.t.Fatalf("I2: leg %v is %v, its transaction is committed", leg, l.State)
			}
		}
	}
	for id, what := range a.asks {
		a.t.Fatalf("%s is not answered: %s", id, what)
	}
	a.money()
	a.image()
}

// leftToItsLimit reports whether a leg that was given up with its site may be held
// there until its limit: one that would take the place of another.
func (a *anarchy) leftToItsLimit(id grid.LegID) bool {
	l := a.b.mem.Txs.Lookup(id)
	return l != nil && l.Claim() && l.Replaces() != (grid.LegID{})
}

// money compares what the sites have had with what the broker has paid.
func (a *anarchy) money() {
	for _, id := range a.names {
		var had grid.Credits
		for leg := range a.sites[id].charged {
			l := a.sites[id].legs[leg]
			had += l.Fare.Base - l.Refund
		}
		x := a.b.mem.Accounts.Ledger().Account(string(id))
		if x.Credit-x.Debit != had {
			for _, leg := range a.sites[id].order {
				l := a.sites[id].legs[leg]
				if t, own := a.b.mem.Txs.Find(id, leg); t != nil && a.sites[id].charged[leg] {
					a.t.Logf("%v: %v, refund %v of %v; the broker has it %v, %v of %v back", leg, l.State, l.Refund, l.Fare.Base, own.State(), own.Back(), own.Fare().Base)
				}
			}
			a.t.Fatalf("I8: %s has had %v, the broker has paid it %v", id, had, x.Credit-x.Debit)
		}
	}
}

// image checks that the facts, and an image, give the state that there is.
func (a *anarchy) image() {
	want := stable(a.b.Image())
	again, fresh := New(a.cfg), New(a.cfg)
	for i, f := range a.facts {
		again.Replay(a.ats[i], f)
	}
	fresh.Replay(0, a.b.Image())
	var sum grid.Credits
	statement := NewStatement(a.cfg, func(m Move) {
		if sum += m.Amount; sum != m.Balance {
			a.t.Fatalf("the lines add up to %v, not to the balance of %+v", sum, m)
		}
	})
	for i, f := range a.facts {
		statement.Replay(a.ats[i], f)
	}
	if x := a.b.Ledger().Account(a.b.Account()); sum != x.Balance() {
		a.t.Fatalf("the statement ends with %v, the account has %v", sum, x.Balance())
	}
	parted := New(a.cfg)
	a.b.mem.PartSize = 3
	for i := range a.b.Parts() {
		parted.Replay(0, a.b.Part(i))
	}
	for what, b := range map[string]*Broker{"the facts": again, "the image": fresh, "the image in parts": parted} {
		if got := stable(b.Image()); !reflect.DeepEqual(got, want) {
			a.t.Fatalf("a replay of %s gives\n%+v, not\n%+v", what, got, want)
		}
		if !reflect.DeepEqual(b.mem.Trust, a.b.mem.Trust) {
			a.t.Fatalf("after a replay of %s sites are trusted as in %+v, not as in %+v", what, b.mem.Trust, a.b.mem.Trust)
		}
		if got, want := b.mem.Queue.Order(), a.b.mem.Queue.Order(); !reflect.DeepEqual(got, want) {
			a.t.Fatalf("after a replay of %s users are served as %v, not as %v", what, got, want)
		}
		if b.mem.Queue.Size() != a.b.mem.Queue.Size() || fmt.Sprint(b.mem.Accounts.Ledger().Accounts()) != fmt.Sprint(a.b.mem.Accounts.Ledger().Accounts()) {
			a.t.Fatalf("a replay of %s gives %d jobs that wait, not %d, and\n%v, not\n%v", what, b.mem.Queue.Size(), a.b.mem.Queue.Size(),
				b.mem.Accounts.Ledger().Accounts(), a.b.mem.Accounts.Ledger().Accounts())
		}
	}
}

// stable is an image without what is of a life only: which jobs are fresh.
func stable(f agents.Fact) facts.BrokerImage {
	x := f.(facts.BrokerImage)
	for i := range x.Jobs {
		x.Jobs[i].Fresh = false
	}
	return x
}
