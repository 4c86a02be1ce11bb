package backfill

import (
	"slices"
	"testing"

	"bourse"
)

// figure1 is the layout of figure 1 of Singh, Kesselman and Deelman: five
// processors, A and B running, R reserved, C and D waiting. Times in seconds.
func figure1(p Policy) *State {
	sec := func(s int64) bourse.Time { return bourse.Time(s) * bourse.Time(bourse.Second) }
	free := bourse.NewProfile(0, 5)
	free.Add(0, sec(2), -4)
	free.Add(0, sec(3), -1)
	free.Add(sec(4), sec(6), -1)
	return &State{
		Nodes: 5, Policy: p, Free: free,
		Running:  []Running{{ID: 1, Nodes: 4, End: sec(2)}, {ID: 2, Nodes: 1, End: sec(3)}},
		Reserved: []Reserved{{ID: 9, Nodes: 1, Start: sec(4), End: sec(6)}},
		Queue: []Queued{
			{ID: 3, Nodes: 2, Estimate: 5 * bourse.Second, Promise: bourse.Never},
			{ID: 4, Nodes: 2, Estimate: 3 * bourse.Second, Promise: bourse.Never},
		},
	}
}

func TestPlan_FigureOneStartsCAndDAtTwo(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{EASY, Conservative, FirstFit, FCFS, {Backfill: true, Reserve: 2}} {
		if got := Plan(figure1(p)); !slices.Equal(got, []bourse.Time{2000, 2000}) {
			t.Errorf("%v: planned starts %v, want 2 and 2", p, got)
		}
	}
}

// A reservation of two processors for three seconds delays C and D together by
// 6, 8, 10, 0, 0, 0 node-seconds at starts 2 .. 7.
func TestPlan_FigureOneDelaysByReservation(t *testing.T) {
	t.Parallel()
	for _, p := range []Policy{EASY, Conservative} {
		for i, want := range []bourse.Duration{6, 8, 10, 0, 0, 0} {
			s := figure1(p)
			base := Plan(s)
			at := bourse.Time(2+i) * 1000
			s.Free.Add(at, at+3000, -2)
			s.Reserved = append(s.Reserved, Reserved{ID: 10, Nodes: 2, Start: at, End: at + 3000})
			var sum bourse.Duration
			for k, v := range Plan(s) {
				sum += max(0, v.Sub(base[k])) * bourse.Duration(s.Queue[k].Nodes)
			}
			if sum != want*bourse.Second {
				t.Errorf("%v, start %v: delay %v node-seconds, want %v", p, at, sum, want)
			}
		}
	}
}

func TestParsePolicy_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fcfs", "first-fit", "easy", "conservative", "reserve=7"} {
		p, err := ParsePolicy(name)
		if err != nil || p.String() != name {
			t.Errorf("ParsePolicy(%q) = %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "EASY", "reserve=", "reserve=-1", "reserve=x", "reserve=99999999999"} {
		if _, err := ParsePolicy(name); err == nil {
			t.Errorf("ParsePolicy(%q) gave no error", name)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{"fcfs", "first-fit", "easy", "conservative", "reserve=1", "reserve=+2", "reserve=1073741824"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePolicy(s)
		if err != nil {
			return
		}
		if again, err := ParsePolicy(p.String()); err != nil || again != p {
			t.Errorf("%q reads as %+v, its name %q as %+v, %v", s, p, p, again, err)
		}
	})
}
