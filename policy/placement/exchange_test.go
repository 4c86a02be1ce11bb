package placement

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// In a job's way are those of no higher priority that have parts of what it would take
// alone, who have most of it first; who has no window any more is in nobody's way.
func TestInTheWay_WhoHasMostFirst(t *testing.T) {
	t.Parallel()
	jobs := slices.Repeat([]Job{asks(1)}, 8)
	jobs[5].Priority = 1
	p := New(free(64), jobs, Unlimited)
	at := func(count int, start, end grid.Time) Window {
		return Window{Window: grid.Window{Start: start, Parts: []grid.Part{{Count: int32(count), Start: start, End: end}}}}
	}
	p.states[0] = Choice{Alone: at(10, 0, 2*hour), Window: at(10, 0, 2*hour), Placed: true}
	for i, w := range []Window{at(1, 0, hour), at(4, 0, hour), at(2, hour, 3*hour), at(9, 2*hour, 4*hour), at(9, 0, hour), at(9, 0, hour), at(3, 0, 2*hour)} {
		p.states[1+i] = Choice{Window: w, Placed: i != 5}
	}
	if got := p.inTheWay(0); !slices.Equal(got, []int{7, 2, 3, 1}) {
		t.Errorf("%v, want 7 with 6 node-hours, 2 with 4, 3 with 2, 1 with 1", got)
	}
}

// Without a window a job that takes what there is loses all of its budget and the time until
// the market ends; one that can wait, what it would lose by that; one that has no window
// at all loses nothing more.
func TestLost_OfAJobWithoutAWindow(t *testing.T) {
	t.Parallel()
	alone := Choice{Possible: true, Alone: Window{Loss: 5 * grid.Credit}}
	waits := alone
	waits.Wait, waits.Left = TooFar, Window{Loss: 6 * grid.Credit}
	for _, c := range []struct {
		state    Choice
		patience grid.Duration
		want     grid.Credits
	}{
		{alone, 0, 7*grid.Credit + 24*grid.Credit},
		{alone, 2 * grid.Hour, 5*grid.Credit + 2*grid.Credit},
		{waits, grid.Hour / 2, 5*grid.Credit + grid.Credit/2},
		{waits, 2 * grid.Hour, 6 * grid.Credit},
		{waits, 0, 6 * grid.Credit},
		{Choice{}, 0, 0},
	} {
		j := asks(1)
		j.Budget, j.Patience = 7*grid.Credit, c.patience
		p := New(free(1), []Job{j}, Unlimited)
		p.states[0] = c.state
		if got := p.lost(0); got != c.want {
			t.Errorf("%+v, patience %v: loses %v, want %v", c.state, c.patience, got, c.want)
		}
	}
}

// A batch may take all the time that it has.
func TestChoose_AWindowMayTakeAllTheTime(t *testing.T) {
	t.Parallel()
	for time, want := range map[grid.Duration]bool{grid.Hour: true, grid.Hour - 1: false} {
		if c := New(free(1), []Job{asks(1)}, Limits{Cost: grid.MaxCredits, Time: time}).Choose(nil)[0]; c.Placed != want {
			t.Errorf("an hour of %v: placed %v", time, c.Placed)
		}
	}
}

// When the exchange ends nobody who is worse off than alone gains by another try: as few as
// three are never given up for too many in vain, and the batch has jobs enough for all
// tries.
func TestExchange_EndsWhereNobodyGains(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawMarket(t, 3)
		n := len(m.Groups)
		m.Groups = append(m.Groups, grid.Group{Site: "aside", Name: "aside", Nodes: 20, Performance: grid.Unit})
		m.Admissible = append(m.Admissible, grid.NewProfile(0, 20))
		m.Clear = append(m.Clear, grid.NewProfile(0, 20))
		jobs := drawJobs(t, 3)
		few := len(jobs)
		for i := range jobs {
			jobs[i].Barred = append(make([]bool, n), true)
		}
		for range 20 {
			j := asks(1)
			j.Barred = append(slices.Repeat([]bool{true}, n), false)
			jobs = append(jobs, j)
		}
		p := New(m, jobs, Unlimited)
		p.place()
		for i := range few {
			if p.worseOff(i) && p.retry(i) {
				t.Fatalf("job %d of %d gains by one try more", i, few)
			}
		}
	})
}

// contest is a batch of groups of jobs, each with two sites of its own that nobody else may
// use, the earlier ones worth more though the later ones come first. In a group g a short job
// takes the cheap nodes and a long one waits an hour for them, until one try exchanges them:
// the long one loses no more, the short one takes the dear nodes. In a group t two long ones
// wait, and are both better off by the same try. In a group v one of two equal jobs waits an
// hour, and no try gains.
func contest(groups string) (*Market, []Job) {
	m := free(slices.Repeat([]int{4}, 2*len(groups))...)
	var jobs []Job
	for k, kind := range groups {
		scale := grid.Credits(len(groups) - k)
		m.Groups[2*k].Price *= grid.Price(scale)
		m.Groups[2*k+1].Price *= grid.Price(10 * scale)
		job := func(nodes int, length grid.Duration, worth grid.Credits) {
			j := asks(nodes)
			j.Length, j.Worth, j.Priority = length, worth*scale*grid.Credit, k
			j.Barred = slices.Repeat([]bool{true}, 2*len(groups))
			j.Barred[2*k], j.Barred[2*k+1] = false, kind == 'v'
			jobs = append(jobs, j)
		}
		switch kind {
		case 'g':
			job(1, grid.Hour, 30)
			job(4, 4*grid.Hour, 29)
		case 't':
			job(3, grid.Hour, 30)
			job(2, 4*grid.Hour, 29)
			job(2, 4*grid.Hour, 28)
		case 'v':
			job(4, grid.Hour, 29)
			job(4, grid.Hour, 29)
		}
	}
	return m, jobs
}

// exchanged are the groups of a contest whose short job has left the cheap nodes.
func exchanged(m *Market, jobs []Job) (list []int) {
	for _, c := range New(m, jobs, Unlimited).Choose(nil) {
		if at := sites(c); at[0]%2 == 1 {
			list = append(list, int(at[0])/2)
		}
	}
	return list
}

// The worst off come first, and after five in a row who do not gain nobody else is tried. One
// who gains begins the count again; one who has gained by another's try is not tried.
func TestExchange_GivesUpAfterFiveInARowInVain(t *testing.T) {
	t.Parallel()
	for groups, want := range map[string][]int{"vvvvg": {4}, "vvvvvg": nil, "gvvvvvg": {0}, "vvvgvvvg": {3, 7}, "vvvvgvvvvg": {4, 9}, "vvvvgvvvvvg": {4},
		"tvvvvg": {0, 5}, "tvvvvvg": {0}} {
		if got := exchanged(contest(groups)); !slices.Equal(got, want) {
			t.Errorf("%s: groups %v are exchanged, want %v", groups, got, want)
		}
	}
}

// A batch has five hundred tries, however much more could be gained.
func TestExchange_TriesFiveHundredTimes(t *testing.T) {
	t.Parallel()
	m, jobs := contest(strings.Repeat("g", maxTries+2))
	if got := exchanged(m, jobs); len(got) != maxTries || got[maxTries-1] != maxTries-1 {
		t.Errorf("%d groups are exchanged, want the first %d", len(got), maxTries)
	}
}

// Whoever a job takes the place of is placed again in the order of what they lose beyond what
// they would lose alone, not of how much they had of it. The worst off takes both nodes for
// two hours; of the other two the one that had waited takes the only node that is left then.
func TestRetry_WhoLosesMostIsPlacedFirst(t *testing.T) {
	t.Parallel()
	m := free(2)
	m.Admissible[0] = grid.Profile{{At: 0, Free: 2}, {At: 2 * hour, Free: 1}, {At: 4 * hour, Free: 2}}
	m.Clear = m.Admissible
	worst, long, late := asks(2), asks(1), asks(1)
	worst.Worth, worst.Length, long.Length = 5*grid.Credit, 2*grid.Hour, 2*grid.Hour
	p := New(m, []Job{worst, long, late}, Unlimited)
	for i := range p.jobs {
		p.states[i].Alone, p.states[i].Possible = p.best(i)
	}
	for i, start := range []grid.Time{4 * hour, 0, hour} {
		w := p.states[i].Alone
		w.Parts = slices.Clone(w.Parts)
		for k := range w.Parts {
			w.Parts[k].Start, w.Parts[k].End = start, start+w.Parts[k].End-w.Start
		}
		w.Start = start
		w.Loss = p.loss(&p.jobs[i], w.Price, w.Start, w.End())
		p.take(i, &w, 1)
	}
	if !p.retry(0) {
		t.Fatal("the worst off gains nothing")
	}
	for i, want := range []grid.Time{0, 3 * hour, 2 * hour} {
		if got := p.states[i].Window.Start; got != want {
			t.Errorf("job %d starts at %v, want %v", i, got, want)
		}
	}
}

// Beyond what it would lose alone a job loses what its window loses more, and nothing if
// there is no window for it at all.
func TestExcess_IsBeyondWhatIsLostAlone(t *testing.T) {
	t.Parallel()
	placed := Choice{Possible: true, Placed: true, Alone: Window{Loss: 500}, Window: Window{Loss: 505}}
	same, trifling, gone := placed, placed, placed
	same.Window.Loss, trifling.Window.Loss, gone.Possible = 500, 506, false
	for _, c := range []struct {
		state Choice
		want  grid.Credits
		worse bool
	}{{same, 0, false}, {placed, 5, false}, {trifling, 6, true}, {gone, 0, false}} {
		p := New(free(1), []Job{asks(1)}, Unlimited)
		p.states[0] = c.state
		if got := p.excess(0); got != c.want || p.worseOff(0) != c.worse {
			t.Errorf("%+v: %v beyond, worse off %t", c.state, int64(got), p.worseOff(0))
		}
	}
}
