package managed

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/forecast"
)

// shelf keeps what was learned, in memory, and makes the text only when it is asked for.
type shelf struct {
	text  []byte
	later func() []byte
	times int
	why   error
}

func (s *shelf) Last() []byte {
	if s.later != nil {
		s.text, s.later = s.later(), nil
	}
	return s.text
}
func (s *shelf) Keep(text func() []byte) { s.later, s.times = text, s.times+1 }
func (s *shelf) Spoilt(why error)        { s.text, s.why = nil, why }

// learning is the configuration of a cluster whose forecasts are kept.
func learning(s *shelf) Config {
	cfg := config(true, nodeNames...)
	cfg.Kept = s
	cfg.Oracle = func(string) Oracle {
		return forecast.NewOracle(func(stream uint64) forecast.Random { return rand.New(rand.NewPCG(1, stream)) })
	}
	return cfg
}

// A site that restarts goes on where it was: it says what it would have said, and is calibrated.
func TestRecall_ARestartedSiteHasForgottenNothing(t *testing.T) {
	t.Parallel()
	shown, _ := queueOfAna()
	ask := []grid.Queueing{{Group: "main", Nodes: 4, Limit: h}}
	run := func(again int) (grid.BestEffort, []byte) {
		s := &shelf{}
		b := New(learning(s))
		for k := 0; k < 2*anaJobs-1; k++ { // each eighth look is kept
			at := 1000 + grid.Duration(k)*30_000
			b.shows(dawn.Add(at), shown(at)...)
			if again > 0 && k%again == 0 {
				b = New(learning(s))
				b.shows(dawn.Add(at), shown(at)...)
			}
		}
		if s.why != nil {
			t.Error(s.why)
		}
		return b.BestEffort(ask)[0], s.Last()
	}
	want, learned := run(0)
	if !want.Calibrated {
		t.Fatalf("%+v", want)
	}
	if got, has := run(40); got != want || !bytes.Equal(has, learned) {
		t.Errorf("after restarts it is %+v, must be %+v", got, want)
	}
}

// Of what happened while nobody looked for long, neither how long jobs ran nor when others came is
// known; that one waits no more is.
func TestRecall_WhatHappenedInALongGapIsNotLearned(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	ana, ben, cem := runsFrom(waitsFor("7", "ana", 0), 0), waitsFor("8", "ben", 1000), waitsFor("9", "cem", 60_000)
	b.shows(dawn.Add(2000), ana, ben)
	b.shows(dawn.Add(2000+mostGap+1), cem)
	if want := []string{"ana is there", "ana starts 0", "ben is there", "nobody looks from 2 to 302.001", "cem is there", "ana leaves", "ben leaves"}; !slices.Equal(o.told, want) {
		t.Errorf("told %q, want %q", o.told, want)
	}
}

// What was learned of another queue, or is damaged, is said to be of no use, and the forecasts begin
// anew.
func TestRecall_WhatIsOfNoUseIsSaid(t *testing.T) {
	t.Parallel()
	shown, _ := queueOfAna()
	s := &shelf{}
	b := New(learning(s))
	for at := grid.Duration(1000); at < 1_000_000; at += 30_000 {
		b.shows(dawn.Add(at), shown(at)...)
	}
	good := string(s.Last())
	for what, c := range map[string]struct {
		from, to string
		change   func(*Config)
		says     string
	}{
		"the same":        {"", "", func(*Config) {}, ""},
		"half of it":      {good[len(good)/2:], "", func(*Config) {}, "JSON"},
		"another policy":  {"", "", func(c *Config) { c.Policy = backfill.FCFS }, "served by easy, and this one is by fcfs"},
		"other nodes":     {`"` + nodeNames[0] + `"`, `"x1"`, func(*Config) {}, "other nodes"},
		"a job of nobody": {`"number":"`, `"number":"","x":"`, func(*Config) {}, "makes no sense"},
		"no oracle":       {`"oracles":[`, `"oracles":[],"x":[`, func(*Config) {}, "0 groups"},
		"a wrong oracle":  {`"said":`, `"said":0,"x":`, func(*Config) {}, "of group main: score"},
	} {
		s := &shelf{text: []byte(strings.Replace(good, c.from, c.to, 1))}
		cfg := learning(s)
		c.change(&cfg)
		b := New(cfg)
		if c.says == "" {
			if s.why != nil || b.forecasts.looks == 0 {
				t.Errorf("%s: %v", what, s.why)
			}
			continue
		}
		if s.why == nil || !strings.Contains(s.why.Error(), c.says) {
			t.Errorf("%s: %v, must be %s", what, s.why, c.says)
		}
		if b.forecasts.looks > 0 || len(b.forecasts.jobs) > 0 || b.forecasts.last > 0 || b.forecasts.cfg != &b.cfg {
			t.Errorf("%s: it does not begin anew", what)
		}
		b.shows(dawn, shown(1000)...)
	}
}

// What is kept is a copy of that instant, though its text is made later; it is kept again once something
// is new, and of a queue in which nothing happens now and then, so that a restart knows how long nobody
// looked.
func TestKeep_ACopyAtMostEachFourMinutes(t *testing.T) {
	t.Parallel()
	shown, _ := queueOfAna()
	now, later := &shelf{}, &shelf{}
	a, b := New(learning(now)), New(learning(later))
	at := grid.Duration(1000)
	for ; later.times < 5; at += 30_000 {
		a.shows(dawn.Add(at), shown(at)...)
		now.Last()
		b.shows(dawn.Add(at), shown(at)...)
	}
	if min := grid.Duration(4 * keepEvery); at < min || at > min+2*grid.Minute {
		t.Errorf("kept five times in %v", at)
	}
	want := now.Last()
	for end := at + 3*grid.Minute; at < end; at += 30_000 {
		b.shows(dawn.Add(at), shown(at)...)
	}
	if got := later.Last(); !bytes.Equal(got, want) || len(got) == 0 {
		t.Errorf("the copy has changed with what it is of: %d bytes, %d", len(got), len(want))
	}
	quiet := &shelf{}
	b = New(learning(quiet))
	for at := grid.Duration(0); at < 2*h+grid.Minute; at += 30_000 {
		b.shows(dawn.Add(at))
	}
	if quiet.times != 5 {
		t.Errorf("of an empty queue it is kept %d times in two hours", quiet.times)
	}
}

// A manager that has lost its state begins to count again. Another job with an old number is another job,
// and nobody knows what became of the old one.
func TestFollow_ANumberThatIsGivenAgain(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	ana, ben := runsFrom(waitsFor("7", "ana", 0), 0), waitsFor("8", "ben", 1000)
	b.shows(dawn.Add(2000), ana, ben)
	cem, dan := waitsFor("7", "cem", 20_000), runsFrom(waitsFor("8", "dan", 20_000), 25_000)
	b.shows(dawn.Add(30_000), endedAt(ana, 10_000), cem, dan)
	b.shows(dawn.Add(60_000), endedAt(ana, 10_000), cem, endedAt(dan, 40_000))
	want := []string{"ana is there", "ana starts 0", "ben is there",
		"ana leaves", "ben leaves", "dan is there", "dan starts 25", "cem asks at 30: run dan, wait", "dan ends 40"}
	if !slices.Equal(o.told, want) {
		t.Errorf("told\n%q, want\n%q", o.told, want)
	}
}

// Of a look that does not say when a job was submitted, a number is that of the job which had it.
func TestFollow_ALookNeedNotSayWhenAJobWasSubmitted(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	b.shows(dawn)
	ana, ben := waitsFor("7", "ana", 20_000), waitsFor("8", "ben", 20_000)
	ben.Submit = 0
	b.shows(dawn.Add(30_000), ana, ben)
	ana, ben = runsFrom(ana, 40_000), runsFrom(waitsFor("8", "ben", 20_000), 45_000)
	ana.Submit = 0
	b.shows(dawn.Add(60_000), ana, ben)
	ended := endedAt(ana, 70_000)
	ended.Submit = 0
	b.shows(dawn.Add(90_000), ended, ben)
	want := []string{"ben asks at 30: run, wait", "ana asks at 30: run, wait ben", "ana starts 40", "ben starts 45", "ana ends 70"}
	if !slices.Equal(o.told, want) {
		t.Errorf("told\n%q, want\n%q", o.told, want)
	}
}

// A manager that shows two jobs of one number leaves no more of them with the oracle than it shows.
func TestFollow_TwoJobsOfOneNumberInALook(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	b := New(cfg)
	for at := grid.Duration(0); at < 300_000; at += 30_000 {
		b.shows(dawn.Add(at), waitsFor("7", "ana", 0), waitsFor("7", "ben", 20_000))
	}
	left := 0
	for _, told := range o.told {
		if strings.HasSuffix(told, " leaves") {
			left++
		}
	}
	if there := len(o.told) - left; there-left != 1 || there < 2 {
		t.Errorf("%d came and %d left: %q", there, left, o.told)
	}
}

// A site follows so many jobs and no more, and learns nothing of a queue of more until it is shorter. That
// outlives a restart.
func TestFollow_MoreJobsThanAreFollowed(t *testing.T) {
	t.Parallel()
	o := &teller{users: map[int64]string{}}
	cfg := config(true, nodeNames...)
	cfg.Oracle = func(string) Oracle { return o }
	cfg.Kept = &shelf{}
	b := New(cfg)
	b.forecasts.most = 3
	names := []string{"ana", "ben", "cem", "dan", "eve", "fay"}
	var jobs []grid.ManagedJob
	for i, name := range names {
		jobs = append(jobs, waitsFor(strconv.Itoa(i), name, grid.Duration(i)*20_000))
	}
	b.shows(dawn, jobs[:4]...)
	b = New(cfg)
	b.forecasts.most = 3
	b.shows(dawn.Add(30_000), jobs[2:4]...)
	b.shows(dawn.Add(60_000), jobs[3:4]...)
	b.shows(dawn.Add(90_000), jobs[3:5]...)
	b.shows(dawn.Add(120_000), jobs[3:6]...)
	want := []string{"ana is there", "ben is there", "cem is there",
		"nobody looks from 0 to 30", "ana leaves", "ben leaves", // there was no room for dan yet
		"nobody looks from 30 to 60", "dan is there", "cem leaves",
		"eve asks at 90: run, wait dan", "fay asks at 120: run, wait dan eve"}
	if !slices.Equal(o.told, want) || len(b.forecasts.jobs) != 3 {
		t.Errorf("told\n%q, want\n%q", o.told, want)
	}
}
