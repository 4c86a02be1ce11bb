package shadow

import "github.com/bourse-grid/bourse/grid"

// Report is what the events of a market come to. Node-time is in node-seconds.
type Report struct {
	Site     string        `json:"site"`
	From     grid.Time     `json:"from"`
	To       grid.Time     `json:"to"`
	Looks    int           `json:"looks"`
	Failed   int           `json:"failed"`   // looks
	Observed grid.Duration `json:"observed"` // between looks that follow each other in time
	NodeTime grid.Duration `json:"nodeTime"` // that the site had while observed
	Busy     grid.Duration `json:"busy"`     // of that, with local jobs

	Recorded int           `json:"recorded,omitempty"` // windows that a record asks for; 0: local jobs ask
	Asked    int           `json:"asked"`              // windows
	Sold     int           `json:"sold"`               // windows
	Free     int           `json:"free"`               // of them, those that delay nobody
	SoldTime grid.Duration `json:"soldTime"`           // node-time
	Base     grid.Credits  `json:"base"`
	Additive grid.Credits  `json:"additive"`
	Hours    [24]Hour      `json:"hours"` // of the day, in UTC, in which windows begin
	Refused  []RefusedFor  `json:"refused"`

	Delayed  Waits `json:"delayed"`  // local jobs, by the plans at the sales
	InTheWay Waits `json:"inTheWay"` // local jobs that Slurm started on nodes of windows, until the windows' ends
}

// Hour is what would have been sold for one hour of the day.
type Hour struct {
	Windows  int           `json:"windows"`
	SoldTime grid.Duration `json:"soldTime"` // node-time
	Income   grid.Credits  `json:"income"`
}

// RefusedFor counts windows that would have been refused for a reason.
type RefusedFor struct {
	Why     Why           `json:"why"`
	Windows int           `json:"windows"`
	Time    grid.Duration `json:"time"` // node-time
}

// Waits says what local jobs would have waited longer.
type Waits struct {
	Jobs    int           `json:"jobs"`
	Time    grid.Duration `json:"time"` // node-time
	Longest grid.Duration `json:"longest"`
}

// Income is what all windows cost.
func (r *Report) Income() grid.Credits { return r.Base.Plus(r.Additive) }

// Tally makes a Report of events, which are added in order.
type Tally struct {
	report  Report
	every   grid.Duration
	before  *Looked // the look before, in the same life
	at      grid.Time
	refused map[Why]*RefusedFor
	delayed map[string]grid.Duration // by job
}

// Add adds an event.
func (t *Tally) Add(e Event) {
	r := &t.report
	if r.From == 0 {
		r.From = e.At
	}
	r.To = max(r.To, e.At)
	switch {
	case e.Began != nil:
		r.Site, r.Recorded, t.every, t.before = e.Began.Site, e.Began.Recorded, e.Began.Every, nil
	case e.Unlooked != nil:
		r.Failed++
	case e.Looked != nil:
		t.looked(e.At, e.Looked)
	case e.Sold != nil:
		t.sold(e.Sold)
	case e.Refused != nil:
		r.Asked++
		if t.refused == nil {
			t.refused = map[Why]*RefusedFor{}
		}
		of := t.refused[e.Refused.Why]
		if of == nil {
			of = &RefusedFor{Why: e.Refused.Why}
			t.refused[of.Why] = of
		}
		of.Windows++
		add(&of.Time, nodeTime(e.Refused.Nodes, e.Refused.Length))
	case e.InTheWay != nil:
		w := &r.InTheWay
		w.Jobs++
		add(&w.Time, nodeTime(e.InTheWay.Nodes, e.InTheWay.By))
		w.Longest = max(w.Longest, e.InTheWay.By)
	}
}

// looked counts the time since the look before, unless one or more are missing in between.
func (t *Tally) looked(at grid.Time, now *Looked) {
	r := &t.report
	r.Looks++
	if b := t.before; b != nil && at.Sub(t.at) <= 2*t.every {
		gap := at.Sub(t.at)
		r.Observed += gap
		add(&r.NodeTime, nodeTime(b.Nodes, gap))
		add(&r.Busy, nodeTime(b.Busy, gap))
	}
	t.before, t.at = now, at
}

func (t *Tally) sold(s *Sold) {
	r := &t.report
	r.Asked++
	r.Sold++
	work := nodeTime(s.Nodes, s.Length)
	add(&r.SoldTime, work)
	r.Base, r.Additive = r.Base.Plus(s.Fare.Base), r.Additive.Plus(s.Fare.Additive)
	h := &r.Hours[s.Start/grid.Time(grid.Hour)%24]
	h.Windows++
	add(&h.SoldTime, work)
	h.Income = h.Income.Plus(s.Fare.Total())
	if len(s.Delayed) == 0 {
		r.Free++
	}
	for _, d := range s.Delayed {
		if t.delayed == nil {
			t.delayed = map[string]grid.Duration{}
		}
		t.delayed[d.Job] += min(d.By, grid.MaxDuration-t.delayed[d.Job])
		add(&r.Delayed.Time, nodeTime(d.Nodes, d.By))
		r.Delayed.Longest = max(r.Delayed.Longest, t.delayed[d.Job])
	}
	r.Delayed.Jobs = len(t.delayed)
}

// Report is what the events so far come to.
func (t *Tally) Report() Report {
	r := t.report
	r.Refused = []RefusedFor{}
	for _, why := range Whys() {
		if of := t.refused[why]; of != nil {
			r.Refused = append(r.Refused, *of)
		}
	}
	return r
}

func nodeTime(n int, d grid.Duration) grid.Duration {
	if n > 0 && d > grid.MaxDuration/grid.Duration(n) {
		return grid.MaxDuration
	}
	return grid.Duration(n) * d
}

func add(sum *grid.Duration, d grid.Duration) { *sum += min(d, grid.MaxDuration-*sum) }
