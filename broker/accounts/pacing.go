package accounts

import (
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// pacing is what recent cycles tell the next one: how long a job left without a window must
// expect to wait for its next chance, and what a credit weighs.
type pacing struct {
	looked int64        // jobs that recent cycles looked at, in thousandths; each cycle counts 7/8 of the next
	failed int64        // of those, the jobs that got nothing, or nothing nearly as good as alone
	weight grid.Credits // of a credit; 0: it counts at face value
}

// Closed takes account of a cycle that has closed.
func (a *Accounts) Closed(f facts.CycleClosed) { a.pacing.closed(f) }

// Wait is how long a job must expect to wait for a window as good as it could have alone: a
// cycle divided by the share of jobs that get one, at most most.
func (a *Accounts) Wait(cycle, most grid.Duration) grid.Duration { return a.pacing.wait(cycle, most) }

// Weight is what a credit weighs since the last cycle; 0: it counts at face value.
func (a *Accounts) Weight() grid.Credits { return a.pacing.weight }

// Weigh is what a credit weighs from now on, and Pace why; 0: it counts at face value.
func (a *Accounts) Weigh(now grid.Time) grid.Credits { return a.Pace(now).weigh(now, a.pacing.weight) }

func (p *pacing) closed(f facts.CycleClosed) {
	p.looked += 1000*int64(f.Batch) - p.looked/8
	p.failed += 1000*int64(min(f.Batch, max(0, f.Postponed-f.Deferred)+f.Behind)) - p.failed/8
	p.weight = f.Weight
}

// image is the pacing as an image keeps it.
func (p *pacing) image() facts.Pacing {
	return facts.Pacing{Looked: p.looked, Failed: p.failed, Weight: p.weight}
}

// load reads what an image has kept.
func (p *pacing) load(f facts.Pacing) { *p = pacing{f.Looked, f.Failed, f.Weight} }

func (p *pacing) wait(cycle, most grid.Duration) grid.Duration {
	found := p.looked - p.failed
	if found <= 0 || int64(cycle) > int64(most)*found/max(1, p.looked) {
		if p.looked == 0 {
			return min(cycle, most)
		}
		return most
	}
	return grid.Duration(int64(cycle) * p.looked / found)
}

// A VO's money must last for its time. If the foreseen spending exceeds it, a credit weighs
// 1 + mu when a window's loss is computed (policy/placement). Then the least valuable jobs
// of the whole time go without a window, rather than the last to come:
//
//	mu = gain x (foreseen/had - 1 - doubt), 0 <= mu <= most
//
// foreseen is what would be used in the end if the whole time went like the part that has
// elapsed. Early on that part says little. So a fiftieth of the time is counted as spent to
// plan, the doubt is six tenths of the share of time left, and nothing is foreseen before a
// fiftieth has elapsed. When mu has fallen back to 0 and foreseen/had is still at least
// 9/10, a credit weighs exactly 1, and jobs whose window would lose more than their budget
// are still left waiting.
const (
	gain      = 30
	plan      = million / 50
	doubt     = million * 6 / 10
	mostMu    = 3 * million
	stillNear = million * 9 / 10

	million = 1_000_000
)

// Pace is how the VO's budget lasts for its time.
type Pace struct {
	From, Until grid.Time
	Had         grid.Credits // what the account had when that time began, and deposits since
	Used        grid.Credits // of that, what is spent or promised, net of refunds
	Known       bool         // enough time has elapsed to foresee the spending
	Foreseen    grid.Credits // used in the end, if the whole time goes like the part that has elapsed
	Weight      grid.Credits // of a credit in the next cycle
}

// Words says what a credit weighs, and why.
func (p Pace) Words() grid.Phrase {
	if !p.Known {
		return grid.Say("%v of %v credits used: a credit weighs %v", p.Used, p.Had, p.Weight)
	}
	return grid.Say("spending foreseen %v of %v credits by %v: a credit weighs %v", p.Foreseen/grid.Credit*grid.Credit, p.Had, p.Until, p.Weight)
}

// Pace is how the budget of the current period lasts, seen from an instant in it.
func (a *Accounts) Pace(now grid.Time) Pace {
	x := &a.budget
	p := Pace{From: x.from, Until: x.until, Had: x.had, Weight: grid.Credit}
	p.Used = x.had - a.Available() + a.Overdrawn() - x.borne
	all := x.until.Sub(x.from)
	elapsed := min(now.Sub(x.from), all)
	if p.Known = x.opened && x.until < grid.Never && all > 0 && elapsed >= all/50; p.Known {
		p.Foreseen = max(0, p.Used).Over(int64(all), int64(elapsed))
	}
	return p
}

// weigh is what a credit weighs from now on, given what it weighed before; 0: it counts at
// face value, and no job is left waiting for lack of money.
func (p Pace) weigh(now grid.Time, before grid.Credits) grid.Credits {
	if !p.Known || p.Had <= 0 {
		return 0
	}
	all := p.Until.Sub(p.From)
	elapsed := int64(grid.Credits(min(now.Sub(p.From), all)).Over(million, int64(all)))
	used := int64(min(1000*million, max(0, p.Used).Over(million, int64(p.Had))))
	foreseen := (used + plan) * million / (elapsed + plan)
	switch mu := gain * (foreseen - million - doubt*(million-elapsed)/million); {
	case mu > 0:
		return grid.Credit + grid.Credits(min(mu, mostMu)/1000*1000) // in thousandths, like facts.Terms
	case before > 0 && foreseen >= stillNear:
		return grid.Credit
	}
	return 0
}
