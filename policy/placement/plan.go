package placement

import (
	"slices"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/policy/search"
)

// Plan finds for each job the windows whose prices are worth asking for, at most
// so many: what each goal would take of the whole market, the best of what is clear,
// then the best outside of what these use. No two of them are alike. The windows of
// different jobs may overlap.
func (p *Placer) Plan(most int) [][]Window {
	out := make([][]Window, len(p.jobs))
	for i := range p.jobs {
		out[i] = p.alternatives(i, most)
	}
	return out
}

// Slots is how many slots the market has.
func (p *Placer) Slots() int { return p.all.list.Len() }

// Quoted is a window of a job with the price that its sites have named, and the
// caller's number of it. One that has no parts takes no nodes of the market.
func (p *Placer) Quoted(job, number int, size bourse.Size, w bourse.Window, price bourse.Credits) Window {
	x := Window{Window: w, Size: size, Price: price, Number: number, at: p.sitesOf(w.Parts)}
	x.Sites = max(1, len(x.at))
	x.Loss = p.loss(&p.jobs[job], price, w.Start, w.End())
	x.clear = p.market.clear(w.Parts)
	return x
}

// Choice is what a batch comes to for a job.
type Choice struct {
	Window Window
	Placed bool
	Alone  Window // the best that it could have had alone, if Possible
	// Possible says that there is a window for it at all.
	Possible bool
	Wait     Wait // why it has left Left, if it has
	Left     Window
}

// Regret is what the window loses beyond the least that the job could lose alone,
// both as credits weigh; 0 of one that loses less (the price of another in a set has
// risen since), and of a job without a window, which the batch that places
// it will tell.
func (c *Choice) Regret() bourse.Credits {
	if !c.Placed {
		return 0
	}
	return max(0, c.Window.Loss-c.Alone.Loss)
}

// Behind reports whether the batch has left a job no window nearly as good as it could
// have had alone.
func (c *Choice) Behind() bool {
	return c.Wait == Crowded || c.Placed && c.Window.Loss-c.Alone.Loss > c.Alone.Loss/near
}

// near is how much worse than alone, as a part of what a job would lose alone, a window
// may be that is nearly as good.
const near = 20

// Wait is why a job leaves the best window that it could have and waits for the
// next batch.
type Wait uint8

// The reasons to wait.
const (
	None    Wait = iota
	TooFar       // it starts after Job.Latest
	TooDear      // at what a credit weighs it loses more than the job's budget
	Crowded      // the batch leaves only what loses more than to wait
)

// Choose places the jobs: on windows whose prices are known, by job, or on what is
// clear, at base price. It is called once, last.
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
	for _, w := range []search.Weights{{Value: true, Urgency: insist}, {Value: true}, {Value: true, Haste: insist}} {
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
	taken := bourse.Cover(partsOf(out))
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

// maxTaken bounds what is taken out of the market in search of one job's windows
// that differ: a thousand copies of one are given up.
const maxTaken = 200

func tooMany(taken []bourse.Part) bool { return len(taken) > maxTaken }

func partsOf(list []Window) []bourse.Part {
	var parts []bourse.Part
	for i := range list {
		parts = append(parts, list[i].Parts...)
	}
	return parts
}

// distinct adds a window unless it is like one of the list: of the same parts, or
// with the same start, end, price and sites; one more than most has no place.
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
