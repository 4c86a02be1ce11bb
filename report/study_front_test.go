package report

import (
	"bytes"
	"strings"
	"testing"
)

// A point that another one beats in both means, or in one while the other is equal, is not
// on the front. The drawing has all points, with their names.
func TestStudyFront_StarsWhatNoOtherBeats(t *testing.T) {
	t.Parallel()
	s := Study{Name: "made", Fronts: []StudyFront{{Title: "cost against finish", About: "Made up.", X: "cost", Y: "finish", Points: []StudyPoint{
		{Setting: "cheap", X: 1, Y: 9, XHalf: .5, YHalf: 1}, {Setting: "quick", X: 9, Y: 1}, {Setting: "poor", X: 9, Y: 2}, {Setting: "twin", X: 1, Y: 9, Words: "50 % placed"}}}}}
	plots := s.Plots()
	if len(plots) != 1 || plots[0].Name != "study-front-1" {
		t.Fatalf("%d plots", len(plots))
	}
	var csv bytes.Buffer
	if err := plots[0].WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	const want = "setting,cost,ci95,finish,ci95,what\ncheap,1,0.5,9,1,front\nquick,9,0,1,0,front\npoor,9,0,2,0,beaten\ntwin,1,0,9,0,front\n"
	if csv.String() != want {
		t.Errorf("its data is\n%s, want\n%s", csv.String(), want)
	}
	var page bytes.Buffer
	if err := s.Write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"What is had for what", "cheap *", "quick *", ">poor<", "50 % placed"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
}
