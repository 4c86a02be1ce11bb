package broker

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// looker looks at the sites three times at once, and counts the answers.
type looker struct{ answers int }

func (l *looker) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m.(type) {
	case agents.SitesLook:
		for range 3 {
			out.Send("broker:vo1", m)
		}
	case agents.SitesLooked:
		l.answers++
	}
}

// Whoever looks at the sites has those asked whose last answer is old, once for all who
// look; a site that does not answer within a second is silent, whatever it said before.
func TestGlance_ALookAsksSitesWhoseLastAnswerIsOld(t *testing.T) {
	t.Parallel()
	north, south := newFakeSite("north", 4, 0), newFakeSite("south", 4, 0)
	dead, asked := false, 0
	south.rule = func(m agents.Message) fakeAnswer {
		if _, ok := m.(agents.OfferRequest); ok {
			asked++
		}
		return fakeAnswer{silent: dead}
	}
	w := newTestWorld(t, testConfig(north, south), north, south)
	w.quiet = true
	ana := &looker{}
	w.Add("user:ana", ana)
	look := func(at grid.Time) {
		w.Post(at, "user:ana", agents.SitesLook{})
	}
	shown := func(until grid.Time, answer string, at grid.Time, requests int) {
		t.Helper()
		w.Run(until)
		for v := range w.b.Sites() {
			if v.Name == "south" && (v.Answer != answer || v.Asked != at || asked != requests) {
				t.Errorf("at %v south is %q as of %v after %d requests, want %q as of %v after %d", until, v.Answer, v.Asked, asked, answer, at, requests)
			}
		}
	}
	look(100 * sec)
	shown(102*sec, "usable", 100*sec, 1)
	look(105 * sec)
	shown(107*sec, "usable", 100*sec, 1) // that is young enough
	dead = true
	look(700 * sec)
	shown(702*sec, "silent", 700*sec, 2)
	dead = false
	look(720 * sec)
	shown(722*sec, "usable", 720*sec, 3)
	if ana.answers != 12 {
		t.Errorf("12 looks have %d answers", ana.answers)
	}
}
