package broker

import (
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/accounts"
	"github.com/bourse-grid/bourse/broker/transaction"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The VO's budget may be for a certain time: until Config.BudgetUntil, or for a series of
// periods, each of which adds the budget again to what is left. Operators can pay in
// more. All of that is on record. The accounts make the budget last for its time.

// timed reports whether the VO's budget is for a certain time. For a budget without
// periods that matters only if the broker minimises value.
func (c *Config) timed() bool {
	return c.BudgetPeriod > 0 || (c.BudgetUntil > 0 || c.BudgetEnd > 0) && c.byValue()
}

// byValue reports whether the jobs of a batch are placed by their value.
func (c *Config) byValue() bool {
	return c.Minimize == grid.GoalValue && !c.oneByOne() && !c.Strategy.Asks()
}

// budgetDue is the alarm at the end of a period.
type budgetDue struct{ At grid.Time }

// Kind names the alarm.
func (budgetDue) Kind() string { return "BudgetDue" }

// openBudget begins the budget period that contains now, unless it has begun already or
// there is none, and sets the alarm for the next.
func (b *Broker) openBudget(now grid.Time, out *agents.Outbox) {
	c := &b.mem.cfg
	if !c.timed() {
		return
	}
	f, begins, more := b.mem.Accounts.Open(now, accounts.Schedule{Credits: c.Budget, Every: c.BudgetPeriod, For: c.BudgetUntil, End: c.BudgetEnd})
	if more {
		out.Alarm(f.Until, budgetDue{f.Until})
	}
	if begins {
		b.mem.Record(f, out)
	}
}

// budgetDue begins the next period.
func (b *Broker) budgetDue(now grid.Time, m budgetDue, out *agents.Outbox) {
	if until, _ := b.mem.Accounts.Opened(); m.At == until {
		b.openBudget(now, out)
	}
}

// deposit handles an operator's deposit.
func (op *operator) deposit(from agents.ID, m agents.Deposit, out *agents.Outbox) {
	if !strings.HasPrefix(string(from), "operator:") {
		op.stray++
		return
	}
	f := facts.Deposited{Key: m.Key, Credits: m.Credits, Note: m.Note}
	why, again := op.Accounts.RefusesDeposit(f, transaction.MaxWhy)
	if !again && !why.Refused() {
		op.Record(f, out)
	}
	out.Send(from, agents.OperatorReply{To: m.Kind(), Reason: why})
}
