package forecast

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// hourly is a record of a submission at each hour of some days, except while nobody looked: from the
// first to the second instant of each pair, in hours.
func hourly(days int, unseen ...[2]float64) (s Submissions, now grid.Time) {
	at := func(hours float64) grid.Time { return grid.Time(hours * float64(grid.Hour)) }
	next := 0
	for h := range 24*days + 1 {
		now = at(float64(h))
		for next < len(unseen) && at(unseen[next][1]) <= now {
			s.Unseen(at(unseen[next][0]), at(unseen[next][1]))
			next++
		}
		if next == len(unseen) || now <= at(unseen[next][0]) {
			s.Add(int64(h), now, 1, grid.Hour)
		}
	}
	return s, now
}

// A day in which nobody looked is no day without submissions: those that come again are as many each day,
// and at the same hours, as before and after. Up to an hour of a day may be missing.
func TestDays_NobodyLookedIsNotNobodyCame(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		unseen [][2]float64
		days   int // that may come again
		least  int // submissions of each day
	}{
		"always seen":             {nil, 14, 24},
		"down for three days":     {[][2]float64{{300, 372}}, 10, 24}, // the days begin at 288, 312 ...
		"down for half an hour":   {[][2]float64{{300.2, 300.7}}, 14, 24},
		"down for an hour":        {[][2]float64{{300.5, 301.5}}, 14, 23},
		"two half hours of a day": {[][2]float64{{300.4, 300.9}, {302.4, 303.1}}, 13, 24},
		"each night":              {[][2]float64{{292, 294}, {316, 318}, {340, 342}, {364, 366}, {388, 390}, {412, 414}, {436, 438}, {460, 462}}, 6, 24},
		"until just now":          {[][2]float64{{400, 480}}, 10, 24},
	} {
		s, now := hourly(20, c.unseen...)
		if got := s.Days(now); got != c.days {
			t.Errorf("%s: %d days may come again, must be %d", what, got, c.days)
			continue
		}
		for seed := range uint64(40) {
			a := s.arrivals(now, &Runs{}, seeded(seed))
			days := int(a.period / grid.Day)
			if days > c.days || len(a.list) < c.least*days || len(a.list) > 24*days {
				t.Fatalf("%s: %d submissions come again in a round of %d days", what, len(a.list), days)
			}
			last := now
			for range 2 * len(a.list) {
				at, _ := a.next()
				if at <= last || at.Sub(last) > 2*grid.Hour || at%grid.Time(grid.Hour) != 0 {
					t.Fatalf("%s: after %v comes %v", what, last, at)
				}
				last = at
				a.advance()
			}
			if last > now.Add(2*a.period) {
				t.Fatalf("%s: two rounds of %d days last until %v, from %v on", what, days, last, now)
			}
		}
	}
	s, now := hourly(2, [2]float64{2, 47})
	if s.Days(now) != 0 || s.arrivals(now, &Runs{}, seeded(1)) != nil {
		t.Error("nobody has looked for a whole day, and submissions come again")
	}
}

// Times that follow each other are one, however many looks tell of them, and a clock that was set back
// brings nothing out of order.
func TestUnseen_TimesThatFollowEachOtherAreOne(t *testing.T) {
	t.Parallel()
	o := newOracle()
	for _, u := range [][2]grid.Time{{0, 30}, {30, 60}, {60, 90}, {100, 130}, {120, 110}, {125, 140}, {150, 145}} {
		o.Unseen(u[0], u[1])
	}
	if got, want := o.of.Submissions.unseen, []span{{0, 90}, {100, 140}}; !slices.Equal(got, want) {
		t.Errorf("%v, must be %v", got, want)
	}
	if err := newOracle().Load(o.Save()()); err != nil {
		t.Error(err)
	}
}

// Of two weeks in which nobody looked no more is kept than matters.
func TestUnseen_IsForgottenAfterTwoWeeks(t *testing.T) {
	t.Parallel()
	var s Submissions
	for d := range grid.Time(100) {
		s.Unseen(d*grid.Time(grid.Day), d*grid.Time(grid.Day)+grid.Time(grid.Hour))
	}
	if n := len(s.unseen); n != MostDays {
		t.Errorf("%d times are kept, must be %d", n, MostDays)
	}
}
