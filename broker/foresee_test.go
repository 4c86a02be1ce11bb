package broker

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker/planning"
	"github.com/bourse-grid/bourse/grid"
)

// The forecast of a batch equals what the next cycle gives it once it is submitted, though nothing
// was held. A later window and one elsewhere are where they should be.
func TestForesee_IsWhatTheNextCycleGives(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, grid.Price(grid.Credit)), newFakeSite("south", 4, grid.Price(2*grid.Credit))
	north.free[0].Add(0, 1500*sec, -4) // it is busy at first
	cfg := testConfig(north, south)
	w := newTestWorld(t, cfg, north, south)
	w.quiet = true
	w.Add("user:ana", &looker{})
	w.Post(100*sec, "user:ana", agents.SitesLook{})
	w.Run(102 * sec)
	jobs := []grid.Job{testJob("a", 3, grid.Hour, 50*grid.Credit), testJob("b", 4, grid.Hour/2, 50*grid.Credit), testJob("c", 1, grid.Hour/2, 50*grid.Credit)}
	for i := range jobs {
		jobs[i].Origin.Label = jobs[i].Name
	}
	jobs[2].After = grid.Dependencies(grid.IfDone, "a")
	facts := len(w.facts)
	f := w.b.Foresee(102*sec, jobs)
	var p planning.Planner
	got := p.Foresee(f, nil, nil)
	if w.submit(102*sec, jobs...); len(w.facts) != facts || w.b.mem.Queue.Size() != 0 {
		t.Fatal("foreseeing is on record")
	}
	w.Run(1900 * sec)
	for i, j := range jobs {
		window := w.b.Window(j.Name)
		x := got[i].Now.Taken()
		if x == nil || len(window) != 1 {
			t.Fatalf("%s: foreseen %+v, placed %+v", j.Name, got[i].Now, window)
		}
		said := ""
		for _, l := range x.Legs {
			said += fmt.Sprintf("%s %d %v-%v %v ", l.Site, l.Leg.Nodes, l.Leg.Start, l.Leg.End, l.Fare.Total())
		}
		is := ""
		for _, l := range window[0].Legs {
			is += fmt.Sprintf("%s %d %v-%v %v ", l.Site, l.Nodes, l.Start, l.End, l.Fare.Total())
		}
		if said != is {
			t.Errorf("%s: foreseen %s, placed %s", j.Name, said, is)
		}
		if later := got[i].Later.Taken(); later == nil || later.Start < x.Start.Add(planning.LaterBy) {
			t.Errorf("%s: later is %+v after %v", j.Name, later, x.Start)
		}
		other := got[i].Elsewhere.Taken()
		for _, l := range x.Legs {
			for k := range len(x.Legs) {
				if other != nil && k < len(other.Legs) && other.Legs[k].Site == l.Site {
					t.Errorf("%s: elsewhere is at %s too", j.Name, l.Site)
				}
			}
		}
	}
}

// pricer asks for prices once, and keeps the answers.
type pricer struct{ answers []agents.PricesLooked }

func (p *pricer) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.PricesLook:
		out.Send("broker:vo1", m)
	case agents.PricesLooked:
		p.answers = append(p.answers, m)
	}
}

// Where the queue of a site is in the way, a dry run has the price that the site would ask for,
// as the next cycle then pays it; if the site does not say in time, the base price is a guess.
func TestForesee_ContendedPricesAreWhatTheSiteWouldAskFor(t *testing.T) {
	t.Parallel()
	for name, silent := range map[string]bool{"named": false, "not named": true} {
		north := newFakeSite("north", 4, grid.Price(grid.Credit))
		north.busy[0] = grid.NewProfile(0, 4) // jobs wait for all of it
		mute := false
		north.rule = func(m agents.Message) fakeAnswer {
			_, asks := m.(agents.QuoteRequest)
			return fakeAnswer{silent: mute && asks, add: 7 * grid.Credit}
		}
		w := newTestWorld(t, testConfig(north), north)
		w.quiet = true
		ana := &pricer{}
		w.Add("user:ana", &looker{})
		w.Add("user:ben", ana)
		w.Post(100*sec, "user:ana", agents.SitesLook{})
		w.Run(102 * sec)
		job := testJob("a", 3, grid.Hour, 50*grid.Credit)
		job.Origin.Label = job.Name
		mute = silent
		at, facts := 102*sec, len(w.facts)
		got := Foresee(w.b.Foresee(at, []grid.Job{job}), func(m agents.PricesLook) agents.PricesLooked {
			ana.answers = nil
			w.Post(at, "user:ben", m)
			for at += sec; len(ana.answers) == 0 && at < 130*sec; at += sec {
				w.Run(at)
			}
			return ana.answers[0]
		})
		x := got[0].Now.Taken()
		if x == nil || x.Guessed() != silent || x.Fare.Additive != map[bool]grid.Credits{false: 7 * grid.Credit}[silent] || len(w.facts) != facts {
			t.Fatalf("%s: %+v, %d facts more", name, got[0].Now, len(w.facts)-facts)
		}
		if len(w.b.appraisals.open) > 0 {
			t.Errorf("%s: %d questions are kept", name, len(w.b.appraisals.open))
		}
		if silent {
			continue
		}
		w.submit(at, job)
		w.Run(1900 * sec)
		if list := w.b.Window("a"); len(list) != 1 || len(list[0].Legs) != 1 || list[0].Legs[0].Fare != x.Fare {
			t.Errorf("foreseen %v, placed %+v", x.Fare, list)
		}
	}
}

// A job that no cycle would place gets the reason that its submission would get, and so do those
// after it.
func TestForesee_SaysWhyNot(t *testing.T) {
	t.Parallel()
	north := newFakeSite("north", 4, grid.Price(grid.Credit))
	cfg := testConfig(north)
	cfg.Refuse = true
	w := newTestWorld(t, cfg, north)
	w.quiet = true
	w.Add("user:ana", &looker{})
	w.Post(100*sec, "user:ana", agents.SitesLook{})
	w.Run(102 * sec)
	jobs := []grid.Job{testJob("wide", 5, grid.Hour, 50*grid.Credit), testJob("after", 1, grid.Hour, 50*grid.Credit),
		testJob("iffailed", 1, grid.Hour, 50*grid.Credit), testJob("stray", 1, grid.Hour, 50*grid.Credit), testJob("poor", 1, grid.Hour, grid.Credit/2)}
	for i := range jobs {
		jobs[i].Origin.Label = jobs[i].Name
	}
	jobs[1].After = grid.Dependencies(grid.IfDone, "wide")
	jobs[2].After = grid.Dependencies(grid.IfFailed, "wide")
	jobs[3].After = grid.Dependencies(grid.IfDone, "nobody")
	got := new(planning.Planner).Foresee(w.b.Foresee(102*sec, jobs), nil, nil)
	for i, want := range []grid.Code{grid.TooLarge, grid.After, grid.After, grid.Unknown, grid.OverBudget} {
		if x := got[i].Now; x.Taken() != nil || x.Reason.Code != want {
			t.Errorf("%s: %+v, want %v", jobs[i].Name, x, want)
		}
	}
}

// The cap is three times the mean of the sites that suit, each counted once, unless the VO has
// named one; where no site is known that suits there is none.
func TestPriceCap_ThreeTimesTheMeanOfTheSitesThatSuit(t *testing.T) {
	t.Parallel()
	one := grid.Price(grid.Credit)
	north, south, east := newFakeSite("north", 4, one), newFakeSite("south", 400, 2*one), newFakeSite("east", 4, 90*one)
	north.groups = append(north.groups, grid.Group{Site: "north", Name: "fat", Nodes: 1, Performance: grid.Unit, Price: 5 * one, Machine: grid.Machine{GPUs: 2}})
	north.free, north.busy = append(north.free, grid.NewProfile(0, 1)), append(north.busy, grid.NewProfile(0, 0))
	w := newTestWorld(t, testConfig(north, south, east), north, south, east)
	w.quiet = true
	j := testJob("a", 1, grid.Hour, 0)
	j.Avoid = []string{"east"}
	if _, known := w.b.PriceCap(0, &j.Request); known {
		t.Error("nobody has been asked, and there is a cap")
	}
	w.Add("user:ana", &looker{})
	w.Post(100*sec, "user:ana", agents.SitesLook{})
	w.Run(102 * sec)
	if cap, known := w.b.PriceCap(102*sec, &j.Request); !known || cap != 3*(3*one+2*one)/2 {
		t.Errorf("%v, %t", cap, known)
	}
	j.Require.GPUs = 1
	if cap, known := w.b.PriceCap(102*sec, &j.Request); !known || cap != 15*one {
		t.Errorf("%v, %t", cap, known)
	}
	j.Require.GPUs = 3
	if cap, known := w.b.PriceCap(102*sec, &j.Request); known {
		t.Errorf("nothing suits, and the cap is %v", cap)
	}
	fixed := 4 * one
	w.b.mem.cfg.PriceCap = &fixed
	if cap, known := w.b.PriceCap(102*sec, &j.Request); !known || cap != fixed {
		t.Errorf("%v, %t", cap, known)
	}
}
