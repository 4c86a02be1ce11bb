package planning

import (
	"cmp"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/placement"
	"github.com/bourse-grid/bourse/policy/portions"
	"github.com/bourse-grid/bourse/policy/search"
)

// Jobs that take slices of nodes. Where windows are searched for one batch after the papers'
// rules, an alternative may lie inside a node that another job would open; so what is selected
// is laid anew, in the order in which it will be held, and what has no place there is not
// chosen. Under the goal value such jobs take their places one after the other, behind those
// that take whole nodes, each by the least loss that is left to it.

// divides reports whether a job takes slices of the nodes of some group.
func (d *Draft) divides(job int) bool {
	r := &d.in.Jobs[job].Request
	if r.Portion.Whole() || r.Composed() {
		return false
	}
	for i := range d.Groups {
		if g := &d.Groups[i]; Suits(g, r) && r.Portion.Part(g).Some() {
			return true
		}
	}
	return false
}

// parted reports whether any leg takes slices of its nodes.
func (a *Alternative) parted() bool {
	return slices.ContainsFunc(a.Legs, func(l Leg) bool { return l.What.Part.Some() })
}

// field is what a group has left, for windows that are laid one after the other.
type field struct {
	portions.Ground
	clear grid.Profile
}

// fields is what the groups of a draft offer.
func (d *Draft) fields() []field {
	list := make([]field, len(d.Groups))
	for g := range list {
		list[g] = field{portions.Ground{Group: &d.Groups[g], Free: d.admissible[g].Clone(), Opened: cloneOpened(d.opened[g])}, d.clear[g].Clone()}
	}
	return list
}

func cloneOpened(list []grid.Opened) (out []grid.Opened) {
	for i := range list {
		out = append(out, list[i].Clone())
	}
	return out
}

// clone returns a copy that shares nothing.
func (f *field) clone() field {
	return field{portions.Ground{Group: f.Group, Free: f.Free.Clone(), Opened: cloneOpened(f.Opened)}, f.clear.Clone()}
}

// lay lays an alternative, or changes nothing and reports that there is no place for it.
func lay(fields []field, a *Alternative) bool {
	var was []field
	for i := range a.Legs {
		l := &a.Legs[i].What
		if l.Work > 0 { // work on time-shared nodes takes no place
			continue
		}
		f := &fields[a.Legs[i].Group]
		if len(a.Legs) > 1 {
			was = append(was, f.clone())
		}
		opens, ok := f.Lay(l)
		if !ok {
			for k := len(was) - 1; k >= 0; k-- {
				fields[slices.IndexFunc(fields, func(x field) bool { return x.Group == was[k].Group })] = was[k]
			}
			return false
		}
		if from, to := f.Group.Padded(l.Start, l.End); opens > 0 {
			f.clear.Add(max(from, f.clear[0].At), to, -opens)
		}
	}
	return true
}

// noPlace is why a job is not placed whose windows have no place beside those of others.
var noPlace = reason(grid.NoWindow, "none of its windows has a place beside those of the other jobs")

// laid lays what is chosen, in the order in which it will be held. A window without a place is taken
// from its job's alternatives, and a job without any from the candidates; it then reports false. Where
// nobody takes slices, all windows have their places.
func (c *chooser) laid() bool {
	parted := slices.ContainsFunc(c.candidates, func(job int) bool {
		return c.o.Jobs[job].Chosen().parted()
	})
	if !parted {
		return true
	}
	fields, all := c.d.fields(), true
	order, _ := c.d.Held(c.o)
	for _, job := range order {
		p := &c.o.Jobs[job]
		i, takesPart := slices.BinarySearch(c.candidates, job)
		if !takesPart || lay(fields, p.Chosen()) {
			continue
		}
		all = false
		p.Alternatives = slices.Delete(p.Alternatives, p.Choice, p.Choice+1)
		if p.Choice = -1; len(p.Alternatives) > 0 {
			c.options[i] = p.options(c.q.Left)
			continue
		}
		c.giveUp(job, noPlace)
		c.candidates, c.options = slices.Delete(c.candidates, i, i+1), slices.Delete(c.options, i, i+1)
	}
	return all
}

// valuableParts adds, for each job that takes slices, the windows worth a quote under the goal
// value: by its own goal, the cheapest and the earliest, in all nodes and in those that are
// clear. They may overlap. It returns those jobs. What is best of all nodes and lies in those
// that are clear is best of these too, and not searched for again.
func (p *Planner) valuableParts(d *Draft) (which []int) {
	for i := range d.Jobs {
		if !d.Jobs[i].Over && d.divides(i) {
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return nil
	}
	clear := make([][3]bool, len(which))
	for _, free := range [][]grid.Profile{d.admissible, d.clear} {
		p.open(d, free)
		for n, i := range which {
			if clear[n] == [3]bool{true, true, true} {
				continue
			}
			j := d.placed(i)
			sizes := p.sizes(d, i, &j)
			for k, w := range [...]search.Weights{j.Weights(d.in.Terms.Weight), placement.Cheapest, placement.Earliest} {
				if !clear[n][k] {
					clear[n][k] = p.addLeast(d, i, sizes, w, &d.Jobs[i])
				}
			}
		}
	}
	for _, i := range which {
		d.Lose(i, d.Jobs[i].Alternatives)
	}
	return which
}

// placed is a job as placement weighs its windows.
func (d *Draft) placed(job int) placement.Job {
	j := &d.in.Jobs[job]
	return placement.Job{Request: j.Request, Goal: d.in.goal(j), Worth: d.in.worth(j)}
}

// sizes prepares a job, in each of its sizes, for searches of the open list.
func (p *Planner) sizes(d *Draft, job int, j *placement.Job) (list []*search.Query) {
	for _, z := range j.Preferred() {
		r := j.At(z)
		list = append(list, p.finder.Prepare(r, d.in.From, d.withoutDearParts(job, &r)))
	}
	return list
}

// addLeast searches the open list for the window of each size that loses least, and adds those
// that a plan does not have yet. It reports whether all that it has found is clear.
func (p *Planner) addLeast(d *Draft, job int, sizes []*search.Query, w search.Weights, to *Plan) (clear bool) {
	clear = true
	for _, q := range sizes {
		if len(to.Alternatives) >= d.in.Terms.MaxAlternatives {
			return clear
		}
		window, ok := p.finder.Least(q, w, d.in.Jobs[job].Request.Budget)
		if !ok {
			continue
		}
		n := len(to.Alternatives)
		to.add(d, &d.in.Jobs[job], []grid.Window{window})
		a := &to.Alternatives[n]
		clear = clear && d.liesClear(a)
		if slices.ContainsFunc(to.Alternatives[:n], func(x Alternative) bool { return slices.Equal(x.Legs, a.Legs) }) {
			to.Alternatives, to.Found = to.Alternatives[:n], to.Found-1
		}
	}
	return clear
}

// liesClear reports whether a window of one leg opens no node that is not clear.
func (d *Draft) liesClear(a *Alternative) bool {
	if len(a.Legs) > 1 {
		return false
	}
	l, g := &a.Legs[0].What, a.Legs[0].Group
	opens := l.Nodes
	if l.Part.Some() {
		opens -= len(portions.Choose(d.opened[g], l))
	}
	return opens == 0 || l.Start >= d.clear[g][0].At && d.clear[g].Min(l.Start, l.End) >= opens
}

// withoutDearParts marks the groups that are closed to a job or, if the price of each node is
// capped, cost more than the cap at any time.
func (d *Draft) withoutDearParts(job int, r *grid.Request) []bool {
	barred := slices.Clone(d.barredGroups(&d.in.Jobs[job]))
	if !d.in.Terms.capped() {
		return barred
	}
	if barred == nil {
		barred = make([]bool, len(d.Groups))
	}
	for g := range d.Groups {
		price := d.Groups[g].Dearest(d.in.From, d.in.Horizon)
		if x := r.Portion.Part(&d.Groups[g]); x.Some() {
			price = grid.PriceOfSlices(price, int(x.Slices), int(x.Of))
		}
		barred[g] = barred[g] || price > r.MaxPrice
	}
	return barred
}

// placeParts picks windows for the jobs that take slices, in serving order: of those quoted the
// one that loses least and has a place beside what is chosen already, otherwise one in what is
// left clear of every queue.
func (c *chooser) placeParts() {
	var fields []field
	users := map[string]grid.Credits{}
	for i := range c.o.Jobs {
		p := &c.o.Jobs[i]
		if a := p.Chosen(); a != nil {
			users[c.d.in.Jobs[i].User] += a.Cost
		}
	}
	for i := range c.o.Jobs {
		if c.o.Jobs[i].Over || !c.d.divides(i) {
			continue
		}
		if fields == nil {
			fields = c.d.fields()
			for k := range c.o.Jobs {
				if a := c.o.Jobs[k].Chosen(); a != nil {
					lay(fields, a) // placement has chosen windows that have room together
				}
			}
		}
		c.placePart(i, fields, users)
	}
}

// placePart is placeParts for one job.
func (c *chooser) placePart(job int, fields []field, users map[string]grid.Credits) {
	d, p := c.d, &c.o.Jobs[job]
	j := &d.in.Jobs[job]
	least := grid.MaxCredits
	try := func() bool {
		order := make([]int, len(p.Alternatives))
		for k := range order {
			order[k] = k
		}
		slices.SortStableFunc(order, func(x, y int) int {
			a, b := &p.Alternatives[x], &p.Alternatives[y]
			return cmp.Or(cmp.Compare(d.loss(j, a.Cost, a.Start(), a.End), d.loss(j, b.Cost, b.Start(), b.End)), cmp.Compare(a.Number, b.Number))
		})
		for _, k := range order {
			a := &p.Alternatives[k]
			if a.Time > c.o.TimeLimit-c.o.Time || a.Cost > c.o.BudgetLimit-c.o.Cost {
				continue
			}
			least = min(least, a.Cost)
			if Covered(c.o.Cost.Plus(a.Cost), c.q.Left, users[j.User].Plus(a.Cost), c.q.userLeft(j.User), j.User).Refused() || !lay(fields, a) {
				continue
			}
			p.Choice = k
			c.o.Time, c.o.Cost = c.o.Time+a.Time, c.o.Cost.Plus(a.Cost)
			users[j.User] += a.Cost
			return true
		}
		return false
	}
	if try() {
		return
	}
	n := len(p.Alternatives)
	if c.searchParts(job, fields); len(p.Alternatives) > n && try() {
		return
	}
	if least < grid.MaxCredits {
		if r := Covered(c.o.Cost.Plus(least), c.q.Left, users[j.User].Plus(least), c.q.userLeft(j.User), j.User); r.Refused() {
			c.giveUp(job, r)
			return
		}
	}
	if p.Why.Refused() && n == 0 {
		c.giveUp(job, p.Why)
		return
	}
	c.giveUp(job, noPlace)
}

// searchParts looks for a window of a job in what the fields have left that is clear.
func (c *chooser) searchParts(job int, fields []field) {
	d := c.d
	clear, opened := make([]grid.Profile, len(fields)), make([][]grid.Opened, len(fields))
	for g := range fields {
		clear[g], opened[g] = fields[g].clear.Least(fields[g].Free), fields[g].Opened
	}
	left := *d
	left.opened = opened
	c.open(&left, clear)
	p, j := &c.o.Jobs[job], d.placed(job)
	n := len(p.Alternatives)
	whole := p.Alternatives
	p.Alternatives = nil
	c.addLeast(d, job, c.sizes(d, job, &j), j.Weights(d.in.Terms.Weight), p)
	for k := range p.Alternatives {
		a := &p.Alternatives[k]
		a.Quotes = make([]grid.Quote, len(a.Legs))
		for l := range a.Legs {
			a.Legs[l].Contended = false
			a.Quotes[l].Fare = a.Legs[l].Base
		}
	}
	p.Alternatives = append(whole[:n:n], p.Alternatives...)
}
