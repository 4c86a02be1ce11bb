package draw

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"
)

var testSheet = Sheet{
	{Class: "", Fill: Pair("#111111", "#eeeeee"), Size: 12 * Pixel},
	{Class: "red", Fill: Flat("#ff0000")},
	{Class: "line", Fill: Flat("none"), Stroke: Pair("#0000ff", "#00ffff"), Width: 2 * Pixel},
	{Class: "dash", Dash: 4 * Pixel},
	{Class: "hatch", Fill: Paint{Light: "#ffff00", Dark: "#333300", Pattern: Hatch, Over: [2]string{"#008000", "#00ff00"}}},
	{Class: "end", Anchor: End},
	{Class: "framed", Stroke: Flat("#00ff00"), Width: 2 * Pixel},
}

func picture(t *testing.T, d *Drawing, scale int) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := d.WritePNG(&b, scale); err != nil {
		t.Fatal(err)
	}
	im, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return im
}

func is(im image.Image, x, y int, hex string) bool {
	want := rgba(hex)
	r, g, b, _ := im.At(x, y).RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255} == want
}

func TestPNG_MarksLieWhereTheySay(t *testing.T) {
	t.Parallel()
	d := New(100*Pixel, 60*Pixel, "test", testSheet)
	d.Box("red", Box{10 * Pixel, 10 * Pixel, 20 * Pixel, 10 * Pixel}, "")
	d.Line("line", Point{50 * Pixel, 10 * Pixel}, Point{90 * Pixel, 10 * Pixel})
	d.Open("framed")
	d.Dot("red", Point{60 * Pixel, 40 * Pixel}, 8*Pixel, "")
	d.Close()
	d.Box("hatch", Box{10 * Pixel, 30 * Pixel, 30 * Pixel, 20 * Pixel}, "")
	im := picture(t, d, 2)
	if im.Bounds() != image.Rect(0, 0, 200, 120) {
		t.Fatalf("the picture is %v", im.Bounds())
	}
	for _, c := range []struct {
		x, y int
		want string
	}{{18, 22, "#ffffff"}, {22, 22, "#ff0000"}, {58, 38, "#ff0000"}, {62, 38, "#ffffff"}, {140, 20, "#0000ff"}, {140, 24, "#ffffff"},
		{120, 80, "#ff0000"}, {120, 80 - 16, "#00ff00"}, {120, 80 - 20, "#ffffff"}} {
		if !is(im, c.x, c.y, c.want) {
			t.Errorf("at %d, %d there is %v, want %s", c.x, c.y, im.At(c.x, c.y), c.want)
		}
	}
	ground, over := 0, 0
	for y := 64; y < 96; y++ {
		for x := 24; x < 76; x++ {
			switch {
			case is(im, x, y, "#ffff00"):
				ground++
			case is(im, x, y, "#008000"):
				over++
			}
		}
	}
	if all := 32 * 52; ground+over != all || over < all/8 || over > all/2 {
		t.Errorf("the hatched box has %d and %d pixels of its two colours", ground, over)
	}
}

func TestPNG_DashesHaveGapsAsLong(t *testing.T) {
	t.Parallel()
	d := New(80*Pixel, 20*Pixel, "test", testSheet)
	d.Line("line dash", Point{0, 10 * Pixel}, Point{80 * Pixel, 10 * Pixel})
	im := picture(t, d, 1)
	inked := 0
	for x := range 80 {
		if !is(im, x, 10, "#ffffff") {
			inked++
		}
	}
	if inked != 40 {
		t.Errorf("%d of 80 pixels are drawn, want 40", inked)
	}
}

func TestPNG_WordsEndWhereTheyAreAnchored(t *testing.T) {
	t.Parallel()
	d := New(100*Pixel, 30*Pixel, "test", testSheet)
	d.Words("end", Point{60 * Pixel, 20 * Pixel}, "until")
	im := picture(t, d, 2)
	left, right := 200, 0
	for y := range 60 {
		for x := range 200 {
			if !is(im, x, y, "#ffffff") {
				left, right = min(left, x), max(right, x)
			}
		}
	}
	if left < 60 || left > 80 || right < 112 || right > 120 {
		t.Errorf("the words lie from %d to %d", left, right)
	}
}

func TestPNG_TooLargeIsRefusedOrDrawnSmaller(t *testing.T) {
	t.Parallel()
	if scale, size, err := New(4000*Pixel, 3000*Pixel, "", nil).fit(3); scale != 2 || size != image.Pt(8000, 6000) || err != nil {
		t.Errorf("scale %d, size %v, %v; want the scale that fits, 2", scale, size, err)
	}
	var b bytes.Buffer
	if err := New(100_000*Pixel, 1000*Pixel, "", nil).WritePNG(&b, 1); err == nil || b.Len() > 0 {
		t.Error("a picture of 100 million pixels was drawn")
	}
	if err := New(Pixel, Pixel, "", nil).WritePNG(&b, 9); err == nil {
		t.Error("scale 9 was taken")
	}
}

func TestSVG_IsWhatWasDrawn(t *testing.T) {
	t.Parallel()
	d := New(100*Pixel, 6050, "a <title>", testSheet)
	d.Open("framed")
	d.Boxes("red", []Box{{0, 0, 150, 5}, {10, 20, 30, 40}}, "two & one")
	d.Close()
	d.Line("line", Point{0, 0}, Point{10 * Pixel, 0}, Point{10 * Pixel, 5 * Pixel}, Point{-1 * Pixel, 7 * Pixel})
	d.Area("red", []Point{{0, 0}, {100, 0}, {100, 100}}, "")
	d.Words("", Point{0, 0}, "ü < 1")
	var b bytes.Buffer
	if err := d.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`width="100" height="60.5" viewBox="0 0 100 60.5"`, `<title>a &lt;title&gt;</title>`,
		`<g class="framed">`, `<g><title>two &amp; one</title><rect class="red" x="0" y="0" width="1.5" height="0.05"/><rect class="red" x="0.1" y="0.2" width="0.3" height="0.4"/></g>`,
		`<path class="line" d="M0 0H10V5L-1 7"/>`, `<path class="red" d="M0 0H1V1Z"/>`, `<text x="0" y="0">ü &lt; 1</text>`,
		`.hatch{fill:url(#p-hatch)}`, `<pattern id="p-hatch"`, `.po-hatch{stroke:#008000}`, `.end{text-anchor:end}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, b.String())
		}
	}
	light, dark, found := strings.Cut(b.String(), "@media screen and (prefers-color-scheme:dark)")
	if !found || !strings.Contains(dark, ".line{stroke:#00ffff}") || strings.Contains(light, "#00ffff") {
		t.Error("dark colours are not for dark screens only")
	}
}

func TestDrawing_GroupsThatWereNotOpenedAreABrokenInvariant(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a group was closed that was not open")
		}
	}()
	New(0, 0, "", nil).Close()
}
