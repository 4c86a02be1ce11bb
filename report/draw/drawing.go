// Package draw holds drawings as lists of marks (rectangles, paths, dots, words)
// and writes them as SVG for pages and papers, or as PNG. A mark says where it is
// and of which classes; a Sheet says how the classes look, on light and on dark
// ground. The same drawing gives the same bytes.
//
// The package knows nothing of what is drawn: no data, no scales but plain axes.
// Lengths are whole hundredths of a pixel, so that marks that meet in the data
// meet in the drawing.
package draw

import "fmt"

// Px is a length in hundredths of a pixel.
type Px int

// Pixel is one pixel.
const Pixel Px = 100

// String shows the length in pixels with the decimals it needs.
func (v Px) String() string {
	if v < 0 {
		return "-" + (-v).String()
	}
	switch {
	case v%100 == 0:
		return fmt.Sprint(int(v / 100))
	case v%10 == 0:
		return fmt.Sprintf("%d.%d", int(v/100), int(v%100/10))
	}
	return fmt.Sprintf("%d.%02d", int(v/100), int(v%100))
}

// Point is a place; y grows downwards.
type Point struct{ X, Y Px }

// Box is a rectangle: its upper left corner and its size.
type Box struct{ X, Y, W, H Px }

// Drawing is a list of marks on a ground. Later ones lie above earlier ones. Its
// title is what a screen reader says of it.
type Drawing struct {
	Width, Height Px
	Title         string
	Sheet         Sheet
	marks         []mark
	open          int
}

// New returns an empty drawing.
func New(width, height Px, title string, sheet Sheet) *Drawing {
	return &Drawing{Width: width, Height: height, Title: title, Sheet: sheet}
}

type kind uint8

const (
	groupMark kind = iota
	endMark
	boxMark
	pathMark
	dotMark
	wordsMark
)

// mark is one mark of any kind; words are those written, or the tooltip.
type mark struct {
	kind   kind
	closed bool // of a path
	class  string
	words  string
	boxes  []Box   // of a box mark: one or more
	points []Point // of a path; of a dot and of words the place
	radius Px
}

// Open begins a group: its marks have what the group's classes say of them,
// where their own say nothing. End it with Close.
func (d *Drawing) Open(class string) {
	d.open++
	d.marks = append(d.marks, mark{kind: groupMark, class: class})
}

// Close ends the group that was opened last; there must be one.
func (d *Drawing) Close() {
	if d.open--; d.open < 0 {
		panic("draw: a group is closed that was not opened")
	}
	d.marks = append(d.marks, mark{kind: endMark})
}

// Box draws a rectangle. The tip, if there is one, is told when it is pointed at.
func (d *Drawing) Box(class string, b Box, tip string) { d.Boxes(class, []Box{b}, tip) }

// Boxes draws rectangles that are one thing with one tip.
func (d *Drawing) Boxes(class string, boxes []Box, tip string) {
	d.marks = append(d.marks, mark{kind: boxMark, class: class, boxes: boxes, words: tip})
}

// Line draws a line through points.
func (d *Drawing) Line(class string, points ...Point) {
	d.marks = append(d.marks, mark{kind: pathMark, class: class, points: points})
}

// Area draws what points enclose.
func (d *Drawing) Area(class string, points []Point, tip string) {
	d.marks = append(d.marks, mark{kind: pathMark, closed: true, class: class, points: points, words: tip})
}

// Dot draws a disc.
func (d *Drawing) Dot(class string, at Point, radius Px, tip string) {
	d.marks = append(d.marks, mark{kind: dotMark, class: class, points: []Point{at}, radius: radius, words: tip})
}

// Words writes a line of text; at is on its baseline, where it begins unless its
// class has another anchor.
func (d *Drawing) Words(class string, at Point, words string) {
	d.marks = append(d.marks, mark{kind: wordsMark, class: class, points: []Point{at}, words: words})
}

// Len is the number of marks.
func (d *Drawing) Len() int { return len(d.marks) }
