package draw

import (
	"fmt"
	"image"
	"image/color"
	idraw "image/draw"
	"image/png"
	"io"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// mostPixels bounds a picture: 256 MB of memory while it is drawn.
const mostPixels = 64 << 20

// WritePNG draws the picture in light colours, with scale pixels for one of the
// drawing, 1 to 8; less where it would have more than 64 million. The words are
// in the Go fonts.
func (d *Drawing) WritePNG(w io.Writer, scale int) error {
	scale, size, err := d.fit(scale)
	if err != nil {
		return err
	}
	p := &painter{scale: float64(scale) / 100, sheet: d.Sheet, looks: map[string]Ink{}, faces: map[faceKey]font.Face{},
		image: image.NewRGBA(image.Rectangle{Max: size})}
	idraw.Draw(p.image, p.image.Bounds(), image.White, image.Point{}, idraw.Src)
	inherited, path := []Ink{{}}, []string{""}
	for i := range d.marks {
		m := &d.marks[i]
		switch top := len(inherited) - 1; m.kind {
		case groupMark:
			inherited = append(inherited, p.look(inherited[top], path[top], m.class, false))
			path = append(path, path[top]+"/"+m.class)
		case endMark:
			inherited, path = inherited[:top], path[:top]
		default:
			k := p.look(inherited[top], path[top], m.class, m.kind == wordsMark)
			if err := p.paint(m, &k); err != nil {
				return err
			}
		}
	}
	return png.Encode(w, p.image)
}

// fit returns the greatest scale up to the given one at which the picture is
// within the bound, and its size.
func (d *Drawing) fit(scale int) (int, image.Point, error) {
	if scale < 1 || scale > 8 {
		return 0, image.Point{}, fmt.Errorf("scale %d: must be 1 to 8", scale)
	}
	for ; scale > 0; scale-- {
		size := image.Pt((int(d.Width)*scale+99)/100, (int(d.Height)*scale+99)/100)
		if size.X*size.Y <= mostPixels {
			return scale, size, nil
		}
	}
	return 0, image.Point{}, fmt.Errorf("a picture of %v by %v pixels is too large, %d in all are the most", d.Width, d.Height, mostPixels)
}

// painter paints marks on an image.
type painter struct {
	scale  float64 // pixels of the image for a hundredth of one of the drawing
	sheet  Sheet
	looks  map[string]Ink
	faces  map[faceKey]font.Face
	image  *image.RGBA
	raster vector.Rasterizer
}

// look remembers what classes come to.
func (p *painter) look(inherited Ink, path, classes string, words bool) Ink {
	key := fmt.Sprint(path, "\x00", classes, words)
	k, ok := p.looks[key]
	if !ok {
		k = p.sheet.look(inherited, classes, words)
		p.looks[key] = k
	}
	return k
}

func (p *painter) paint(m *mark, k *Ink) error {
	switch m.kind {
	case boxMark:
		for _, b := range m.boxes {
			corners := []Point{{b.X, b.Y}, {b.X + b.W, b.Y}, {b.X + b.W, b.Y + b.H}, {b.X, b.Y + b.H}}
			p.fill(k.Fill, "#000000", 1, p.places(corners))
			p.stroke(k, corners, true)
		}
	case pathMark:
		if m.closed {
			p.fill(k.Fill, "#000000", 1, p.places(m.points))
		}
		p.stroke(k, m.points, m.closed)
	case dotMark:
		r := float64(m.radius) * p.scale
		c := p.places(m.points)[0]
		p.fill(k.Fill, "#000000", 1, disc(c, r))
		if k.Stroke.Light != "" && k.Stroke.Light != "none" {
			ring, width := disc(c, r), max(float64(k.Width), 100)*p.scale
			p.segments(k, append(ring, ring[0]), width)
		}
	case wordsMark:
		return p.words(m, k)
	}
	return nil
}

// place is a place on the image.
type place struct{ x, y float64 }

func (p *painter) places(points []Point) []place {
	list := make([]place, len(points))
	for i, q := range points {
		list[i] = place{float64(q.X) * p.scale, float64(q.Y) * p.scale}
	}
	return list
}

func disc(c place, r float64) []place {
	list := make([]place, 24)
	for i := range list {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(list)))
		list[i] = place{c.x + r*cos, c.y + r*sin}
	}
	return list
}

// fill fills a polygon, in the colour otherwise where the paint says nothing.
func (p *painter) fill(paint Paint, otherwise string, opacity float64, polygon []place) {
	if paint.Light == "none" || len(polygon) < 3 {
		return
	}
	colour := paint.Light
	if colour == "" {
		colour = otherwise
	}
	left, top, right, bottom := polygon[0].x, polygon[0].y, polygon[0].x, polygon[0].y
	for _, q := range polygon {
		left, right, top, bottom = min(left, q.x), max(right, q.x), min(top, q.y), max(bottom, q.y)
	}
	area := image.Rect(int(math.Floor(left)), int(math.Floor(top)), int(math.Ceil(right))+1, int(math.Ceil(bottom))+1).Intersect(p.image.Bounds())
	if area.Empty() {
		return
	}
	p.raster.Reset(area.Dx(), area.Dy())
	for i, q := range polygon {
		x, y := float32(q.x-float64(area.Min.X)), float32(q.y-float64(area.Min.Y))
		if i == 0 {
			p.raster.MoveTo(x, y)
		} else {
			p.raster.LineTo(x, y)
		}
	}
	p.raster.ClosePath()
	p.raster.Draw(p.image, area, p.source(paint, colour, opacity), area.Min)
}

// source is the colour or the pattern of a paint.
func (p *painter) source(paint Paint, colour string, opacity float64) image.Image {
	c := rgba(colour)
	if paint.Pattern == Plain {
		if opacity > 0 && opacity < 1 {
			by := func(v uint8) uint8 { return uint8(float64(v)*opacity + 0.5) }
			c = color.RGBA{by(c.R), by(c.G), by(c.B), by(255)}
		}
		return image.NewUniform(c)
	}
	return &texture{paint.Pattern, c, rgba(paint.Over[0]), p.scale * 100}
}

// texture is a pattern as an endless image.
type texture struct {
	pattern      Pattern
	ground, over color.RGBA
	scale        float64
}

// ColorModel, Bounds and At make a texture an image.
func (t *texture) ColorModel() color.Model { return color.RGBAModel }

// Bounds are all that a picture can have.
func (t *texture) Bounds() image.Rectangle { return image.Rect(-1e9, -1e9, 1e9, 1e9) }

// At is the colour of a pixel: of a tile of 4 by 4 pixels of the drawing.
func (t *texture) At(x, y int) color.Color {
	u, v := float64(x)/t.scale, float64(y)/t.scale
	switch t.pattern {
	case Hatch:
		if math.Mod(u+v, 4*math.Sqrt2) < 1.1*math.Sqrt2 {
			return t.over
		}
	case Dots:
		if du, dv := math.Mod(u, 4)-2, math.Mod(v, 4)-2; du*du+dv*dv <= 0.7*0.7 {
			return t.over
		}
	}
	return t.ground
}

// stroke draws a line through points, dashed if its ink is.
func (p *painter) stroke(k *Ink, points []Point, closed bool) {
	if k.Stroke.Light == "" || k.Stroke.Light == "none" || len(points) < 2 {
		return
	}
	line := p.places(points)
	if closed {
		line = append(line, line[0])
	}
	width := float64(k.Width) * p.scale
	if k.Width == 0 {
		width = 100 * p.scale
	}
	if k.Dash == 0 {
		p.segments(k, line, width)
		return
	}
	for _, dash := range dashes(line, float64(k.Dash)*p.scale) {
		p.segments(k, dash, width)
	}
}

// dashes cuts a line into dashes with gaps as long.
func dashes(line []place, length float64) [][]place {
	var list [][]place
	dash, on, left := []place{line[0]}, true, length
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		for {
			rest := math.Hypot(b.x-a.x, b.y-a.y)
			if rest <= left {
				left -= rest
				dash = append(dash, b)
				break
			}
			a = place{a.x + (b.x-a.x)*left/rest, a.y + (b.y-a.y)*left/rest}
			if dash = append(dash, a); on {
				list = append(list, dash)
			}
			dash, on, left = []place{a}, !on, length
		}
	}
	if on && len(dash) > 1 {
		list = append(list, dash)
	}
	return list
}

// segments draws a line as a bar for each of its segments.
func (p *painter) segments(k *Ink, line []place, width float64) {
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		// Half as wide to each side; corners of steps are filled by the bars' overlap.
		dx, dy := (b.x-a.x)/length*width/2, (b.y-a.y)/length*width/2
		if i > 1 {
			a.x, a.y = a.x-dx, a.y-dy
		}
		p.fill(k.Stroke, "#000000", k.Opacity, []place{{a.x - dy, a.y + dx}, {b.x - dy, b.y + dx}, {b.x + dy, b.y - dx}, {a.x + dy, a.y - dx}})
	}
}

// fontsOnce parses the two fonts.
var fontsOnce = sync.OnceValues(func() ([2]*opentype.Font, error) {
	regular, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return [2]*opentype.Font{}, err
	}
	bold, err := opentype.Parse(gobold.TTF)
	return [2]*opentype.Font{regular, bold}, err
})

type faceKey struct {
	size Px
	bold bool
}

func (p *painter) face(k *Ink) (font.Face, error) {
	key := faceKey{k.Size, k.Bold}
	if key.size == 0 {
		key.size = 12 * Pixel
	}
	if f, ok := p.faces[key]; ok {
		return f, nil
	}
	fonts, err := fontsOnce()
	if err != nil {
		return nil, err
	}
	weight := 0
	if key.bold {
		weight = 1
	}
	f, err := opentype.NewFace(fonts[weight], &opentype.FaceOptions{Size: float64(key.size) * p.scale, DPI: 72, Hinting: font.HintingNone})
	if err == nil {
		p.faces[key] = f
	}
	return f, err
}

// words writes a line of text, on its halo if it has one.
func (p *painter) words(m *mark, k *Ink) error {
	face, err := p.face(k)
	if err != nil {
		return err
	}
	at := p.places(m.points)[0]
	width := float64(font.MeasureString(face, m.words)) / 64
	switch k.Anchor {
	case Middle:
		at.x -= width / 2
	case End:
		at.x -= width
	}
	write := func(colour string, dx, dy float64) {
		d := font.Drawer{Dst: p.image, Src: image.NewUniform(rgba(colour)), Face: face,
			Dot: fixed.Point26_6{X: fixed.Int26_6((at.x + dx) * 64), Y: fixed.Int26_6((at.y + dy) * 64)}}
		d.DrawString(m.words)
	}
	if k.Halo && k.Stroke.Light != "" {
		r := float64(k.Width) * p.scale / 2
		for i := range 12 {
			sin, cos := math.Sincos(math.Pi * float64(i) / 6)
			write(k.Stroke.Light, r*cos, r*sin)
		}
	}
	colour := k.Fill.Light
	if colour == "" || colour == "none" {
		colour = "#000000"
	}
	write(colour, 0, 0)
	return nil
}
