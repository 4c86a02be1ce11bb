package broker

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// purse is a broker without sites, at an operator's hand.
type purse struct {
	t     *testing.T
	b     *Broker
	cfg   Config
	facts []agents.Fact
	ats   []grid.Time
	due   []agents.Alarm
}

func newPurse(t *testing.T, set func(*Config)) *purse {
	cfg := testConfig()
	cfg.Minimize = grid.GoalValue
	cfg.BudgetUntil = 10 * grid.Day
	if set != nil {
		set(&cfg)
	}
	return &purse{t: t, cfg: cfg, b: New(cfg)}
}

func (p *purse) step(now grid.Time, from agents.ID, m agents.Message) (reply *agents.OperatorReply) {
	var out agents.Outbox
	p.b.Step(now, from, m, &out)
	for _, f := range out.Facts {
		p.facts, p.ats = append(p.facts, f), append(p.ats, now)
	}
	p.due = append(p.due, out.Alarms...)
	for _, s := range out.Sends {
		if r, ok := s.Message.(agents.OperatorReply); ok {
			reply = &r
		}
	}
	return reply
}

// start begins a life.
func (p *purse) start(now grid.Time) { p.due = nil; p.step(now, "", agents.Started{Nonce: 1}) }

// pass steps the alarms of the budget until an instant.
func (p *purse) pass(until grid.Time) {
	for i := 0; i < len(p.due); i++ {
		if x := p.due[i]; x.At <= until && x.Message.Kind() == "BudgetDue" {
			p.step(x.At, "", x.Message)
		}
	}
}

func (p *purse) deposit(now grid.Time, key string, c grid.Credits) grid.Reason {
	r := p.step(now, "operator:olga", agents.Deposit{Key: key, Credits: c})
	if r == nil || r.To != "Deposit" {
		p.t.Fatalf("a deposit is answered %+v", r)
	}
	return r.Reason
}

// opened are the times of the budget on record.
func (p *purse) opened() (list []facts.BudgetOpened) {
	for _, f := range p.facts {
		if f, ok := f.(facts.BudgetOpened); ok {
			list = append(list, f)
		}
	}
	return list
}

// money is the accounts' part of a broker's image.
func money(b *Broker) (f facts.BrokerImage) {
	b.mem.Accounts.Image(&f)
	return f
}

// same fails unless a replay of the facts, under another budget in the file too, and
// of the image give the state that there is.
func (p *purse) same() {
	p.t.Helper()
	other := p.cfg
	other.Budget = 77 * grid.Credit
	facts, image := New(other), New(other)
	for i, f := range p.facts {
		facts.Replay(p.ats[i], f)
	}
	image.Replay(0, p.b.Image())
	for what, b := range map[string]*Broker{"the facts": facts, "the image": image} {
		if !reflect.DeepEqual(money(b), money(p.b)) || b.Left() != p.b.Left() {
			p.t.Errorf("a replay of %s gives %+v with %v left, not %+v with %v", what, money(b), b.Left(), money(p.b), p.b.Left())
		}
	}
}

func TestBudget_IsOpenedOnceForTheTimeThatTheFileSays(t *testing.T) {
	t.Parallel()
	p := newPurse(t, nil)
	p.start(5 * sec)
	p.start(9 * sec)
	want := []facts.BudgetOpened{{Credits: 1000 * grid.Credit, Until: grid.Time(10*grid.Day) + 5*sec}}
	if got := p.opened(); !reflect.DeepEqual(got, want) {
		t.Errorf("opened %+v, want %+v", got, want)
	}
	p.b.mem.cfg.BudgetUntil = 20 * grid.Day // the operator has changed the file
	p.start(20 * sec)
	if got := money(p.b).Budget; got.Until != grid.Time(20*grid.Day)+5*sec || got.From != 5*sec || p.b.Left() != 1000*grid.Credit {
		t.Errorf("with a longer time the budget is %+v, %v left", got, p.b.Left())
	}
	p.same()
}

func TestBudget_OfThePapersRulesHasNoTime(t *testing.T) {
	t.Parallel()
	p := newPurse(t, func(c *Config) { c.Minimize = grid.GoalTime })
	if p.start(0); len(p.opened()) > 0 || p.b.mem.Accounts.Pace(grid.Time(grid.Day)).Known {
		t.Errorf("a broker that minimises time has opened %+v", p.opened())
	}
	if why := p.deposit(0, "d", grid.Credit); why.Refused() || p.b.Left() != 1001*grid.Credit {
		t.Errorf("its deposit is refused: %v; %v left", why, p.b.Left())
	}
}

func TestBudget_APeriodAddsAndWhatIsLeftStays(t *testing.T) {
	t.Parallel()
	p := newPurse(t, func(c *Config) { c.BudgetUntil, c.BudgetPeriod = 0, grid.Hour })
	p.start(0)
	p.pass(grid.Time(150 * grid.Minute))
	if got := p.b.Left(); got != 3000*grid.Credit {
		t.Errorf("in the third hour there are %v credits, want 3000", got)
	}
	if got := money(p.b).Budget; got.Period != 2 || got.Had != 3000*grid.Credit || got.From != grid.Time(2*grid.Hour) || got.Until != grid.Time(3*grid.Hour) {
		t.Errorf("the third hour's budget is %+v", got)
	}
	p.start(grid.Time(6*grid.Hour) + 1) // nobody was there for three of them
	if got := p.b.Left(); got != 7000*grid.Credit || money(p.b).Budget.Period != 6 {
		t.Errorf("after six hours there are %v credits in period %d, want 7000 in 6", got, money(p.b).Budget.Period)
	}
	p.same()
}

func TestBudget_PeriodsEndWhenTheBudgetDoes(t *testing.T) {
	t.Parallel()
	p := newPurse(t, func(c *Config) { c.BudgetUntil, c.BudgetPeriod = 150*grid.Minute, grid.Hour })
	p.start(0)
	p.pass(grid.Time(grid.Day))
	p.start(grid.Time(2 * grid.Day))
	if got := money(p.b).Budget; got.Period != 2 || got.Until != grid.Time(150*grid.Minute) || p.b.Left() != 3000*grid.Credit {
		t.Errorf("in the end %+v with %v left, want period 2 to 9000 s with 3000", got, p.b.Left())
	}
}

func TestDeposit_TwiceIsOne(t *testing.T) {
	t.Parallel()
	p := newPurse(t, nil)
	p.start(0)
	for range 2 {
		if why := p.deposit(sec, "d1", 50*grid.Credit); why.Refused() {
			t.Errorf("refused: %v", why)
		}
	}
	p.start(2 * sec)
	if why := p.deposit(3*sec, "d1", 50*grid.Credit); why.Refused() || p.b.Left() != 1050*grid.Credit || money(p.b).Budget.Had != 1050*grid.Credit {
		t.Errorf("after all there are %v credits (%v), want 1050", p.b.Left(), why)
	}
	if why := p.deposit(3*sec, "d1", 51*grid.Credit); why.Code != grid.Conflict || !strings.Contains(why.Detail, "was of 50 credits, not of 51") {
		t.Errorf("another sum under the same key: %v", why)
	}
	p.step(3*sec, "users:ana", agents.Deposit{Key: "d2", Credits: grid.Credit})
	if p.b.Left() != 1050*grid.Credit || p.b.Stray() != 1 {
		t.Error("somebody who is no operator has paid in")
	}
	p.same()
}

func TestDeposit_TooMuchOrNothingIsRefusedWithTheNumbers(t *testing.T) {
	t.Parallel()
	p := newPurse(t, nil)
	p.start(0)
	for _, c := range []struct {
		credits grid.Credits
		says    string
	}{
		{0, "a deposit of 0 credits; must be above 0"},
		{-5 * grid.Credit, "a deposit of -5 credits"},
		{grid.MaxBudget, "1000 were paid in so far, and all together must be at most 1000000000000"},
		{math.MaxInt64, "all together must be at most"},
	} {
		if why := p.deposit(0, "d", c.credits); why.Code != grid.Invalid || !strings.Contains(why.Detail, c.says) {
			t.Errorf("%v: %v, want %q", int64(c.credits), why, c.says)
		}
	}
	if why := p.deposit(0, "d", grid.MaxBudget-1000*grid.Credit); why.Refused() {
		t.Errorf("up to the bound: %v", why)
	}
	p.same()
}

// Legs without a record may cost as much as was paid in, once more.
func TestDeposit_CountsForWhatTheOverdraftBears(t *testing.T) {
	t.Parallel()
	p := newPurse(t, nil)
	p.start(0)
	p.deposit(0, "d", 500*grid.Credit)
	if a := p.b.mem.Accounts; !a.Bears(3000*grid.Credit) || a.Bears(3000*grid.Credit+1) {
		t.Error("with 1500 credits paid in, the account and its overdraft bear 3000")
	}
}

func TestDeposit_KeysAreRememberedUpToABound(t *testing.T) {
	t.Parallel()
	p := newPurse(t, nil)
	p.start(0)
	const maxDeposits = 1000
	for i := range maxDeposits + 1 {
		p.deposit(0, strings.Repeat("x", 1+i%60)+string(rune('a'+i/60)), grid.Credit)
	}
	if n := len(money(p.b).Budget.Deposits); n != maxDeposits || p.b.Left() != grid.Credits(1000+maxDeposits+1)*grid.Credit {
		t.Errorf("%d keys are remembered, %v credits left", n, p.b.Left())
	}
}
