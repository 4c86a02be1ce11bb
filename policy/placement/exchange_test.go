package placement

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse"
)

// In a job's way are those of no higher priority that have parts of what it would take
// alone, who have most of it first; who has no window any more is in nobody's way.
func TestInTheWay_WhoHasMostFirst(t *testing.T) {
	t.Parallel()
	jobs := slices.Repeat([]Job{asks(1)}, 8)
	jobs[5].Priority = 1
	p := New(free(64), jobs, Unlimited)
	at := func(count int, start, end bourse.Time) Window {
		return Window{Window: bourse.Window{Start: start, Parts: []bourse.Part{{Count: int32(count), Start: start, End: end}}}}
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
	alone := Choice{Possible: true, Alone: Window{Loss: 5 * bourse.Credit}}
	waits := alone
	waits.Wait, waits.Left = TooFar, Window{Loss: 6 * bourse.Credit}
	for _, c := range []struct {
		state    Choice
		patience bourse.Duration
		want     bourse.Credits
	}{
		{alone, 0, 7*bourse.Credit + 24*bourse.Credit},
		{alone, 2 * bourse.Hour, 5*bourse.Credit + 2*bourse.Credit},
		{waits, bourse.Hour / 2, 5*bourse.Credit + bourse.Credit/2},
		{waits, 2 * bourse.Hour, 6 * bourse.Credit},
		{waits, 0, 6 * bourse.Credit},
		{Choice{}, 0, 0},
	} {
		j := asks(1)
		j.Budget, j.Patience = 7*bourse.Credit, c.patience
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
	for time, want := range map[bourse.Duration]bool{bourse.Hour: true, bourse.Hour - 1: false} {
		if c := New(free(1), []Job{asks(1)}, Limits{Cost: bourse.MaxCredits, Time: time}).Choose(nil)[0]; c.Placed != want {
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
		m.Groups = append(m.Groups, bourse.Group{Site: "aside", Name: "aside", Nodes: 20, Performance: bourse.Unit})
		m.Admissible = append(m.Admissible, bourse.NewProfile(0, 20))
		m.Clear = append(m.Clear, bourse.NewProfile(0, 20))
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
