package report

import (
	"fmt"

	"github.com/bourse-grid/bourse/report/draw"
)

// The colours of all figures. Nothing is said by colour alone: a pattern, a dash or a
// word says it too.
const (
	inkLight, inkDark       = "#1f2328", "#e6edf3"
	faintLight, faintDark   = "#59636e", "#9198a1"
	groundLight, groundDark = "#fff", "#0d1117"
)

// palette can be told apart with colour-blindness (after Okabe and Ito). The second
// colour is that of a label on the first.
var palette = [][2]string{{"#0072b2", "#fff"}, {"#e69f00", "#111"}, {"#009e73", "#fff"}, {"#cc79a7", "#111"},
	{"#56b4e9", "#111"}, {"#d55e00", "#fff"}, {"#8064b4", "#fff"}, {"#9aae04", "#111"}}

var colours = len(palette)

// sheet is how the classes of all figures look.
var sheet = newSheet()

func newSheet() draw.Sheet {
	ground := draw.Pair(groundLight, groundDark)
	s := draw.Sheet{
		{Class: "", Fill: draw.Pair(inkLight, inkDark), Size: 12 * pixel},
		{Class: "t", Size: 17 * pixel, Bold: true},
		{Class: "s", Bold: true},
		{Class: "m", Fill: draw.Pair(faintLight, faintDark), Size: 11 * pixel},
		{Class: "e", Anchor: draw.End},
		{Class: "c", Anchor: draw.Middle},
		{Class: "q", Stroke: ground, Width: 4 * pixel, Round: true, Halo: true}, // words over lines
		{Class: "n", Size: 1050},
		{Class: "bg", Fill: ground},
		{Class: "band", Fill: draw.Pair("#f1f3f5", "#1b2129")},
		{Class: "g", Stroke: draw.Pair("#d1d6dc", "#343b44"), Width: 1 * pixel},
		{Class: "ax", Fill: draw.Flat("none"), Stroke: draw.Pair(faintLight, faintDark), Width: 1 * pixel},
		{Class: "o", Stroke: ground, Width: 60}, // gaps between bars, and fine ones
		{Class: "f", Stroke: ground, Width: 25},
		{Class: "i", Fill: draw.Pair("#b4bbc4", "#59626d")}, // local jobs
		{Class: "lf", Fill: draw.Pair("#b4bbc4", "#59626d")},
		{Class: "b", Fill: draw.Paint{Light: "#c9ced6", Dark: "#454d57", Pattern: draw.Hatch, Over: [2]string{"#77808b", "#8b949e"}}},
		{Class: "r", Fill: draw.Paint{Light: "#98a1ab", Dark: "#737d88", Pattern: draw.Dots, Over: [2]string{"#4b535d", "#c3cad2"}}},
		{Class: "v", Stroke: draw.Pair(inkLight, inkDark), Width: 50}, // legs of VOs
		{Class: "vf", Fill: draw.Pair("#0072b2", "#56b4e9")},
		{Class: "vb", Fill: draw.Paint{Light: "#cfe3f1", Dark: "#1d3a50", Pattern: draw.Hatch, Over: [2]string{"#0072b2", "#56b4e9"}}},
		{Class: "held", Fill: draw.Flat("none"), Stroke: draw.Pair(inkLight, inkDark), Width: 120, Dash: 4 * pixel},
		{Class: "h", Fill: draw.Flat("none"), Stroke: ground, Width: 2 * pixel, Opacity: 0.6}, // below a joining line
		{Class: "j", Fill: draw.Flat("none"), Width: 90},
		{Class: "l1", Fill: draw.Flat("none"), Stroke: draw.Pair("#0072b2", "#56b4e9"), Width: 160, Round: true},
		{Class: "l2", Fill: draw.Flat("none"), Stroke: draw.Pair(inkLight, inkDark), Width: 110, Dash: 4 * pixel},
		{Class: "pt", Fill: draw.Pair("#8c959f", "#767f89")}, // points of a front, and the one chosen
		{Class: "on", Fill: draw.Pair("#0072b2", "#56b4e9")},
		{Class: "pick", Fill: draw.Pair("#d55e00", "#ff8c42"), Stroke: draw.Pair(inkLight, inkDark), Width: 150},
		{Class: "paper", Fill: draw.Pair("#d55e00", "#ff8c42")},
	}
	for i, c := range palette {
		s = append(s, draw.Ink{Class: fmt.Sprint("v", i), Fill: draw.Flat(c[0])}, draw.Ink{Class: fmt.Sprint("k", i), Fill: draw.Flat(c[0])},
			draw.Ink{Class: fmt.Sprint("j", i), Stroke: draw.Flat(c[0])}, draw.Ink{Class: fmt.Sprint("n", i), Fill: draw.Flat(c[1])})
	}
	return s
}
