package grid

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// instants is a profile written out, the free nodes of each instant from 0; the
// last one holds for ever. It is what Profile is tested against.
type instants []int

// span is how many instants are written out; what is drawn ends before.
const span = 40

func (x instants) add(s, e, n int) {
	for t := s; t < min(e, len(x)); t++ {
		x[t] += n
	}
}

func (x instants) at(t int) int { return x[min(t, len(x)-1)] }

func (x instants) least(s, e int) int {
	low := x.at(s)
	for t := s; t < e; t++ {
		low = min(low, x.at(t))
	}
	return low
}

// earliestFit tries every instant; beyond what is written out nothing changes.
func (x instants) earliestFit(t, n, d int) Time {
	for s := t; s <= len(x); s++ {
		if x.least(s, s+d) >= n {
			return Time(s)
		}
	}
	return Never
}

// levels finds the level sets one by one, as their definition says.
func (x instants) levels(from, to int) []Level {
	count := map[[2]int]int{}
	for k := 1; k <= slices.Max(x); k++ {
		for s := from; s < to; s++ {
			if x.at(s) < k {
				continue
			}
			e := s
			for e < to && x.at(e) >= k {
				e++
			}
			count[[2]int{s, e}]++
			s = e
		}
	}
	var list []Level
	for i, n := range count {
		list = append(list, Level{Time(i[0]), Time(i[1]), n})
	}
	slices.SortFunc(list, func(a, b Level) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	return list
}

// drawProfile makes a profile and its twin by random changes, some of which
// last for ever and some of which take what is not there.
func drawProfile(t *rapid.T) (Profile, instants) {
	n := rapid.IntRange(0, 6).Draw(t, "nodes")
	p, x := NewProfile(0, n), make(instants, span)
	x.add(0, span, n)
	for range rapid.IntRange(0, 14).Draw(t, "changes") {
		s := rapid.IntRange(0, span-10).Draw(t, "start")
		e := s + rapid.IntRange(0, 9).Draw(t, "length")
		n := rapid.IntRange(-4, 4).Draw(t, "change")
		if rapid.IntRange(0, 9).Draw(t, "for ever") == 0 {
			p.Add(Time(s), Never, n)
			x.add(s, span, n)
			continue
		}
		p.Add(Time(s), Time(e), n)
		x.add(s, e, n)
	}
	return p, x
}

// checkOrder looks at the form that every profile keeps.
func checkOrder(t *rapid.T, p Profile) {
	if p[len(p)-1].At >= Never {
		t.Fatalf("steps %v: the last one, which holds for ever, never comes", p)
	}
	for i := 1; i < len(p); i++ {
		if p[i].At <= p[i-1].At || p[i].Free == p[i-1].Free {
			t.Fatalf("steps %v: not in order of time, or neighbours are equal", p)
		}
	}
}

func TestProfile_EqualsItsInstants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		checkOrder(t, p)
		for s := range span + 5 {
			if got := p.At(Time(s)); got != x.at(s) {
				t.Fatalf("%v: %d free at %d, want %d", p, got, s, x.at(s))
			}
		}
		s := rapid.IntRange(0, span).Draw(t, "s")
		e := s + rapid.IntRange(1, span).Draw(t, "d")
		if got, want := p.Min(Time(s), Time(e)), x.least(s, e); got != want {
			t.Fatalf("%v: at least %d free over [%d, %d), want %d", p, got, s, e, want)
		}
	})
}

func TestProfile_LeastIsTheLesserAtEachInstant(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		q, y := drawProfile(t)
		from := rapid.IntRange(0, span-1).Draw(t, "from")
		p.From(Time(from))
		got := p.Least(q)
		checkOrder(t, got)
		for at := from; at < 2*span; at++ {
			if want := min(x.at(at), y.at(at)); got.At(Time(at)) != want {
				t.Fatalf("%v and %v: %v has %d at %d, want %d", p, q, got, got.At(Time(at)), at, want)
			}
		}
	})
}

func TestProfile_EarliestFitIsTheEarliest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		at := rapid.IntRange(0, span).Draw(t, "from")
		n, d := rapid.IntRange(1, 8).Draw(t, "n"), rapid.IntRange(1, 15).Draw(t, "d")
		if got, want := p.EarliestFit(Time(at), n, Duration(d)), x.earliestFit(at, n, d); got != want {
			t.Fatalf("%v: %d nodes for %d from %d on fit at %v, want %v", p, n, d, at, got, want)
		}
	})
}

func TestProfile_GivingBackUndoesTaking(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawProfile(t)
		before := p.Clone()
		s := Time(rapid.IntRange(0, span).Draw(t, "s"))
		e := s + Time(rapid.IntRange(0, span).Draw(t, "d"))
		n := rapid.IntRange(-5, 5).Draw(t, "n")
		q := p.Clone()
		q.Add(s, e, n)
		if !slices.Equal(p, before) {
			t.Fatalf("changing a clone changed the profile to %v", p)
		}
		if q.Add(s, e, -n); !slices.Equal(q, before) {
			t.Fatalf("%v became %v by adding %d over [%v, %v) and taking it away", before, q, n, s, e)
		}
	})
}

func TestProfile_FromForgetsOnlyThePast(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		from := rapid.IntRange(0, span+5).Draw(t, "from")
		p.From(Time(from))
		checkOrder(t, p)
		if p[0].At != Time(from) {
			t.Fatalf("opens at %v, want %d", p[0].At, from)
		}
		for s := from; s < span+10; s++ {
			if got := p.At(Time(s)); got != x.at(s) {
				t.Fatalf("%v from %d: %d free at %d, want %d", p, from, got, s, x.at(s))
			}
		}
		p.Add(Time(from), Time(from)+3, -1) // still usable
		checkOrder(t, p)
	})
}

func TestProfile_RefusesToChangeThePast(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("nodes were taken before the profile's first step")
		}
	}()
	p := NewProfile(10, 4)
	p.Add(9, 12, -1)
}

// The free count 2, 3, 1 over three instants: one node is free throughout, one
// over the first two, one over the second only.
func TestLevels_OfASmallProfile(t *testing.T) {
	t.Parallel()
	p := Profile{{0, 2}, {1, 3}, {2, 1}, {3, 0}}
	want := []Level{{0, 3, 1}, {0, 2, 1}, {1, 2, 1}}
	if got := p.Levels(nil, nil, 0, 10); !slices.Equal(got, want) {
		t.Errorf("levels %v, want %v", got, want)
	}
	if got := p.Levels(want, nil, 1, 1); !slices.Equal(got, want) {
		t.Errorf("an empty interval has levels: %v", got)
	}
	alike := NewProfile(0, 128)
	if got := alike.Levels(nil, nil, 5, 7); !slices.Equal(got, []Level{{5, 7, 128}}) {
		t.Errorf("alike nodes are not carried as one level: %v", got)
	}
}

func TestLevels_EqualTheirDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		from := rapid.IntRange(0, span).Draw(t, "from")
		to := from + rapid.IntRange(0, span).Draw(t, "horizon")
		before := []Level{{99, 100, 7}}
		got := p.Levels(slices.Clone(before), nil, Time(from), Time(to))
		if !slices.Equal(got[:1], before) {
			t.Fatalf("what the list held became %v", got[:1])
		}
		if want := x.levels(from, to); !slices.Equal(got[1:], want) {
			t.Fatalf("%v over [%d, %d): levels %v, want %v", p, from, to, got[1:], want)
		}
	})
}

func TestLevels_CoverIffTheNodesAreFree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p, x := drawProfile(t)
		list := p.Levels(nil, nil, 0, span)
		for s := range span {
			for _, d := range []int{1, 2, 5, 11} {
				if s+d > span {
					continue
				}
				covered := 0
				for _, l := range list {
					if l.Start <= Time(s) && l.End >= Time(s+d) {
						covered += l.Count
					}
				}
				if free := max(0, x.least(s, s+d)); covered != free {
					t.Fatalf("%v: levels cover [%d, %d) %d times, %d nodes are free", p, s, s+d, covered, free)
				}
			}
		}
	})
}

// saw is a profile of many steps, as a busy site of that many jobs has it.
func saw(jobs int) Profile {
	p := NewProfile(0, jobs)
	for i := range jobs {
		s := Time(i * 37 % jobs * 100)
		p.Add(s, s+Time(100+i*53%900), -1-i%3)
	}
	return p
}

func BenchmarkProfile_Add(b *testing.B) {
	for _, jobs := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			p := saw(jobs)
			for i := 0; b.Loop(); i++ {
				s := Time(i % jobs * 100)
				p.Add(s, s+250, -1)
				p.Add(s, s+250, 1)
			}
		})
	}
}

func BenchmarkProfile_EarliestFit(b *testing.B) {
	for _, jobs := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			p := saw(jobs)
			for b.Loop() {
				if p.EarliestFit(0, jobs, 1000) == Never {
					b.Fatal("all nodes come free at the end")
				}
			}
		})
	}
}

func BenchmarkProfile_Levels(b *testing.B) {
	for _, jobs := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("jobs=%d", jobs), func(b *testing.B) {
			p := saw(jobs)
			var list []Level
			for b.Loop() {
				list = p.Levels(list[:0], nil, 0, Time(jobs*100))
			}
			b.ReportMetric(float64(len(list)), "levels")
		})
	}
}
