package accounts

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

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

// Schedule is the time that a VO's budget is for, in one period or several.
type Schedule struct {
	Credits grid.Credits  // of each period
	Every   grid.Duration // the length of a period; 0: there is but one
	For     grid.Duration // how long the budget must last, from when it is first opened; 0: see End
	End     grid.Time     // until when it must last; 0: see For. Both 0: for ever
}

// last is when the last period ends, if the first began at an instant, or Never.
func (s *Schedule) last(first grid.Time) grid.Time {
	switch {
	case s.End > 0:
		return s.End
	case s.For > 0:
		return first.Add(s.For)
	}
	return grid.Never
}

// Open is the budget period that contains now. begins reports whether that is yet to be
// recorded: the period has not begun, or it ends at another time. more reports whether
// another period follows. Periods that were missed each add the budget too.
func (a *Accounts) Open(now grid.Time, s Schedule) (f facts.BudgetOpened, begins, more bool) {
	x, first := &a.budget, now
	if x.opened {
		first = x.first
	}
	f.Until = s.last(first)
	if last := f.Until; s.Every > 0 {
		f.Period = x.period
		if now < last {
			f.Period = max(x.period, int64(now.Sub(first)/s.Every))
		}
		f.Until = min(last, first.Add(s.Every*grid.Duration(f.Period+1)))
		more = f.Until < last
	}
	if f.Credits = min(s.Credits.Times(int(f.Period-x.period)), a.roomForPay()); !x.opened {
		f.Credits = a.In()
	}
	return f, !x.opened || f.Period != x.period || f.Until != x.until, more
}

// Opened reports whether the budget is for a certain time, and if so when its current
// period ends.
func (a *Accounts) Opened() (until grid.Time, opened bool) { return a.budget.until, a.budget.opened }

// ApplyOpened applies the begin of a period, or a new end of the current one.
func (a *Accounts) ApplyOpened(now grid.Time, f facts.BudgetOpened) {
	x := &a.budget
	switch {
	case !x.opened:
		a.begin(f.Credits)
		x.opened, x.first, x.from = true, now, now
	case f.Period == x.period:
		x.until = f.Until
		return
	default:
		x.from = now
		a.payIn(f.Credits)
	}
	x.period, x.until = f.Period, f.Until
	x.had, x.borne = a.Available(), a.Overdrawn()
}

// RefusesDeposit says why a deposit is refused; its note may have maxNote bytes. again
// reports that one with this key was already made.
func (a *Accounts) RefusesDeposit(d facts.Deposited, maxNote int) (why grid.Reason, again bool) {
	if i := slices.IndexFunc(a.budget.deposits, func(old facts.Deposited) bool { return old.Key == d.Key }); i >= 0 {
		if old := &a.budget.deposits[i]; old.Credits != d.Credits {
			return grid.Because(grid.Conflict, "deposit %q was of %v credits, not of %v; another deposit needs another key", d.Key, old.Credits, d.Credits), true
		}
		return grid.Reason{}, true
	}
	const maxKey = 64
	switch room := a.roomForPay(); {
	case d.Key == "" || len(d.Key) > maxKey:
		return grid.Because(grid.Invalid, "the deposit's key has %d bytes, must have 1 to %d", len(d.Key), maxKey), false
	case len(d.Note) > maxNote:
		return grid.Because(grid.Invalid, "the deposit's note has %d bytes, must have at most %d", len(d.Note), maxNote), false
	case d.Credits <= 0:
		return grid.Because(grid.Invalid, "a deposit of %v credits; must be above 0", d.Credits), false
	case d.Credits > room:
		return grid.Because(grid.Invalid, "a deposit of %v credits; %v were paid in so far, and all together must be at most %v", d.Credits, a.In(), grid.MaxBudget), false
	}
	return grid.Reason{}, false
}

// Deposit applies a deposit.
func (a *Accounts) Deposit(f facts.Deposited) {
	x := &a.budget
	a.payIn(f.Credits)
	x.had += f.Credits
	if len(x.deposits) == maxDeposits {
		x.deposits = slices.Delete(x.deposits, 0, 1)
	}
	x.deposits = append(x.deposits, f)
}
