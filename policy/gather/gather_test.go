package gather

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// worlds are scripted worlds with their acts, found by an independent program; the first is
// the one that was reckoned by hand.
func worlds(t *testing.T) []Case {
	t.Helper()
	text, err := os.ReadFile("testdata/worlds.json")
	if err != nil {
		t.Fatal(err)
	}
	list, err := ReadCases(text)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestGather_ActsInScriptedWorlds(t *testing.T) {
	for _, c := range worlds(t) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, _ := json.MarshalIndent(c, "", " ")
			got, _ := json.MarshalIndent(c.Play(), "", " ")
			if string(got) != string(want) {
				t.Errorf("got %s\nwant %s", got, want)
			}
		})
	}
}

// By hand: 4 of 128 and 8 of 100 nodes, L 3,600, waste 0.2.
func TestGather_ByHand(t *testing.T) {
	o := Order{Length: 3600, Waste: 200_000, Deadline: 86_400, Parts: []Part{{4, 128}, {8, 100}}}
	if a := o.Allowance(); a != 8640 {
		t.Errorf("A is %d", a)
	}
	if s, leads := o.share(8640); s != 4320 || !leads || o.Leader() != 1 {
		t.Errorf("share %d, leads %v, leader %d", s, leads, o.Leader())
	}
	if a, b := o.Limit(0), o.Limit(1); a != 4800 || b != 4260 {
		t.Errorf("limits %d and %d", a, b)
	}
	w := World{Order: o, Parts: []Script{{Begins: []int64{-1, 30}}, {Begins: []int64{20, 200}}}}
	if r := w.Run(); r.Start != 780 || r.Spent != 3360+8*80+4*10 || r.Tries != 1 {
		t.Errorf("start %d, spent %d, tries %d", r.Start, r.Spent, r.Tries)
	}
}

func TestOrder_RefusesWhatCannotFitAFirstGrant(t *testing.T) {
	o := Order{Length: 3600, Waste: 10_000, Deadline: 86_400, Parts: []Part{{4, 128}, {8, 100}}}
	err := o.Check()
	if err == nil || !strings.Contains(err.Error(), "waste 0.01 of 1h is 36 s a node, a first grant 90 s; allow 0.025") {
		t.Errorf("got %v", err)
	}
	o.Waste = 25_000
	if err := o.Check(); err != nil {
		t.Errorf("what the remedy says is refused: %v", err)
	}
}

// A manager that refuses three pilots of a part in a row ends the gather, in its own words.
func TestGather_ThreeDenialsInARow(t *testing.T) {
	g := New(Order{Length: 3600, Waste: 200_000, Deadline: 86_400, Parts: []Part{{4, 128}, {8, 100}}})
	for k := range 3 {
		acts := g.Round(Look{At: g.Next()})
		if len(acts) != 1 || acts[0].Do != Submit || acts[0].Pilot != k {
			t.Fatalf("round %d: %v", k, acts)
		}
		g.Seen(Sight{Part: 1, Pilot: k, State: Denied, Words: "Invalid qos"})
	}
	acts := g.Round(Look{At: g.Next()})
	if len(acts) != 1 || acts[0].Do != GiveUp || acts[0].Why != ByDenials || acts[0].Words != "Invalid qos" {
		t.Errorf("got %v", acts)
	}
}

// A manager that does not say that a released pilot has ended keeps its whole grant counted.
func TestGather_WhatIsGrantedCountsUntilItsEndIsSeen(t *testing.T) {
	g := New(Order{Length: 3600, Waste: 200_000, Deadline: 86_400, Parts: []Part{{4, 128}, {8, 100}}})
	g.Round(Look{At: 0})
	g.Round(Look{At: 60, Pilots: []Sight{{Part: 1, State: Running, Begin: 20}}})
	g.Withdraw(70)
	if s := g.Spent(); s != 8*90+4*90 {
		t.Errorf("spent %d before any end is seen", s)
	}
	g.Seen(Sight{Part: 1, State: Ended, Begin: 20, End: 75}, Sight{Part: 0, State: Ended, Begin: Never})
	if s := g.Spent(); s != 8*55 {
		t.Errorf("spent %d when both ends were seen", s)
	}
}

// A pilot that a look shows to be over is over, also while a COMMIT is awaited: Idle says so of it, once.
func TestRound_SeesEndsWhileItCommits(t *testing.T) {
	t.Parallel()
	o := Order{Length: 3600, Waste: WasteUnit / 5, Deadline: 86_400, Parts: []Part{{Nodes: 4, Cluster: 8}, {Nodes: 8, Cluster: 8}}}
	g := New(o)
	g.Round(Look{At: 0})
	both := []Sight{{Part: 0, State: Running, Begin: 30}, {Part: 1, State: Running, Begin: 30}}
	for at := int64(40); g.Phase() == Gathering && at < 200; at += 10 {
		g.Round(Look{At: at, Pilots: both})
	}
	over := Sight{Part: 1, State: Ended, Begin: 30, End: 80}
	if _, is := g.Idle(over); g.Phase() != Committing || !is {
		t.Fatalf("it is in phase %d, its pilot is over: %v", g.Phase(), is)
	}
	g.Round(Look{At: 210, Pilots: []Sight{over}})
	if _, again := g.Idle(over); again {
		t.Error("its pilot is over a second time")
	}
}

// With places kept, every part waits with a far begin from the first round, no part leads,
// and all begin when all would start from their places.
func TestGather_PlaceKept(t *testing.T) {
	w := World{Order: Order{Length: 7200, Waste: 50_000, Deadline: 86_400, Place: true, Parts: []Part{{8, 100}, {16, 128}}},
		Parts: []Script{{Begins: []int64{20}, Fits: [][2]int64{{100, 1000}}}, {Begins: []int64{40}, Fits: [][2]int64{{150, 1000}}}}}
	var got []string
	for _, a := range w.Run().Acts {
		got = append(got, a.Do.String())
	}
	if s := strings.Join(got, " "); s != "place place begin begin commit" {
		t.Errorf("got %s", s)
	}
}

// truth is a pilot as it is, whatever is seen of it.
type truth struct {
	part, number int
	at           int64 // would begin, -1: never
	granted      int64 // as it knows
	begin, end   int64
	told         bool // that it ended
	dies         int64
	denied       bool
}

// G1: idle is never above A, whatever fails: pilots that are late, denied, killed, that hear of
// no grant and no release, whose begins and ends are not seen. G5: no more pilots than there
// is room for.
func TestGather_IdleIsNeverAboveTheAllowance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 4).Draw(t, "parts")
		o := Order{Length: rapid.Int64Range(600, 30_000).Draw(t, "L"), Deadline: rapid.Int64Range(1, 40_000).Draw(t, "deadline"),
			Waste: rapid.Int64Range(LeastWaste, MostWaste).Draw(t, "waste"), Place: rapid.Bool().Draw(t, "place")}
		for range n {
			c := rapid.Int64Range(1, 500).Draw(t, "cluster")
			o.Parts = append(o.Parts, Part{rapid.Int64Range(1, c).Draw(t, "nodes"), c})
		}
		if o.Check() != nil {
			t.Skip("refused")
		}
		most := rapid.IntRange(1, 3).Draw(t, "max_pilots")
		cut := rapid.IntRange(0, 90).Draw(t, "cut") // of a hundred looks, grants and releases
		lost := func(what string) bool { return rapid.IntRange(0, 99).Draw(t, what) < cut }
		g := New(o)
		var all []*truth
		idle := func(now int64) (sum int64) {
			for _, p := range all {
				if p.begin >= 0 {
					end := now
					if p.end >= 0 {
						end = p.end
					}
					sum += o.Parts[p.part].Nodes * (end - p.begin)
				}
			}
			return sum
		}
		settle := func(p *truth, now int64) { // what has happened to it by now
			if p.denied || p.end >= 0 {
				return
			}
			if p.begin < 0 && p.at >= 0 && p.at <= now {
				p.begin = p.at
			}
			if p.begin >= 0 {
				end := min(p.begin+p.granted-5, p.begin+o.Limit(p.part))
				if p.dies >= 0 {
					end = min(end, p.begin+p.dies)
				}
				if end <= now {
					p.end = end
				}
			}
		}
		aborts := 0
		for round := 0; round < 400 && g.Phase() == Gathering; round++ {
			now := g.Next()
			l := Look{At: now, Fits: make([]bool, n), Room: make([]int, n)}
			for i := range n {
				l.Fits[i], l.Room[i] = rapid.Bool().Draw(t, "fits"), most
			}
			for _, p := range all {
				settle(p, now)
				over := p.end >= 0 || p.denied
				if !over {
					l.Room[p.part]--
				}
				if p.told || p.begin < 0 && !over || lost("look") {
					continue
				}
				switch {
				case p.denied:
					l.Pilots = append(l.Pilots, Sight{Part: p.part, Pilot: p.number, State: Denied})
					p.told = true
				case over:
					l.Pilots = append(l.Pilots, Sight{Part: p.part, Pilot: p.number, State: Ended, Begin: p.begin, End: p.end})
					p.told = true
				default:
					l.Pilots = append(l.Pilots, Sight{Part: p.part, Pilot: p.number, State: Running, Begin: p.begin})
				}
			}
			acts := g.Round(l)
			if c, a := g.Counted(), o.Allowance(); c > a {
				t.Fatalf("at %d %d node-seconds are counted of %d", now, c, a)
			}
			for _, a := range acts {
				switch a.Do {
				case Submit, Begin, Place:
					p := (*truth)(nil)
					for _, q := range all {
						if q.part == a.Part && q.number == a.Pilot {
							p = q
						}
					}
					if p == nil {
						if l.Room[a.Part] <= 0 {
							t.Fatalf("at %d part %d has more than %d pilots", now, a.Part, most)
						}
						p = &truth{part: a.Part, number: a.Pilot, granted: FirstGrant, at: -1, begin: -1, end: -1, dies: -1}
						all = append(all, p)
						p.denied = rapid.IntRange(0, 9).Draw(t, "denied") == 0
						if rapid.IntRange(0, 3).Draw(t, "mortal") == 0 {
							p.dies = rapid.Int64Range(0, 400).Draw(t, "dies")
						}
					}
					if a.Do == Place {
						if p.begin < 0 && !lost("place") {
							p.at = -1
						}
					} else if p.begin < 0 {
						p.at = now + rapid.Int64Range(0, 600).Draw(t, "begins")
					}
				default:
					for _, p := range all {
						if p.part != a.Part || p.number != a.Pilot || lost("act") {
							continue
						}
						switch a.Do {
						case Grant:
							p.granted = a.Value
						case Release, Cancel:
							later := now + rapid.Int64Range(0, 120).Draw(t, "leaves")
							if p.begin < 0 {
								p.end = now
							} else {
								settle(p, later)
								if p.end < 0 {
									p.end = later
								}
							}
						}
					}
				}
			}
			if g.Phase() == Committing {
				for _, p := range all { // told to begin: it idles until the start, whatever its grant
					if p.begin >= 0 && p.end < 0 {
						p.granted = max(p.granted, g.Start()-p.begin+5)
						settle(p, g.Start())
					}
				}
				if got := idle(g.Start()); got > o.Allowance() {
					t.Fatalf("%d node-seconds idled of %d at the start", got, o.Allowance())
				}
				if aborts++; aborts < 3 {
					g.Aborted(g.Start() + 5)
				}
			}
		}
		for _, p := range all {
			settle(p, 1<<40)
		}
		if got := idle(1 << 40); g.Phase() != Committing && got > o.Allowance() {
			t.Fatalf("%d node-seconds idled of %d", got, o.Allowance())
		}
	})
}

func FuzzReadCases(f *testing.F) {
	f.Add([]byte(`[{"name":"x","length":3600,"waste":"0.05","deadline":600,"parts":[{"nodes":1,"cluster":2,"begins":[1],"fits":[[0,9]]},{"nodes":1,"cluster":2,"begins":[-1],"fits":[]}]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ReadCases(text)
		if err != nil {
			return
		}
		for i := range list {
			if list[i].Deadline > 100_000 {
				continue
			}
			if c := list[i].Play(); c.Spent > c.Allow {
				t.Errorf("%s: %d node-seconds idled of %d", c.Name, c.Spent, c.Allow)
			}
		}
	})
}

// Of one part, the pilot waits for the job in the queue, and the job begins as soon as it is seen to
// run, however long that takes.
func TestAlone_BeginsWhenItsPilotRuns(t *testing.T) {
	t.Parallel()
	o := Order{Length: 3600, Waste: 600 * WasteUnit / 3600, Deadline: 30 * 86_400, Parts: []Part{{4, 128}}, Alone: true}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	if two := (Order{Length: 3600, Waste: WasteUnit, Deadline: 1, Parts: []Part{{4, 128}, {4, 128}}, Alone: true}); two.Check() == nil {
		t.Error("two parts are alone")
	}
	g := New(o)
	if acts := g.Round(Look{At: 0, Fits: []bool{false}}); len(acts) != 1 || acts[0].Do != Submit {
		t.Fatalf("%+v", acts)
	}
	at := int64(60)
	for ; at < 40_000; at += 60 {
		if acts := g.Round(Look{At: at, Fits: []bool{false}}); len(acts) > 0 {
			t.Fatalf("at %d: %+v", at, acts)
		}
	}
	acts := g.Round(Look{At: at, Pilots: []Sight{{State: Running, Begin: at - 55}}})
	if len(acts) != 1 || acts[0].Do != Commit || acts[0].Value != at+10 {
		t.Fatalf("%+v", acts)
	}
	if g.Counted() > o.Allowance() {
		t.Errorf("%d of %d are counted", g.Counted(), o.Allowance())
	}
}
