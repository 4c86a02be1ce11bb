package draw

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WriteSVG writes the drawing as a file of its own, with its sheet.
func (d *Drawing) WriteSVG(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%v\" height=\"%v\" viewBox=\"0 0 %v %v\">\n",
		d.Width, d.Height, d.Width, d.Height)
	fmt.Fprintf(out, "<title>%s</title>\n<style>\n%s</style>\n", Escape(d.Title), d.Sheet.Rules())
	out.WriteString(d.Sheet.Defs())
	d.writeMarks(out)
	out.WriteString("</svg>\n")
	return out.Flush()
}

// WriteInline writes the drawing as an element of a page, which must hold the
// sheet's Rules and, once, its Defs.
func (d *Drawing) WriteInline(w io.Writer, id string) error {
	out := bufio.NewWriterSize(w, 1<<16)
	fmt.Fprintf(out, "<svg id=\"%s\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %v %v\" style=\"max-width:%vpx\">\n",
		Escape(id), Escape(d.Title), d.Width, d.Height, d.Width)
	d.writeMarks(out)
	out.WriteString("</svg>\n")
	return out.Flush()
}

// Rules are the sheet's rules with those of its patterns.
func (s Sheet) Rules() string {
	_, light, dark := s.patterns()
	rules := light + s.CSS()
	if dark != "" {
		rules += "@media screen and (prefers-color-scheme:dark){\n" + dark + "}\n"
	}
	return rules
}

// Defs are the definitions of the sheet's patterns, an element of SVG.
func (s Sheet) Defs() string {
	defs, _, _ := s.patterns()
	if defs == "" {
		return ""
	}
	return "<defs>" + strings.TrimSuffix(defs, "\n") + "</defs>\n"
}

func (d *Drawing) writeMarks(out *bufio.Writer) {
	for i := range d.marks {
		m := &d.marks[i]
		switch m.kind {
		case groupMark:
			fmt.Fprintf(out, "<g class=\"%s\">\n", m.class)
		case endMark:
			out.WriteString("</g>\n")
		case boxMark:
			m.writeBoxes(out)
		case pathMark:
			fmt.Fprintf(out, "<path class=\"%s\" d=\"%s\"", m.class, outline(m.points, m.closed))
			m.end(out, "path")
		case dotMark:
			fmt.Fprintf(out, "<circle class=\"%s\" cx=\"%v\" cy=\"%v\" r=\"%v\"", m.class, m.points[0].X, m.points[0].Y, m.radius)
			m.end(out, "circle")
		case wordsMark:
			class := m.class
			if class != "" {
				class = " class=\"" + class + "\""
			}
			fmt.Fprintf(out, "<text%s x=\"%v\" y=\"%v\">%s</text>\n", class, m.points[0].X, m.points[0].Y, Escape(m.words))
		}
	}
}

// writeBoxes writes the rectangles of a mark, in a group if they are several.
func (m *mark) writeBoxes(out *bufio.Writer) {
	tip, several := "", len(m.boxes) > 1
	if m.words != "" {
		tip = "<title>" + Escape(m.words) + "</title>"
	}
	if several {
		out.WriteString("<g>" + tip)
	}
	for _, b := range m.boxes {
		fmt.Fprintf(out, "<rect class=\"%s\" x=\"%v\" y=\"%v\" width=\"%v\" height=\"%v\"", m.class, b.X, b.Y, b.W, b.H)
		if several || tip == "" {
			out.WriteString("/>")
		} else {
			out.WriteString(">" + tip + "</rect>")
		}
	}
	if several {
		out.WriteString("</g>")
	}
	out.WriteString("\n")
}

// end ends an element, with the mark's tip if there is one.
func (m *mark) end(out *bufio.Writer, element string) {
	if m.words == "" {
		out.WriteString("/>\n")
		return
	}
	fmt.Fprintf(out, "><title>%s</title></%s>\n", Escape(m.words), element)
}

// outline is the d of a path: horizontal and vertical lines are written shorter.
func outline(points []Point, closed bool) string {
	var b strings.Builder
	for i, p := range points {
		switch {
		case i == 0:
			fmt.Fprintf(&b, "M%v %v", p.X, p.Y)
		case p == points[i-1]:
		case p.Y == points[i-1].Y:
			fmt.Fprintf(&b, "H%v", p.X)
		case p.X == points[i-1].X:
			fmt.Fprintf(&b, "V%v", p.Y)
		default:
			fmt.Fprintf(&b, "L%v %v", p.X, p.Y)
		}
	}
	if closed {
		b.WriteString("Z")
	}
	return b.String()
}

// Escape makes a text safe inside XML and HTML. What XML allows nowhere becomes
// U+FFFD.
func Escape(s string) string {
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
