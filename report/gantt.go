package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
	"github.com/bourse-grid/bourse/report/lanes"
)

// mostBars bounds how many jobs and legs are drawn one by one, and so the
// picture at about 5 MB. Above it each group shows how full it was instead.
const mostBars = 20_000

// mostPieces bounds the rectangles of jobs that are cut over several gaps.
const mostPieces = 3 * mostBars

// The measures of the picture, in hundredths of a pixel: whole numbers, so that
// bars that meet in time meet in the picture and none overlap.
const (
	pixel     = draw.Pixel
	pageWidth = 1150 * pixel
	plotLeft  = 120 * pixel
	plotWidth = 1010 * pixel
	allBands  = 720 * pixel // what the bands share by their nodes
	leastBand = 14 * pixel
	mostBand  = 300 * pixel
	mostLane  = 16 * pixel
	labelled  = 11 * pixel // a bar at least so high is labelled
)

// leastLabel is how many letters of a name a bar must have room for.
const leastLabel = 5

// WriteGantt draws gantt.svg: all sites over the same time axis, with the local jobs and the
// legs of VOs in each group as they ran. It needs a report that kept its jobs. If the facts
// promise a node twice, the error names the group.
func (r *Report) WriteGantt(w io.Writer) error {
	d, err := r.gantt(ganttOptions{headed: true, until: r.until})
	if err != nil {
		return err
	}
	return d.WriteSVG(w)
}

// ganttOptions say what a picture of a run is for.
type ganttOptions struct {
	headed bool      // it stands alone: with its name, its finding and its ground
	tried  bool      // also the windows that were held and never run
	dense  bool      // how full each group was, in place of bars, however few
	until  grid.Time // where the ruler ends, not before the run
}

// gantt draws a run.
func (r *Report) gantt(o ganttOptions) (*draw.Drawing, error) {
	if !r.kept {
		return nil, errors.New("the jobs of this run were not kept: there is nothing to draw")
	}
	p := &picture{ganttOptions: o, report: r}
	p.until = max(o.until, 1)
	if err := p.lay(); err != nil {
		return nil, err
	}
	p.place()
	p.head()
	for i := range p.bands {
		p.frame(&p.bands[i])
	}
	p.rulers()
	for i := range p.bands {
		b := &p.bands[i]
		p.names(b)
		if p.dense || len(b.mixed) > 0 {
			p.density(b)
		} else {
			p.draw(b)
		}
	}
	p.joins()
	p.holds()
	p.label()
	for i := range p.bands {
		p.used(&p.bands[i])
	}
	return p.Drawing, nil
}

// lay gives every bar its lanes, unless there are too many to draw.
func (p *picture) lay() error {
	p.bands = p.report.bands(false)
	if p.tried {
		p.report.addTried(p.bands)
	}
	for _, b := range p.bands {
		p.total += len(b.bars)
	}
	if len(p.bands) > mostBands {
		p.bands, p.dense = p.report.bands(true), true
	}
	p.dense = p.dense || p.total > mostBars
	pieces := 0
	for i := 0; i < len(p.bands) && !p.dense; i++ {
		b := &p.bands[i]
		var err error
		if b.laid, err = lay(b.bars, b.nodes); err != nil {
			return fmt.Errorf("site %s, group %s: %w", p.report.sites[b.site].name, b.name, err)
		}
		for _, list := range b.laid {
			pieces += len(list)
		}
		p.dense = pieces > mostPieces
	}
	return nil
}

// picture draws, remembering where the legs of each window came to lie.
type picture struct {
	*draw.Drawing
	ganttOptions
	report *Report
	bands  []band
	total  int     // jobs and legs
	top    draw.Px // of the first band
	bottom draw.Px
	knots  []knot
	labels []label
}

// knot is where a leg's bar begins, for the line that joins the legs of a window.
type knot struct {
	colour int
	draw.Point
}

// label is the name of a job in a leg's bar.
type label struct {
	class, name string
	at          draw.Point
}

// x is where an instant lies.
func (p *picture) x(t grid.Time) draw.Px { return timeX(t, p.until) }

// timeX is where an instant lies on a ruler from 0 to until.
func timeX(t, until grid.Time) draw.Px {
	t = max(0, min(t, until))
	return plotLeft + draw.Px(int64(t)*int64(plotWidth)/int64(until))
}

// place gives every band its height, by its nodes, and its y.
func (p *picture) place() {
	all := 1
	for _, b := range p.bands {
		all += b.nodes
	}
	p.top = 50 * pixel
	if p.headed {
		p.top = 94*pixel + 16*pixel*draw.Px(len(p.findingLines()))
	}
	if p.dense {
		p.top += 16 * pixel
	}
	y := p.top
	for i := range p.bands {
		b := &p.bands[i]
		if i == 0 || p.bands[i-1].site != b.site {
			y += 26 * pixel
		} else {
			y += 5 * pixel
		}
		lane := min(mostLane, allBands/draw.Px(all))
		b.y, b.h = y, min(max(lane*draw.Px(b.nodes), leastBand), max(mostBand, leastBand))
		y += b.h
	}
	p.bottom = y + 6*pixel
}

// draw draws the bars of a band lane by lane.
func (p *picture) draw(b *band) {
	p.Open("z " + fineness(b.h/draw.Px(b.nodes)))
	for i := range b.bars {
		p.bar(b, &b.bars[i], b.laid[i])
	}
	p.Close()
}

// bar draws one bar, in as many pieces as it was cut into, and remembers where
// the highest one of a leg begins.
func (p *picture) bar(b *band, one *bar, pieces []lanes.Piece) {
	lane := func(k int) draw.Px { return b.y + b.h*draw.Px(k)/draw.Px(b.nodes) }
	x, end := p.x(one.start), p.x(one.end)
	boxes := make([]draw.Box, len(pieces))
	best := 0
	for i, q := range pieces {
		y := lane(q.Lane)
		boxes[i] = draw.Box{X: x, Y: y, W: end - x, H: lane(q.Lane+q.Height) - y}
		if q.Height > pieces[best].Height {
			best = i
		}
	}
	p.Boxes(one.style(), boxes, p.words(one, b))
	if one.vo {
		high := boxes[best]
		middle := high.Y + high.H/2
		p.knots = append(p.knots, knot{one.colour, draw.Point{X: x, Y: middle}})
		p.name(one, high, middle)
	}
}

// name notes the job's name for a leg's bar that has the room.
func (p *picture) name(one *bar, b draw.Box, middle draw.Px) {
	name := one.tx.name()
	room := int(b.W/660) - 1 // letters of about 6.6 pixels
	if b.H < labelled || room < min(leastLabel, utf8.RuneCountInString(name)) {
		return
	}
	p.labels = append(p.labels, label{fmt.Sprintf("n n%d", one.colour%colours), clip(name, room), draw.Point{X: b.X + 4*pixel, Y: middle + 350}})
}

// label writes the names.
func (p *picture) label() {
	p.Open("p")
	for _, l := range p.labels {
		p.Words(l.class, l.at, l.name)
	}
	p.Close()
}

// words tells a bar in a tooltip.
func (p *picture) words(one *bar, b *band) string {
	where := fmt.Sprintf("%s/%s", p.report.sites[b.site].name, b.name)
	when := fmt.Sprintf("%s, %s to %s (%s)", grid.Count(one.nodes, "node"), moment(one.start), moment(one.end),
		span(one.end.Sub(one.start)))
	if !one.vo {
		return fmt.Sprintf("%s, local job %d: %s, %s", where, one.job, when, one.class)
	}
	l := &one.tx.Legs[one.leg]
	if one.tried {
		return fmt.Sprintf("%s, %s of %s: %s, held and not run", where, one.tx.name(), one.broker, when)
	}
	text := fmt.Sprintf("%s, %s of %s: %s, %s credits", where, one.tx.name(), one.broker, when, money(l.Fare.Total()))
	if l.Fare.Additive > 0 {
		text += fmt.Sprintf(" (%s for delay)", money(l.Fare.Additive))
	}
	if n := len(one.tx.Legs); n > 1 {
		text += fmt.Sprintf(", part %d of %d", one.leg+1, n)
	}
	if l.Part != "" {
		text += " (" + l.Part + ")"
	}
	return text
}

// name is the job's name, "" of a job that was never submitted.
func (t *transaction) name() string {
	if t.job == nil {
		return ""
	}
	return t.job.Name
}

// style is the class of a bar: its colour, or how a local job started.
func (b *bar) style() string {
	switch {
	case b.vo:
		return fmt.Sprintf("v v%d", b.colour%colours)
	case b.class == "backfilled":
		return "b"
	case b.class == "reserved":
		return "r"
	}
	return "i"
}

// holds outlines what was held and has not run, from the first lane down: other
// jobs may lie there.
func (p *picture) holds() {
	if p.dense {
		return
	}
	p.Open("z tried")
	for i := range p.bands {
		b := &p.bands[i]
		for k := range b.held {
			one := &b.held[k]
			x := p.x(one.start)
			p.Box("held", draw.Box{X: x, Y: b.y, W: p.x(one.end) - x, H: b.h * draw.Px(min(one.nodes, b.nodes)) / draw.Px(b.nodes)}, p.words(one, b))
		}
	}
	p.Close()
}

// joins draws a line through the legs of each window that has several.
func (p *picture) joins() {
	slices.SortStableFunc(p.knots, func(a, b knot) int {
		return cmp.Or(cmp.Compare(a.colour, b.colour), cmp.Compare(a.Y, b.Y))
	})
	var dots []knot
	p.Open("z")
	for i := 0; i < len(p.knots); {
		j := i
		for j < len(p.knots) && p.knots[j].colour == p.knots[i].colour {
			j++
		}
		if list := p.knots[i:j]; len(list) > 1 {
			path := make([]draw.Point, len(list))
			for k := range list {
				path[k] = list[k].Point
			}
			p.Line("h", path...)
			p.Line(fmt.Sprintf("j j%d", list[0].colour%colours), path...)
			dots = append(dots, list...)
		}
		i = j
	}
	p.Close()
	p.Open("p")
	for _, k := range dots {
		p.Dot(fmt.Sprintf("k%d", k.colour%colours), k.Point, 2*pixel, "")
	}
	p.Close()
}
