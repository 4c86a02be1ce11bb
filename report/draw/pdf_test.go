package draw

import (
	"bytes"
	"testing"
)

func TestDrawing_PDFIsTheSameTwice(t *testing.T) {
	t.Parallel()
	d := New(200*Pixel, 100*Pixel, "A & B", Sheet{{Class: "a", Fill: Flat("#ff0000"), Stroke: Flat("#000000"), Width: 100, Dash: 400}, {Class: "c", Anchor: Middle}})
	d.Box("a", Box{X: 0, Y: 0, W: 50 * Pixel, H: 50 * Pixel}, "tip")
	d.Line("a", Point{X: 0, Y: 0}, Point{X: 90 * Pixel, Y: 90 * Pixel})
	d.Dot("a", Point{X: 90 * Pixel, Y: 9 * Pixel}, 3*Pixel, "")
	d.Words("c", Point{X: 90 * Pixel, Y: 90 * Pixel}, "± 3 ünits")
	var one, two bytes.Buffer
	if err := d.WritePDF(&one); err != nil {
		t.Fatal(err)
	}
	if err := d.WritePDF(&two); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || !bytes.HasPrefix(one.Bytes(), []byte("%PDF-")) || !bytes.Contains(one.Bytes(), []byte("/MediaBox [0 0 150.00 75.00]")) {
		t.Errorf("%d and %d bytes: %.300q", one.Len(), two.Len(), one.Bytes())
	}
}
