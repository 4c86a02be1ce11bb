package report

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/draw"
)

// fineness is the class of a band's bars by the height of a lane: fine lanes
// have fine gaps between.
func fineness(lane draw.Px) string {
	if lane < 4*pixel {
		return "f"
	}
	return "o"
}

// head begins the picture: its size and its legend and, where it stands alone,
// its ground, its name and its finding.
func (p *picture) head() {
	sum := &p.report.Summary
	p.Drawing = draw.New(pageWidth, p.bottom+34*pixel, sum.Scenario+": what ran where", sheet)
	p.Box("bg", draw.Box{W: p.Width, H: p.Height}, "")
	if !p.headed {
		p.legend(18 * pixel)
		return
	}
	p.text("t", 20*pixel, 32*pixel, sum.Scenario)
	p.text("m e", pageWidth-20*pixel, 32*pixel, fmt.Sprintf("seed %d, until %s", sum.Seed, tickLabel(p.report.until, grid.Second)))
	y := 36 * pixel
	for _, line := range p.findingLines() {
		y += 16 * pixel
		p.text("", 20*pixel, y, line)
	}
	p.legend(y + 26*pixel)
}

// findingLines is the finding, cut where the page ends.
func (p *picture) findingLines() []string {
	return wrap(p.report.Summary.Finding, 165)
}

func (p *picture) text(class string, x, y draw.Px, words string) {
	p.Words(class, draw.Point{X: x, Y: y}, words)
}

// legend says what the fills mean, and what is not shown.
func (p *picture) legend(y draw.Px) {
	x := 20 * pixel
	entry := func(class, words string) {
		p.Box(class, draw.Box{X: x, Y: y - 9*pixel, W: 22 * pixel, H: 11 * pixel}, "")
		p.text("", x+28*pixel, y+50, words)
		x += 28*pixel + 680*draw.Px(len(words)) + 14*pixel
	}
	if p.dense {
		entry("lf", "nodes with local jobs")
		entry("vf", "nodes with VO legs")
		p.text("m", 20*pixel, y+18*pixel, fmt.Sprintf("%s are too many to draw one by one: shown is the mean of nodes in use, %s a step.",
			p.crowd(), span(grid.Duration(int64(p.until)/int64(steps)))))
		return
	}
	if slices.ContainsFunc(p.bands, func(b band) bool { return len(b.mixed) > 0 }) {
		p.text("m", plotLeft, p.bottom+28*pixel, "Where several jobs share a node, the mean of nodes in use is shown, in grey and blue.")
	}
	entry("i", "local, started at once")
	entry("b", "backfilled")
	entry("r", "from its reserved place")
	if len(p.report.brokers) == 0 {
		return
	}
	entry("v v0", "VO leg, a colour for each job")
	if p.tried {
		entry("held", "held, not run")
	}
	ends := []draw.Point{{X: x + 10*pixel, Y: y - 9*pixel}, {X: x + 10*pixel, Y: y + 2*pixel}}
	p.Line("j j0", ends...)
	for _, at := range ends {
		p.Dot("k0", at, 2*pixel, "")
	}
	p.text("", x+20*pixel, y+50, "one window on several groups")
}

// crowd says what there are too many of.
func (p *picture) crowd() string {
	if groups := len(p.report.bands(false)); groups > mostBands {
		return grid.Count(groups, "group")
	}
	return fmt.Sprintf("%s and legs", grid.Count(p.total, "job"))
}

// rulers draws the ticks through all bands, named above and below them.
func (p *picture) rulers() {
	ruler(p.Drawing, p.until, p.top-2*pixel, p.bottom, true)
}

// ruler draws the ticks of time from top to bottom, named below and, if both,
// above.
func ruler(d *draw.Drawing, until grid.Time, top, bottom draw.Px, both bool) {
	d.Open("ticks")
	step := tickStep(until)
	for t := grid.Time(0); t <= until; t = t.Add(step) {
		x := timeX(t, until)
		d.Line("g", draw.Point{X: x, Y: top}, draw.Point{X: x, Y: bottom})
		if both {
			d.Words("m c", draw.Point{X: x, Y: top - 5*pixel}, tickLabel(t, step))
		}
		d.Words("m c", draw.Point{X: x, Y: bottom + 14*pixel}, tickLabel(t, step))
	}
	d.Close()
}

// frame draws a band's ground.
func (p *picture) frame(b *band) {
	p.Box("band", draw.Box{X: plotLeft, Y: b.y, W: plotWidth, H: b.h}, "")
}

// names writes a band's names: the site's above its first group, the group's to
// the left.
func (p *picture) names(b *band) {
	if p.opens(b) {
		p.Box("bg", draw.Box{X: plotLeft - pixel, Y: b.y - 19*pixel, W: plotWidth + 2*pixel, H: 17 * pixel}, "")
		p.text("s", 20*pixel, b.y-7*pixel, p.report.Summary.Sites[b.site].Name)
	}
	x, middle, nodes := plotLeft-8*pixel, b.y+b.h/2, grid.Count(b.nodes, "node")
	if b.h >= 30*pixel {
		p.text("m e", x, middle-2*pixel, clip(b.name, 16))
		p.text("m e", x, middle+12*pixel, nodes)
		return
	}
	p.text("m e", x, middle+4*pixel, clip(b.name, 15-len(nodes))+", "+nodes)
}

// used writes above a site's first band how full it was, over the lines that join
// legs.
func (p *picture) used(b *band) {
	if !p.opens(b) {
		return
	}
	u := p.report.Summary.Sites[b.site].Utilisation
	p.text("m e q", plotLeft+plotWidth, b.y-7*pixel,
		fmt.Sprintf("%s used: %s by local jobs, %s by VOs", percent(u.All), percent(u.Local), percent(u.VO)))
}

// opens reports whether b is the first band of its site.
func (p *picture) opens(b *band) bool {
	for i := range p.bands {
		if p.bands[i].site == b.site {
			return &p.bands[i] == b
		}
	}
	return false
}

// clip shows at most n > 0 letters of a name.
func clip(name string, n int) string {
	letters := []rune(name)
	if len(letters) <= n {
		return name
	}
	return string(letters[:max(n-1, 1)]) + "…"
}
