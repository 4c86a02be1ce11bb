package grid

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func onePart(name string, nodes int, length, offset Duration, price Price) JobPart {
	return JobPart{Name: name, Nodes: nodes, Length: length, Offset: offset, MinPerformance: Unit, MaxPrice: price}
}

// S is the budget, or the sum over the parts of nodes x Cost(max price, ceil(L / P)); a budget
// alone is one cap, S / sum(nodes x ceil(L / P)), rounded down.
func TestMoney_BudgetAndCapOfParts(t *testing.T) {
	t.Parallel()
	parts := []JobPart{onePart("x", 2, Hour, 0, 3_000_000), onePart("y", 1, 3*Hour, Hour, 0)}
	parts[1].MinPerformance = 2 * Unit
	var r Request
	r.Budget = 10 * Credit
	r.Money(slices.Clone(parts), true, []int{1})
	if want := Price(10_000_000 * 2 / 7); r.Parts[1].MaxPrice != want || r.Parts[0].MaxPrice != 3_000_000 || r.MaxPrice != 3_000_000 { // 2 + 1.5 node-hours
		t.Errorf("caps %v, %v, of the job %v; want %v", r.Parts[0].MaxPrice, r.Parts[1].MaxPrice, r.MaxPrice, want)
	}
	if r.Nodes != 3 || r.Length != Hour+3*Hour/2 || !r.Whole() || !r.Composed() {
		t.Errorf("%+v", r)
	}
	r = Request{}
	parts[1].MaxPrice = 4_000_000
	if r.Money(parts, false, nil); r.Budget != 12*Credit {
		t.Errorf("budget %v, want 12", r.Budget)
	}
}

func TestCheckParts_SaysWhichKeyOfWhichPart(t *testing.T) {
	t.Parallel()
	good := func() *Request {
		return &Request{Parts: []JobPart{onePart("a", 1, Hour, 0, 0), onePart("b-2", 2, Hour, Hour, 0)}}
	}
	if wrong := CheckParts(good(), 10); wrong != nil {
		t.Fatal(wrong)
	}
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(r *Request) { r.Parts[1].Name = "" }, "part[1].name: "},
		{func(r *Request) { r.Parts[1].Name = "2b" }, "part[1].name: "},
		{func(r *Request) { r.Parts[1].Name = strings.Repeat("b", 33) }, "part[1].name: "},
		{func(r *Request) { r.Parts[1].Name = "a" }, "part[1].name: "},
		{func(r *Request) { r.Parts[1].Nodes = 0 }, "part[1].nodes: 0 is outside"},
		{func(r *Request) { r.Parts[1].Nodes = 10 }, "part[1].nodes: the parts up to this one have 11 nodes"},
		{func(r *Request) { r.Parts[0].Length = 0 }, "part[0].length: "},
		{func(r *Request) { r.Parts[0].Run = -1 }, "part[0].run: "},
		{func(r *Request) { r.Parts[0].MinPerformance = 0 }, "part[0].min_performance: "},
		{func(r *Request) { r.Parts[0].MaxPrice = -1 }, "part[0].max_price: "},
		{func(r *Request) { r.Parts[1].Offset = MaxOffset + 1 }, "part[1].offset: "},
		{func(r *Request) { r.Parts[1].Offset = -1 }, "part[1].offset: "},
		{func(r *Request) { r.Parts[0].Offset = 1 }, "part[0].offset: no part starts with the job"},
		{func(r *Request) { r.Parts[0].Sites = make([]string, 65) }, "part[0].sites: 65 names"},
		{func(r *Request) { r.Parts[0].Avoid = []string{""} }, "part[0].avoid: "},
		{func(r *Request) { r.Parts[0].Sites, r.Parts[0].Avoid = []string{"x"}, []string{"x"} }, "part[0].sites: avoid has all"},
		{func(r *Request) { r.Together, r.Apart = true, true }, "together: "},
		{func(r *Request) { r.Parts = slices.Repeat(r.Parts, 5) }, "part: 10 parts"},
		{func(r *Request) { r.Parts, r.Together = nil, true }, "together: needs parts"},
		{func(r *Request) { r.Parts, r.Apart = nil, true }, "apart: needs parts"},
		{func(r *Request) { r.Parts, r.Sites, r.Avoid = nil, []string{"x"}, []string{"x"} }, "sites: avoid has all"},
	} {
		r := good()
		c.change(r)
		if wrong := CheckParts(r, 10); wrong == nil || !strings.HasPrefix(wrong.Error(), c.want) {
			t.Errorf("%v; want %q", wrong, c.want)
		}
	}
}

// Stack says at every instant how many nodes of a group the parts need together.
func TestStack_AddsUpWhatIsNeededAtOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts []Part
		for i := range rapid.IntRange(1, 4).Draw(t, "parts") {
			for _, g := range []int32{0, 1} {
				if rapid.Bool().Draw(t, "there") {
					s := Time(rapid.IntRange(0, 8).Draw(t, "start"))
					parts = append(parts, Part{Group: g, Of: int32(i), Count: int32(rapid.IntRange(1, 3).Draw(t, "count")), Start: s, End: s + Time(rapid.IntRange(1, 6).Draw(t, "length"))})
				}
			}
		}
		out := Stack(parts)
		need := func(list []Part, g int32, at Time) (n, of int) {
			for _, p := range list {
				if p.Group == g && p.Start <= at && at < p.End {
					n, of = n+int(p.Count), of+1
				}
			}
			return n, of
		}
		for g := range int32(2) {
			for at := range Time(16) {
				want, _ := need(parts, g, at)
				if got, of := need(out, g, at); got != want || of > 1 {
					t.Fatalf("%d in %d parts at %d of group %d, want %d: %+v of %+v", got, of, at, g, want, out, parts)
				}
			}
		}
	})
}
