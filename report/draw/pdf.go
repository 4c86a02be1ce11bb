package draw

import (
	"io"
	"math"
	"time"

	"github.com/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
)

// pdfScale is how many points of a page make up a hundredth of a pixel: 96 pixels are an inch.
const pdfScale = 0.75 / 100

// WritePDF writes the drawing as a page of its size, in light colours, with the words in the
// Go fonts. A pattern is drawn as its ground. The same drawing gives the same bytes.
func (d *Drawing) WritePDF(w io.Writer) error {
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: float64(d.Width) * pdfScale, Ht: float64(d.Height) * pdfScale}})
	f.SetCreationDate(time.Unix(0, 0).UTC())
	f.SetModificationDate(time.Unix(0, 0).UTC())
	f.SetCatalogSort(true)
	f.SetTitle(d.Title, true)
	f.SetMargins(0, 0, 0)
	f.SetAutoPageBreak(false, 0)
	f.AddUTF8FontFromBytes("go", "", goregular.TTF)
	f.AddUTF8FontFromBytes("go", "B", gobold.TTF)
	f.AddPage()
	p := &page{f}
	inherited := []Ink{{}}
	for i := range d.marks {
		m := &d.marks[i]
		switch top := len(inherited) - 1; m.kind {
		case groupMark:
			inherited = append(inherited, d.Sheet.look(inherited[top], m.class, false))
		case endMark:
			inherited = inherited[:top]
		default:
			k := d.Sheet.look(inherited[top], m.class, m.kind == wordsMark)
			p.paint(m, &k)
		}
	}
	return f.Output(w)
}

// page is a page on which marks are drawn.
type page struct{ *fpdf.Fpdf }

func (p *page) paint(m *mark, k *Ink) {
	if m.kind == wordsMark {
		p.words(m, k)
		return
	}
	how := p.ink(k, m.kind == boxMark || m.kind == dotMark || m.closed)
	if how == "" {
		return
	}
	switch m.kind {
	case boxMark:
		for _, b := range m.boxes {
			p.Rect(pt(b.X), pt(b.Y), pt(b.W), pt(b.H), how)
		}
	case dotMark:
		p.Circle(pt(m.points[0].X), pt(m.points[0].Y), pt(m.radius), how)
	case pathMark:
		for i, q := range m.points {
			if i == 0 {
				p.MoveTo(pt(q.X), pt(q.Y))
			} else {
				p.LineTo(pt(q.X), pt(q.Y))
			}
		}
		if m.closed {
			p.ClosePath()
		}
		p.DrawPath(how)
	}
}

func pt(v Px) float64 { return float64(v) * pdfScale }

// ink sets the colours of a mark, and says whether it is filled, drawn or both.
func (p *page) ink(k *Ink, solid bool) (how string) {
	if k.Fill.Light != "none" && solid {
		how = "F"
		p.SetFillColor(rgb(k.Fill.Light))
	}
	if k.Stroke.Light == "" || k.Stroke.Light == "none" {
		return how
	}
	p.SetDrawColor(rgb(k.Stroke.Light))
	p.SetLineWidth(pt(max(k.Width, 25)))
	dash := []float64{}
	if k.Dash > 0 {
		dash = []float64{pt(k.Dash), pt(k.Dash)}
	}
	p.SetDashPattern(dash, 0)
	opacity := 1.0
	if k.Opacity > 0 {
		opacity = k.Opacity
	}
	p.SetAlpha(opacity, "Normal")
	return how + "D"
}

func (p *page) words(m *mark, k *Ink) {
	style := ""
	if k.Bold {
		style = "B"
	}
	p.SetAlpha(1, "Normal")
	p.SetFont("go", style, math.Round(pt(k.Size)*100)/100)
	at := pt(m.points[0].X)
	switch width := p.GetStringWidth(m.words); k.Anchor {
	case Middle:
		at -= width / 2
	case End:
		at -= width
	}
	colour := k.Fill.Light
	if colour == "none" {
		colour = ""
	}
	p.SetTextColor(rgb(colour))
	p.Text(at, pt(m.points[0].Y), m.words)
}

// rgb is a colour as numbers; none is black.
func rgb(colour string) (r, g, b int) {
	if colour == "" {
		return 0, 0, 0
	}
	c := rgba(colour)
	return int(c.R), int(c.G), int(c.B)
}
