package broker

import (
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The VO's budget may be for a certain time: until Config.BudgetUntil, or for a series of
// periods, each of which adds the budget again to what is left. Operators can pay in
// more. All of that is on record. pacing.go makes the budget last for its time.
//

// budget is the current period of the VO's money.
type budget struct {
	opened bool
	first  grid.Time // when the first period began
	period int64     // its number, from 0
	from   grid.Time
	until  grid.Time
	had    grid.Credits // what the account had when the period began, and deposits since
	borne  grid.Credits // the overdraft when the period began

	deposits []facts.Deposited // the latest, in order
}

// maxDeposits bounds the deposits whose keys are remembered. A deposit that is repeated
// after that many others is paid in twice.
const maxDeposits = 1000

// image is what an image keeps of the budget; load reads it back.
func (x *budget) image() facts.BudgetMemory {
	return facts.BudgetMemory{First: x.first, Opened: x.opened, Period: x.period, From: x.from, Until: x.until,
		Had: x.had, Borne: x.borne, Deposits: slices.Clone(x.deposits)}
}

func (x *budget) load(m facts.BudgetMemory) {
	*x = budget{m.Opened, m.First, m.Period, m.From, m.Until, m.Had, m.Borne, slices.Clone(m.Deposits)}
}

// timed reports whether the VO's budget is for a certain time. For a budget without
// periods that matters only if the broker minimises value.
func (c *Config) timed() bool {
	return c.BudgetPeriod > 0 || (c.BudgetUntil > 0 || c.BudgetEnd > 0) && c.byValue()
}

// byValue reports whether the jobs of a batch are placed by their value.
func (c *Config) byValue() bool { return c.Minimize == grid.GoalValue && !c.oneByOne() }

// lasts is when a budget's last period ends, if its first began at an instant, or Never.
func (c *Config) lasts(first grid.Time) grid.Time {
	switch {
	case c.BudgetEnd > 0:
		return c.BudgetEnd
	case c.BudgetUntil > 0:
		return first.Add(c.BudgetUntil)
	}
	return grid.Never
}

// budgetDue is the alarm at the end of a period.
type budgetDue struct{ At grid.Time }

// Kind names the alarm.
func (budgetDue) Kind() string { return "BudgetDue" }

// openBudget begins the budget period that contains now, unless it has begun already or
// there is none, and sets the alarm for the next. Periods missed while the broker was
// down each add the budget too.
func (b *Broker) openBudget(now grid.Time, out *agents.Outbox) {
	c, x := &b.cfg, &b.budget
	if !c.timed() {
		return
	}
	first := now
	if x.opened {
		first = x.first
	}
	f := facts.BudgetOpened{Until: c.lasts(first)}
	if last := f.Until; c.BudgetPeriod > 0 {
		f.Period = x.period
		if now < last {
			f.Period = max(x.period, int64(now.Sub(first)/c.BudgetPeriod))
		}
		f.Until = min(last, first.Add(c.BudgetPeriod*grid.Duration(f.Period+1)))
		if f.Until < last {
			out.Alarm(f.Until, budgetDue{f.Until})
		}
	}
	if f.Credits = min(c.Budget.Times(int(f.Period-x.period)), b.accounts.RoomForPay()); !x.opened {
		f.Credits = b.accounts.In()
	}
	if !x.opened || f.Period != x.period || f.Until != x.until {
		b.record(f, out)
	}
}

// budgetDue begins the next period.
func (b *Broker) budgetDue(now grid.Time, m budgetDue, out *agents.Outbox) {
	if m.At == b.budget.until {
		b.openBudget(now, out)
	}
}

// open applies the begin of a period, or a new end of the current one.
func (x *budget) open(now grid.Time, f facts.BudgetOpened, to *accounts.Accounts) {
	switch {
	case !x.opened:
		to.Begin(f.Credits)
		x.opened, x.first, x.from = true, now, now
	case f.Period == x.period:
		x.until = f.Until
		return
	default:
		x.from = now
		to.PayIn(f.Credits)
	}
	x.period, x.until = f.Period, f.Until
	x.had, x.borne = to.Available(), to.Overdrawn()
}

// deposit handles an operator's deposit.
func (op *operator) deposit(from agents.ID, m agents.Deposit, out *agents.Outbox) {
	if !strings.HasPrefix(string(from), "operator:") {
		op.stray++
		return
	}
	why, again := op.refusesDeposit(m)
	if !again && !why.Refused() {
		op.record(facts.Deposited{Key: m.Key, Credits: m.Credits, Note: m.Note}, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: why})
}

// refusesDeposit says why a deposit is refused. again reports that one with this key was
// already made.
func (op *operator) refusesDeposit(m agents.Deposit) (why grid.Reason, again bool) {
	if i := slices.IndexFunc(op.budget.deposits, func(d facts.Deposited) bool { return d.Key == m.Key }); i >= 0 {
		if d := &op.budget.deposits[i]; d.Credits != m.Credits {
			return reason(grid.Conflict, "deposit %q was of %v credits, not of %v; another deposit needs another key", m.Key, d.Credits, m.Credits), true
		}
		return grid.Reason{}, true
	}
	const maxKey = 64
	switch room := op.accounts.RoomForPay(); {
	case m.Key == "" || len(m.Key) > maxKey:
		return reason(grid.Invalid, "the deposit's key has %d bytes, must have 1 to %d", len(m.Key), maxKey), false
	case len(m.Note) > maxWhy:
		return reason(grid.Invalid, "the deposit's note has %d bytes, must have at most %d", len(m.Note), maxWhy), false
	case m.Credits <= 0:
		return reason(grid.Invalid, "a deposit of %v credits; must be above 0", m.Credits), false
	case m.Credits > room:
		return reason(grid.Invalid, "a deposit of %v credits; %v were paid in so far, and all together must be at most %v", m.Credits, op.accounts.In(), grid.MaxBudget), false
	}
	return grid.Reason{}, false
}

// deposit applies a deposit.
func (x *budget) deposit(f facts.Deposited, to *accounts.Accounts) {
	to.PayIn(f.Credits)
	x.had += f.Credits
	if len(x.deposits) == maxDeposits {
		x.deposits = slices.Delete(x.deposits, 0, 1)
	}
	x.deposits = append(x.deposits, f)
}
