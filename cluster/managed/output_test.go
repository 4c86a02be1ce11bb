package managed

import (
	"reflect"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The driver is asked for the output of work by the name of its leg, and the output is
// passed to the asker. An answer to another question, or a second answer, is dropped.
func TestOutput_IsPassedThrough(t *testing.T) {
	t.Parallel()
	w := reserving()
	w.step(theSite, agents.ClusterOutputRequest{Leg: leg(1), Ref: 5, File: "out", From: -10})
	q := w.reads[0]
	if want := (agents.OutputRequest{Ref: q.Ref, Name: nameOf(1), File: "out", From: -10}); q != want {
		t.Errorf("the driver is asked %+v", q)
	}
	w.said = nil
	w.step(theDriver, agents.Output{Ref: q.Ref, Name: nameOf(2)})
	for range 2 {
		w.step(theDriver, agents.Output{Ref: q.Ref, Name: q.Name, From: 3, Size: 7, Data: []byte("text")})
	}
	want := []agents.Message{agents.ClusterOutput{Leg: leg(1), Ref: 5, From: 3, Size: 7, Data: []byte("text")}}
	if !reflect.DeepEqual(w.said, want) {
		t.Errorf("the site is told %+v", w.said)
	}
}

func TestOutput_QuestionsAreBounded(t *testing.T) {
	t.Parallel()
	w := reserving()
	for n := range uint64(mostReadings + 1) {
		w.step(theSite, agents.ClusterOutputRequest{Leg: leg(n), Ref: n})
	}
	if a, ok := w.said[len(w.said)-1].(agents.ClusterOutput); !ok || a.Failure.Code != grid.QueueFull || len(w.reads) != mostReadings {
		t.Errorf("%d questions for the driver, then %+v", len(w.reads), w.said)
	}
	w.said = nil
	w.wait(quick.LookTimeout)
	if w.step(theSite, agents.ClusterOutputRequest{Leg: leg(1)}); len(w.said) > 0 {
		t.Errorf("a driver that does not answer is waited for without end: %+v", w.said)
	}
}
