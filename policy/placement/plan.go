package placement

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/search"
)

// Plan finds, for each job, at most most windows whose prices are worth asking for: what
// each goal would take of the whole market, the best on clear nodes, then the best that
// avoids the nodes of these. No two of them are alike. The windows of different jobs may
// overlap.
func (p *Placer) Plan(most int) [][]Window {
	out := make([][]Window, len(p.jobs))
	for i := range p.jobs {
		out[i] = p.alternatives(i, most)
	}
	return out
}

// Slots returns how many slots the market has.
func (p *Placer) Slots() int { return p.all.list.Len() }

// Quoted returns a window of a job with the price from its sites and the caller's number. A
// window without parts takes no nodes of the market.
func (p *Placer) Quoted(job, number int, size grid.Size, w grid.Window, price grid.Credits) Window {
	x := Window{Window: w, Size: size, Price: price, Number: number, at: p.sitesOf(w.Parts)}
	x.Sites = max(1, len(x.at))
	x.Loss = p.loss(&p.jobs[job], price, w.Start, w.End())
	x.clear = p.market.clear(w.Parts)
	return x
}

// Choice is the result of a batch for a job.
type Choice struct {
	Window Window
	Placed bool
	Alone  Window // the best window that it could have had alone, if Possible
	// Possible says that there is some window for the job.
	Possible bool
	Wait     Wait // why it did not take Left
	Left     Window
}

// Regret returns what the window loses beyond the least that the job could lose alone, both
// at the weight of credits. It is 0 for one that loses less (as the price of another window
// has risen since), and for a job without a window, whose regret the batch that places it
// will report.
func (c *Choice) Regret() grid.Credits {
	if !c.Placed {
		return 0
	}
	return max(0, c.Window.Loss-c.Alone.Loss)
}

// Behind reports whether the batch has left a job no window nearly as good as the best it
// could have had alone.
func (c *Choice) Behind() bool {
	return c.Wait == Crowded || c.Placed && c.Window.Loss-c.Alone.Loss > c.Alone.Loss/near
}

// near defines nearly as good: at most 1/near worse than what the job would lose alone.
const near = 20

// Wait is why a job does not take its best available window and waits for the next batch.
type Wait uint8

// The reasons to wait.
const (
	None    Wait = iota
	TooFar       // it starts after Job.Latest
	TooDear      // at the weight of a credit it loses more than the job's budget
	Crowded      // what the batch leaves loses more than waiting
)

// Choose places the jobs, on the quoted windows, by job, or on clear nodes at base price.
// It must be called once, last.
func (p *Placer) Choose(quoted [][]Window) []Choice {
	p.quoted = quoted
	p.place()
	return slices.Clone(p.states)
}

// alternatives lists distinct windows for one job on the whole market.
func (p *Placer) alternatives(i, most int) []Window {
	j := &p.jobs[i]
	p.ties.Draw(j.Seed)
	var out []Window
	if x, ok := p.own(i, p.all); ok {
		out = distinct(out, x, most)
	}
	for _, w := range []search.Weights{Earliest, Cheapest, {Value: true, Haste: insist}} {
		if x, ok := p.search(i, p.all, w); ok {
			out = distinct(out, x, most)
		}
	}
	if p.clear != p.all {
		if x, ok := p.own(i, p.clear); ok {
			out = distinct(out, x, most)
		}
	}
	if len(out) == 0 {
		return nil
	}
	taken := grid.Cover(partsOf(out))
	p.all.add(taken, -1)
	for len(out) < most {
		x, ok := p.seek(i, p.all, p.weights(j), p.all.find.LeastOfOne)
		if !ok {
			break
		}
		alike := p.all.sideBySide(x.Parts)
		p.all.add(alike, -1)
		taken = append(taken, alike...)
		x.Copies = int(alike[0].Count/x.Parts[0].Count) - 1
		n := len(out)
		if out = distinct(out, x, most); len(out) == n && tooMany(taken) {
			break
		}
	}
	p.all.add(taken, 1)
	slices.SortStableFunc(out, func(a, b Window) int {
		switch {
		case a.before(&b):
			return -1
		case b.before(&a):
			return 1
		}
		return 0
	})
	return out
}

// maxTaken bounds how many windows are taken out of the market in search of different
// windows for one job: a thousand copies of one are not.
const maxTaken = 200

func tooMany(taken []grid.Part) bool { return len(taken) > maxTaken }

func partsOf(list []Window) []grid.Part {
	var parts []grid.Part
	for i := range list {
		parts = append(parts, grid.Stack(list[i].Parts)...)
	}
	return parts
}

// distinct adds a window unless it is like one of the list, that is, has the same parts, or
// the same start, end, price and sites. It adds none beyond most.
func distinct(list []Window, w Window, most int) []Window {
	for i := range list {
		if list[i].like(&w) {
			list[i].Copies += 1 + w.Copies
			return list
		}
	}
	if len(list) >= most {
		return list
	}
	return append(list, w)
}

func (w *Window) like(o *Window) bool {
	if w.Start != o.Start || w.End() != o.End() || w.Price != o.Price {
		return false
	}
	return slices.Equal(w.at, o.at)
}
