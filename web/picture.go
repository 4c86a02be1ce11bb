package web

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// Bounds of one live page.
const (
	mostDrawn    = 2000 // jobs
	mostElements = 200  // of an array whose windows are drawn, the latest
	mostQueued   = 200  // rows of the queue
)

// picture is the content of one live page, and what of it has been sent. It belongs to one
// caller and has nothing that this caller may not see.
type picture struct {
	who   Caller
	epoch grid.Time // the zero of its times
	past  *past

	drawn map[string]*drawn
	own   []view.Alert      // of the process: its replicas and certificates
	left  bool              // there are more jobs than drawn
	sent  map[string]string // the last version sent of each part
}

// drawn is a job of the picture.
type drawn struct {
	job    view.Job
	bars   []view.Bar
	bought []grid.Duration // by bar
	number uint64          // in order of submission
	since  grid.Time
	open   bool
	rank   int // priority
	array  *api.Array
	behind string // of an array: why the first element that waits does
}

func newPicture(who Caller, past *past, now grid.Time) *picture {
	zero := now.Add(-pastSpan) / grid.Time(grid.Hour) * grid.Time(grid.Hour)
	return &picture{who: who, epoch: zero, past: past, drawn: map[string]*drawn{}, sent: map[string]string{}}
}

// at is an instant of the picture, nil for none.
func (p *picture) at(i api.Instant) *int64 {
	if i == 0 {
		return nil
	}
	v := int64(i) - int64(p.epoch)
	return &v
}

// draw puts the present state of a job into the picture, and appends the changes to part.
// elements are those of an array that are drawn.
func (p *picture) draw(part *view.Document, e *entry, j *api.Job, elements []api.Job, now grid.Time) {
	old := p.drawn[j.ID]
	d := &drawn{number: e.number, since: grid.Time(cmp.Or(j.Since, j.Submitted)), rank: j.Priority, array: j.Array}
	state, _ := grid.ParseJobState(j.State)
	d.open = state.Open()
	if !d.open && max(d.since, grid.Time(j.End)) < now.Add(-pastSpan) {
		p.erase(part, j.ID)
		return
	}
	d.job = view.Job{ID: j.ID, User: j.User, Name: j.ID, Batch: j.Batch, Exit: exitOf(j), State: j.State, Nodes: j.Nodes, Sites: j.Sites, Start: p.at(j.Start), End: p.at(j.End)}
	if j.Submitted > 0 {
		d.job.Submit = *p.at(j.Submitted)
	}
	if j.Cost != nil {
		cost := int64(j.Cost.Credits)
		d.job.Cost = &cost
	}
	if j.Reason != nil && j.State != grid.JobDone.String() {
		d.job.Why = cmp.Or(j.Reason.Detail, j.Reason.Code)
	}
	if work := p.bars(d, j, int(e.number)); j.Cost != nil && work > 0 {
		d.job.Price = j.Cost.Float() / work
	}
	if j.Array != nil {
		d.job.Counts = j.Array.Words
		for i := range elements {
			p.bars(d, &elements[i], int(e.number))
			if x := &elements[i]; d.behind == "" && x.State == grid.JobWaiting.String() && x.Reason != nil {
				d.behind = fmt.Sprintf("; first %s: %s", x.ID, cmp.Or(x.Reason.Detail, x.Reason.Code))
			}
		}
	}
	p.drawn[j.ID] = d
	part.Jobs = append(jobsOf(part), d.job)
	bars := append(barsOf(part), d.bars...)
	if old != nil {
		bars = append(bars, goneBars(old, d)...)
	}
	part.Bars = bars
}

// bars adds the legs of a job to what is drawn, or those of an element to its array's, and
// returns their node-hours.
func (p *picture) bars(d *drawn, j *api.Job, window int) (work float64) {
	for i := range j.Legs {
		l := &j.Legs[i]
		b := view.Bar{ID: fmt.Sprintf("%s/%d", j.ID, i), Site: l.Site, Group: l.Group, Nodes: l.Nodes, Start: *p.at(l.Start), End: *p.at(l.End), Kind: view.Leg,
			Part: view.Part{Job: d.job.ID, Window: window, Part: i + 1, Parts: len(j.Legs), Cost: int64(l.Cost.Credits), Of: l.Part}}
		if j.Element != nil {
			b.Of = fmt.Sprintf("element %d, %s", j.Element.Index, j.State)
		}
		if j.State == grid.JobTrying.String() {
			b.Kind = view.Held
		}
		work += float64(l.Nodes) * l.Bought.Hours()
		d.bars, d.bought = append(d.bars, b), append(d.bought, l.Bought)
	}
	return work
}

// elementsOf are the latest elements of an array that are jobs; none of another job.
func elementsOf(b *broker.Broker, v *broker.JobView, e *entry) (list []api.Job) {
	if !v.Array.Some() {
		return nil
	}
	for _, x := range broker.InPlay(b, v.Name, mostElements) {
		_, some, _ := cutElements(x.Name)
		of := e.elements(some)
		list = append(list, jobOf(b, &x, &of))
	}
	return list
}

func jobsOf(part *view.Document) []view.Job { list, _ := part.Jobs.([]view.Job); return list }
func barsOf(part *view.Document) []view.Bar { list, _ := part.Bars.([]view.Bar); return list }

// goneBars returns the bars of a job that it has no longer, marked as gone.
func goneBars(old, now *drawn) (list []view.Bar) {
	left := make(map[string]bool, len(now.bars))
	for i := range now.bars {
		left[now.bars[i].ID] = true
	}
	for i := range old.bars {
		if id := old.bars[i].ID; !left[id] {
			list = append(list, view.Bar{ID: id, Gone: true})
		}
	}
	return list
}

// erase removes a job from the picture.
func (p *picture) erase(part *view.Document, id string) {
	d := p.drawn[id]
	if d == nil {
		return
	}
	delete(p.drawn, id)
	part.Jobs = append(jobsOf(part), view.Job{ID: id, Gone: true})
	part.Bars = append(barsOf(part), goneBars(d, &drawn{})...)
}

// age removes jobs that ended too long ago and, if there are too many jobs, those that ended
// first, then the oldest.
func (p *picture) age(part *view.Document, now grid.Time) {
	for _, id := range slices.Sorted(maps.Keys(p.drawn)) {
		if d := p.drawn[id]; !d.open && d.since < now.Add(-pastSpan) && (d.job.End == nil || *d.job.End+int64(p.epoch) < int64(now.Add(-pastSpan))) {
			p.erase(part, id)
		}
	}
	if len(p.drawn) <= mostDrawn {
		return
	}
	p.left = true
	list := slices.SortedFunc(maps.Values(p.drawn), func(a, b *drawn) int {
		if a.open != b.open {
			if b.open {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.number, b.number)
	})
	for _, d := range list[:len(list)-mostDrawn] {
		p.erase(part, d.job.ID)
	}
}

// vo returns a function for how many nodes of a site the drawn bars take at an instant, and
// their mean price per node-hour.
func (p *picture) vo() func(site string, at grid.Time) (nodes, price float64) {
	type paid struct {
		*view.Bar
		hourly float64
	}
	bySite := map[string][]paid{}
	for _, d := range p.drawn {
		for i := range d.bars {
			if b := &d.bars[i]; b.Kind == view.Leg {
				x := paid{Bar: b}
				if hours := d.bought[i].Hours(); hours > 0 {
					x.hourly = float64(b.Cost) / 1e6 / hours
				}
				bySite[b.Site] = append(bySite[b.Site], x)
			}
		}
	}
	return func(site string, at grid.Time) (nodes, price float64) {
		t := int64(at - p.epoch)
		for _, b := range bySite[site] {
			if b.Start <= t && t < b.End {
				nodes += float64(b.Nodes)
				price += b.hourly
			}
		}
		return nodes, price / max(nodes, 1)
	}
}

// ruler sets the span of time to show.
func (p *picture) ruler(part *view.Document, now grid.Time) {
	from, until := int64(now.Add(-10*grid.Minute)-p.epoch), int64(now.Add(10*grid.Minute)-p.epoch)
	for _, d := range p.drawn {
		for i := range d.bars {
			from, until = min(from, d.bars[i].Start), max(until, d.bars[i].End)
		}
	}
	from = max(from, int64(now.Add(-pastSpan)-p.epoch))
	step := int64(grid.Minute)
	for _, s := range []grid.Duration{5 * grid.Minute, 15 * grid.Minute, grid.Hour} {
		if (until-from)/int64(s) >= 12 {
			step = int64(s)
		}
	}
	part.From, part.Until, part.Now = from/step*step, (until/step+1)*step, int64(now-p.epoch)
}

// figures returns the large numbers at the top.
func (p *picture) figures(sites []api.Site, a *api.Accounts) []view.Figure {
	n := map[string]int{} // elements of an array count as the jobs that they are
	for _, d := range p.drawn {
		if d.array == nil {
			n[d.job.State]++
			continue
		}
		for s, k := range d.array.Counts() {
			n[s] += k
		}
	}
	usable := 0
	for i := range sites {
		if sites[i].State == "usable" {
			usable++
		}
	}
	list := []view.Figure{{Name: "jobs waiting", Value: fmt.Sprint(n["waiting"] + n["gathering"] + n["trying"])}, {Name: "placed", Value: fmt.Sprint(n["placed"])},
		{Name: "running", Value: fmt.Sprint(n["running"])}, {Name: "failed", Value: fmt.Sprint(n["failed"]), Note: fmt.Sprintf("%d abandoned", n["abandoned"])}, {Name: "sites offering", Value: fmt.Sprintf("%d of %d", usable, len(sites)), Note: "when last heard from"}}
	if m := a.Money; m != nil {
		list = append(list, view.Figure{Name: "credits left", Value: fmt.Sprintf("%.2f", m.Left.Float()), Note: fmt.Sprintf("%.2f held", m.Pending.Float())})
	} else if len(a.Users) == 1 && a.Users[0].Left != nil {
		list = append(list, view.Figure{Name: "credits left of your quota", Value: fmt.Sprintf("%.2f", a.Users[0].Left.Float()), Note: fmt.Sprintf("%.2f held", a.Users[0].Pending.Float())})
	}
	return list
}

// siteColumns are the columns of the table of sites.
var siteColumns = []view.Column{{Name: "Nodes", Kind: "number"}, {Name: "Free", Kind: "number"}, {Name: "at base price", Kind: "number"}, {Name: "Price", Kind: "figure"}, {Name: "Asked", Kind: "at"}}

// sites returns the sites in the form for a view.
func (p *picture) sites(list []api.Site) []view.Site {
	out := make([]view.Site, 0, len(list))
	for i := range list {
		s := &list[i]
		x := view.Site{Name: s.Name, State: s.State, Why: whyAway(s), Groups: []view.Group{}, Outs: p.past.outs(s.Name, p.epoch)}
		nodes, free, clear, low, high := 0, 0, 0, 0.0, 0.0
		for k := range s.Groups {
			g := &s.Groups[k]
			x.Groups = append(x.Groups, view.Group{Name: g.Name, Nodes: g.Nodes})
			nodes, free, clear = nodes+g.Nodes, free+g.Free, clear+g.Clear
			if price := g.Price.Float(); k == 0 {
				low, high = price, price
			} else {
				low, high = min(low, price), max(high, price)
			}
		}
		if len(s.Groups) == 0 { // its work is still drawn on them
			x.Groups = append(x.Groups, p.past.groups(s.Name)...)
		}
		cells := []any{nil, nil, nil, nil, p.at(s.Asked)}
		if nodes > 0 {
			price := view.Cell{Value: low, Words: fmt.Sprintf("%.3g", low)}
			if high > low {
				price.Words += fmt.Sprintf(" to %.3g", high)
			}
			cells = []any{nodes, free, clear, price, p.at(s.Asked)}
		}
		x.Cells = cells
		out = append(out, x)
	}
	return out
}

// waits reports whether a job, or an element of an array, waits for a window.
func (d *drawn) waits() bool {
	if d.array != nil {
		return d.open && d.array.Waiting+d.array.Trying > 0
	}
	return d.open && d.job.Start == nil
}

// tables returns the tables of the queue and of the money.
func (p *picture) tables(a *api.Accounts) []view.Table {
	queue := view.Table{Title: "Queue", About: "Jobs waiting for a window, and why they did not get one in the last cycle. Ordered by priority, then by submission; users take turns.", Rows: [][]any{},
		Columns: []view.Column{{Name: "Job", Kind: "word"}, {Name: "State", Kind: "state"}, {Name: "Why", Kind: "word"}, {Name: "User", Kind: "word"}, {Name: "Nodes", Kind: "number"}, {Name: "Priority", Kind: "number"}, {Name: "Submitted", Kind: "at"}}}
	waiting := slices.Collect(maps.Values(p.drawn))
	waiting = slices.DeleteFunc(waiting, func(d *drawn) bool { return !d.waits() })
	slices.SortFunc(waiting, func(a, b *drawn) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.number, b.number))
	})
	for _, d := range waiting[:min(len(waiting), mostQueued)] {
		row := []any{d.job.Name, d.job.State, d.job.Why, d.job.User, d.job.Nodes, d.rank, d.job.Submit}
		if d.array != nil {
			row[1], row[2] = grid.JobWaiting.String(), fmt.Sprintf("%d of its %s%s", d.array.Waiting+d.array.Trying, grid.Count(d.elements(), "element"), d.behind)
		}
		queue.Rows = append(queue.Rows, row)
	}
	if n := len(waiting); n > mostQueued {
		queue.About += fmt.Sprintf(" The first %d of %d.", mostQueued, n)
	} else if n == 0 {
		queue.About = "No jobs are waiting."
	}
	money := view.Table{Title: "Accounts", About: "In credits. Held credits are promised for windows that are not paid yet.", Rows: [][]any{},
		Columns: []view.Column{{Name: "Account", Kind: "word"}, {Name: "Budget or quota", Kind: "money"}, {Name: "Spent", Kind: "money"}, {Name: "Held", Kind: "money"}, {Name: "Left", Kind: "money"}}}
	if m := a.Money; m != nil {
		money.Rows = append(money.Rows, []any{"the VO", int64(m.Budget.Credits), int64(m.Spent.Credits), int64(m.Pending.Credits), int64(m.Left.Credits)})
	}
	for i := range a.Users {
		u := &a.Users[i]
		row := []any{cmp.Or(u.User, "(no user)"), nil, int64(u.Spent.Credits), int64(u.Pending.Credits), nil}
		if u.Quota != nil {
			row[1], row[4] = int64(u.Quota.Credits), int64(u.Left.Credits)
		}
		money.Rows = append(money.Rows, row)
	}
	if slices.ContainsFunc(a.Users, func(u api.Spend) bool { return u.Tenant != "" }) {
		money.Columns = slices.Insert(money.Columns, 1, view.Column{Name: "Tenant", Kind: "word"})
		for i := range money.Rows {
			tenant := ""
			if of := i - (len(money.Rows) - len(a.Users)); of >= 0 {
				tenant = a.Users[of].Tenant
			}
			money.Rows[i] = slices.Insert(money.Rows[i], 1, any(tenant))
		}
	}
	return []view.Table{queue, money}
}

// about adds what concerns the broker as a whole to a part, if it differs from what was last
// sent. Loads are only added with charts.
func (p *picture) about(part *view.Document, b *broker.Broker, now grid.Time, charts bool) {
	list := sitesOf(b, now)
	p.past.stand(list, b, now)
	a := accountsOf(b, p.who, now)
	sites := p.sites(list)
	for i := range sites {
		if p.fresh("site "+sites[i].Name, &sites[i]) {
			part.Sites = append(part.Sites, sites[i])
		}
	}
	if p.fresh("columns", siteColumns) {
		part.SiteColumns = siteColumns
	}
	if x := p.alerts(list, b, now); p.fresh("alerts", x) {
		part.Alerts = append([]view.Alert{}, x...)
	}
	if x := p.figures(list, &a); p.fresh("figures", x) {
		part.Figures = x
	}
	if x := p.tables(&a); p.fresh("tables", x) {
		part.Tables = x
	}
	p.ruler(part, now)
	if charts {
		loads := p.past.loads(sites, p.epoch, now, p.vo())
		if len(loads) > 0 && p.fresh("loads", loads) {
			part.Loads = loads
		}
	}
	if note := p.note(); p.fresh("note", note) {
		part.JobsNote = note
	}
}

// note says what the page does not show.
func (p *picture) note() string {
	what := "Ended jobs are shown for 24 hours. Prices and use over time begin with the start of the broker's process."
	if p.left {
		what = fmt.Sprintf("Only %d jobs are shown: those that have not ended, and the latest others. ", mostDrawn) + what
	}
	return what + " bourse jobs lists all jobs."
}

// fresh reports whether a part differs from what was last sent, and remembers it.
func (p *picture) fresh(key string, v any) bool {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // such a value can always be encoded
	}
	if p.sent[key] == string(text) {
		return false
	}
	p.sent[key] = string(text)
	return true
}
