package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"bourse"
)

// palette is told apart by people who see colours differently too (after Okabe
// and Ito); the second colour is that of a label on it.
var palette = [][2]string{{"#0072b2", "#fff"}, {"#e69f00", "#111"}, {"#009e73", "#fff"}, {"#cc79a7", "#111"},
	{"#56b4e9", "#111"}, {"#d55e00", "#fff"}, {"#8064b4", "#fff"}, {"#9aae04", "#111"}}

var colours = len(palette)

const styleLight = `text{font:12px system-ui,"Segoe UI","Helvetica Neue",Arial,sans-serif;fill:#1f2328}
.t{font-size:17px;font-weight:600}.s{font-weight:600}.m{fill:#59636e;font-size:11px}.e{text-anchor:end}.c{text-anchor:middle}
.q{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}
.n{font-size:10.5px;pointer-events:none}
.bg{fill:#fff}.band{fill:#f1f3f5}.g{stroke:#d1d6dc;stroke-width:1}
.i,.lf{fill:#b4bbc4}.b{fill:url(#hatch)}.r{fill:url(#dots)}
.hb{fill:#c9ced6}.hl{stroke:#77808b;stroke-width:1.1}.db{fill:#98a1ab}.dd{fill:#4b535d}
.o rect{stroke:#fff;stroke-width:.6}.f rect{stroke:#fff;stroke-width:.25}
rect.v,.o rect.v,.f rect.v{stroke:#1f2328;stroke-width:.5}
.rl{stroke:#1f2328;stroke-width:1.2;fill:none}
.h{fill:none;stroke:#fff;stroke-width:2;stroke-opacity:.6}.j{fill:none;stroke-width:.9}.k{stroke:none}
.vf{fill:#0072b2}
`

// styleDark is for screens only: paper stays white.
const styleDark = `@media screen and (prefers-color-scheme:dark){text{fill:#e6edf3}.m{fill:#9198a1}
.bg{fill:#0d1117}.q{stroke:#0d1117}.band{fill:#1b2129}.g{stroke:#343b44}.i,.lf{fill:#59626d}
.hb{fill:#454d57}.hl{stroke:#8b949e}.db{fill:#737d88}.dd{fill:#c3cad2}.o rect,.f rect{stroke:#0d1117}
rect.v,.o rect.v,.f rect.v{stroke:#e6edf3}.h{stroke:#0d1117}.rl{stroke:#e6edf3}.vf{fill:#56b4e9}}
`

// fineness is the class of a band's bars by the height of a lane: fine lanes
// have fine gaps between.
func fineness(lane int) string {
	if lane < 4*pixel {
		return "f"
	}
	return "o"
}

// head opens the picture: its size, its colours, its name and its legend.
func (p *picture) head() {
	height := p.bottom + 34*pixel
	p.print("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%v\" height=\"%v\" viewBox=\"0 0 %v %v\">\n",
		px(pageWidth), px(height), px(pageWidth), px(height))
	sum := &p.report.Summary
	p.print("<title>%s: what ran where</title>\n<style>\n%s", escape(sum.Scenario), styleLight)
	for i, c := range palette {
		p.print(".v%d,.k.j%d{fill:%s}.j%d{stroke:%s}text.n%d{fill:%s}\n", i, i, c[0], i, c[0], i, c[1])
	}
	p.print("%s</style>\n", styleDark)
	p.print("<defs><pattern id=\"hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">" +
		"<rect class=\"hb\" width=\"4\" height=\"4\"/><path class=\"hl\" d=\"M0 0V4\"/></pattern>\n" +
		"<pattern id=\"dots\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">" +
		"<rect class=\"db\" width=\"4\" height=\"4\"/><circle class=\"dd\" cx=\"2\" cy=\"2\" r=\".7\"/></pattern></defs>\n")
	p.print("<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n")
	p.text("t", 20*pixel, 32*pixel, sum.Scenario)
	p.text("m e", pageWidth-20*pixel, 32*pixel, fmt.Sprintf("seed %d, until %s", sum.Seed, tickLabel(p.report.until, bourse.Second)))
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

func (p *picture) text(class string, x, y int, words string) {
	if class != "" {
		class = " class=\"" + class + "\""
	}
	p.print("<text%s x=\"%v\" y=\"%v\">%s</text>\n", class, px(x), px(y), escape(words))
}

// legend says what the fills mean, and what is not shown.
func (p *picture) legend(y int) {
	x := 20 * pixel
	entry := func(class, words string) {
		p.print("<rect class=\"%s\" x=\"%v\" y=\"%v\" width=\"22\" height=\"11\"/>\n", class, px(x), px(y-9*pixel))
		p.text("", x+28*pixel, y+50, words)
		x += 28*pixel + 680*len(words) + 14*pixel
	}
	if p.dense {
		entry("lf", "nodes with local jobs")
		entry("vf", "nodes with VO legs")
		p.text("m", 20*pixel, y+18*pixel, fmt.Sprintf("%s are too many to draw one by one: shown is the mean of nodes in use, %s a step.",
			p.crowd(), span(bourse.Duration(int64(p.until)/steps))))
		return
	}
	entry("i", "local, started at once")
	entry("b", "backfilled")
	entry("r", "from its reserved place")
	if len(p.report.brokers) > 0 {
		entry("v v0", "VO leg, a colour for each job")
		p.print("<path class=\"j j0\" d=\"M%v %vV%v\"/><circle class=\"k j0\" cx=\"%v\" cy=\"%v\" r=\"2\"/><circle class=\"k j0\" cx=\"%v\" cy=\"%v\" r=\"2\"/>\n",
			px(x+10*pixel), px(y-9*pixel), px(y+2*pixel), px(x+10*pixel), px(y-9*pixel), px(x+10*pixel), px(y+2*pixel))
		p.text("", x+20*pixel, y+50, "one window on several groups")
	}
}

// crowd says what there are too many of.
func (p *picture) crowd() string {
	if groups := len(p.report.bands(false)); groups > mostBands {
		return fmt.Sprintf("%d groups", groups)
	}
	return fmt.Sprintf("%d jobs and legs", p.total)
}

// rulers draws the ticks through all bands, named above and below them.
func (p *picture) rulers() {
	step := tickStep(p.until)
	for t := bourse.Time(0); t <= p.until; t = t.Add(step) {
		x := p.x(t)
		p.print("<path class=\"g\" d=\"M%v %vV%v\"/>\n", px(x), px(p.top-2*pixel), px(p.bottom))
		p.text("m c", x, p.top-7*pixel, tickLabel(t, step))
		p.text("m c", x, p.bottom+14*pixel, tickLabel(t, step))
	}
}

// frame draws a band's ground.
func (p *picture) frame(b *band) {
	p.print("<rect class=\"band\" x=\"%v\" y=\"%v\" width=\"%v\" height=\"%v\"/>\n", px(plotLeft), px(b.y), px(plotWidth), px(b.h))
}

// names writes a band's names: the site's above its first group, the group's to
// the left.
func (p *picture) names(b *band) {
	if p.opens(b) {
		p.print("<rect class=\"bg\" x=\"%v\" y=\"%v\" width=\"%v\" height=\"17\"/>\n", px(plotLeft-pixel), px(b.y-19*pixel), px(plotWidth+2*pixel))
		p.text("s", 20*pixel, b.y-7*pixel, p.report.Summary.Sites[b.site].Name)
	}
	x, middle, nodes := plotLeft-8*pixel, b.y+b.h/2, count(b.nodes, "node")
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

// escape makes a text safe inside XML.
func escape(s string) string {
	if !strings.ContainsAny(s, "<>&'\"") && isPlain(s) {
		return s
	}
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // a buffer takes everything
	return b.String()
}

// isPlain reports whether s has only letters that XML allows anywhere.
func isPlain(s string) bool {
	for _, c := range s {
		if c < ' ' || c >= 0x7f {
			return false
		}
	}
	return true
}
