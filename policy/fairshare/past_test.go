package fairshare

import (
	"encoding/json"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"

	"pgregory.net/rapid"
)

// used is n nodes of a user over [from, to).
type used struct {
	user     int64
	n        int
	from, to grid.Time
}

// naive adds up millisecond by millisecond, and decays at the end of each step.
func naive(list []used, user int64, at grid.Time, step grid.Duration) (sum uint64) {
	for t := grid.Time(-100); t < at; t++ {
		for _, u := range list {
			if u.user == user && u.from <= t && t < u.to {
				sum += uint64(u.n)
			}
		}
		if (t+1)%grid.Time(step) == 0 {
			sum, _ = bits.Mul64(sum, decay)
		}
	}
	return sum
}

// Whatever is noted in which order, and whoever asks meanwhile, what a user has had is
// what adding up each millisecond gives, also after a save and a load.
func TestPast_IsWhatEachMillisecondAddsUpTo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		half := grid.Duration(rapid.SampledFrom([]int{16, 48, 160}).Draw(t, "half-life"))
		p := New(half)
		var list []used
		last := grid.Time(0) // that was asked for
		at := grid.Time(rapid.IntRange(-100, 50).Draw(t, "from"))
		for range rapid.IntRange(1, 20).Draw(t, "events") {
			at += grid.Time(rapid.SampledFrom([]int{0, 1, 3, 10, 40}).Draw(t, "gap"))
			user := int64(rapid.IntRange(-1, 2).Draw(t, "user"))
			running := -1
			for i := range list {
				if list[i].to == grid.Never && rapid.Bool().Draw(t, "this one") {
					running = i
				}
			}
			switch kind := rapid.IntRange(0, 3).Draw(t, "kind"); {
			case kind == 0 && running >= 0:
				list[running].to = at
				p.Ended(list[running].user, list[running].n, at)
			case kind == 1:
				again := New(half)
				b, err := json.Marshal(p.Save())
				var saved []facts.UserShare
				if err != nil || json.Unmarshal(b, &saved) != nil {
					t.Fatal(err)
				}
				again.Load(saved)
				p = again
			default:
				n := rapid.IntRange(1, 9).Draw(t, "nodes")
				list = append(list, used{user, n, at, grid.Never})
				p.Began(user, n, at)
			}
			later := at + grid.Time(rapid.IntRange(0, 30).Draw(t, "later"))
			for _, look := range []grid.Time{max(at, last), max(at, 0), at, later} {
				for user := int64(-1); user < 3; user++ {
					if got, want := p.Of(user, look), naive(list, user, look, half/steps); got != want {
						t.Fatalf("user %d has had %d by %v, millisecond by millisecond %d", user, got, look, want)
					}
				}
			}
			last = later
		}
	})
}

// Somebody has held nodes for so long that each step adds as much as decays. In the middle of a
// step a part of that has been added.
func TestPast_OfWhoRunsForLongIsWhatEachMillisecondAddsUpTo(t *testing.T) {
	t.Parallel()
	for _, step := range []grid.Duration{1, 3, 10} {
		for _, n := range []int{1, 7} {
			p := New(step * steps)
			p.Began(1, n, 2)
			for at, want := grid.Time(2), uint64(0); at < 5000; {
				if want += uint64(n); (at+1)%grid.Time(step) == 0 {
					want, _ = bits.Mul64(want, decay)
				}
				if at++; p.Of(1, at) != want {
					t.Fatalf("%d nodes, step %d: %d by %v, millisecond by millisecond %d", n, step, p.Of(1, at), at, want)
				}
			}
		}
	}
}

// Half of what was had is left after a half-life, whatever its length, to a millionth.
func TestPast_HalfIsLeftAfterAHalfLife(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, half := range []grid.Duration{LeastHalfLife, HalfLife, 3650 * grid.Day} {
		p := New(half)
		at := grid.Time(r.Int64N(int64(half)))
		p.Began(1, 1000, at)
		p.Ended(1, 1000, at.Add(grid.Hour))
		had := p.Of(1, at.Add(grid.Hour))
		for k := 1; k < 5; k++ {
			left := p.Of(1, at.Add(grid.Hour).Add(grid.Duration(k)*half))
			if want := float64(had) * math.Exp2(-float64(k)); math.Abs(float64(left)-want) > 1e-6*want+float64(16*k) {
				t.Errorf("after %d half-lives of %v %d are left of %d", k, half, left, had)
			}
		}
	}
}

// All nodes of a large site for longer than anybody lives are a number all the same, and
// who has had nothing for long has had nothing.
func TestPast_HasBounds(t *testing.T) {
	t.Parallel()
	p := New(grid.MaxDuration)
	p.Began(1, 1_000_000, 0)
	if had := p.Of(1, grid.MaxTime); float64(had) > 1e6*float64(grid.MaxTime) || float64(had) < .6e6*float64(grid.MaxTime) {
		t.Errorf("%d node-milliseconds of 1,000,000 nodes until the last instant", had)
	}
	p = New(LeastHalfLife)
	for user := range int64(most) {
		p.Began(user, 1, 0)
		p.Ended(user, 1, 1)
	}
	p.Began(most, 1, 1)
	if p.Of(most, 10) > 0 {
		t.Error("more users are known than may be")
	}
	later := grid.Time(100 * LeastHalfLife)
	p.Ended(most, 1, later) // it was not known
	p.Began(most+1, 1, later)
	if p.Of(most+1, later+10) != 10 || len(p.users) > 2 {
		t.Errorf("%d of %d users", p.Of(most+1, later+10), len(p.users))
	}
}

// When as many are known as may be, those of whom nothing is left are looked for once a step.
func TestPast_MakesRoomOnceAStep(t *testing.T) {
	t.Parallel()
	p := New(LeastHalfLife)
	for user := range int64(most) {
		p.Began(user, 1, 0)
	}
	known := func(user int64, at grid.Time) bool {
		p.Began(user, 1, at)
		return p.Of(user, at+1) == 1
	}
	if known(most, 0) {
		t.Error("more users are known than may be")
	}
	p.Ended(0, 1, 0) // nothing is left
	if known(most, grid.Time(p.step-1)) || len(p.users) > most {
		t.Error("all are looked through twice in a step")
	}
	if !known(most, grid.Time(p.step)) {
		t.Error("a step later nobody has made room")
	}
	if known(most+1, grid.Time(2*p.step)) {
		t.Error("somebody who holds nodes has made room")
	}
}

// A half-life that is not given is seven days, and what is loaded takes the place of what was.
func TestPast_BeginsAnew(t *testing.T) {
	t.Parallel()
	p, week := New(0), New(7*grid.Day)
	for _, x := range []*Past{p, week} {
		x.Began(1, 4, 0)
		x.Ended(1, 4, grid.Time(grid.Day))
	}
	at := grid.Time(30 * grid.Day)
	if p.Of(1, at) != week.Of(1, at) || p.Of(1, at) == 0 {
		t.Errorf("%d and %d are left", p.Of(1, at), week.Of(1, at))
	}
	p.Load([]facts.UserShare{{User: 2, Had: 9, Since: at}})
	if p.Of(1, at) != 0 || p.Of(2, at) != 9 {
		t.Errorf("user 1 has had %d, user 2 %d", p.Of(1, at), p.Of(2, at))
	}
}

func BenchmarkPast_Of1000Users(b *testing.B) {
	p := New(HalfLife)
	for user := range int64(1000) {
		p.Began(user, 8, grid.Time(user*int64(grid.Hour)))
	}
	at := grid.Time(1100 * grid.Hour)
	b.ResetTimer()
	for b.Loop() {
		for user := range int64(1000) {
			p.Of(user, at)
		}
	}
}
