package invariant

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// The window of a job of parts, and a repair of it, obey it part by part.
func TestWindow_ObeysPartByPart(t *testing.T) {
	t.Parallel()
	asks := grid.Request{Deadline: grid.Never, Budget: grid.Credit, Apart: true}
	asks.Compose([]grid.JobPart{
		{Name: "qpu", Nodes: 1, Length: 10, Offset: 5, MinPerformance: grid.Unit, Sites: []string{"delft", "basel"}},
		{Name: "gpu", Nodes: 2, Length: 30, MinPerformance: grid.Unit},
	})
	qpu, gpu := grid.Leg{Group: "q", Nodes: 1, Start: 105, End: 115}, grid.Leg{Group: "g", Nodes: 2, Start: 100, End: 130}
	begun := facts.TxBegun{Sites: []string{"delft", "espoo"}, Legs: []grid.Leg{qpu, gpu}, Parts: []string{"qpu", "gpu"}}
	good := func() *Window {
		return &Window{Asks: asks, Sites: []string{"delft", "espoo"}, Legs: []grid.Leg{qpu, gpu}, Parts: []string{"qpu", "gpu"}}
	}
	repair := func() *Window { // of the first leg
		w := &Window{Asks: asks, Sites: []string{"basel"}, Legs: []grid.Leg{qpu}, Parts: []string{"qpu"}, Others: []Standing{{"gpu", "espoo"}}}
		w.Mends(&begun, 0)
		return w
	}
	for _, c := range []struct {
		of     func() *Window
		change func(*Window)
		want   string
	}{
		{good, func(*Window) {}, ""},
		{good, func(w *Window) { w.Legs[0].Start++ }, "after the job"},
		{good, func(w *Window) { w.Sites[0] = "oslo" }, "not among the sites"},
		{good, func(w *Window) { w.Sites[1] = "delft" }, "to be apart"},
		{good, func(w *Window) { w.Parts[0] = "gpu" }, "after the job"},
		{good, func(w *Window) { w.Parts = nil }, "carry 0 parts"},
		{good, func(w *Window) { w.Legs[0].Nodes, w.Legs[1].Nodes = 2, 1 }, "2 nodes for part qpu"},
		{good, func(w *Window) { w.Asks.Apart, w.Asks.Together = false, true }, "to be together"},
		{repair, func(*Window) {}, ""},
		{repair, func(w *Window) { w.Legs[0].Start, w.Legs[0].End = 106, 116 }, "what it repairs at"},
		{repair, func(w *Window) { w.Parts[0] = "gpu" }, "stands in for"},
		{repair, func(w *Window) { w.Others[0].Site = "basel" }, "to be apart"},
		{repair, func(w *Window) { w.Legs[0].Nodes = 2 }, "2 nodes instead of 1"},
	} {
		w := c.of()
		c.change(w)
		switch err := w.Obeys(); {
		case err == nil && c.want != "":
			t.Errorf("%+v obeys; want %q", w, c.want)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v; want %q", err, c.want)
		}
	}
}
