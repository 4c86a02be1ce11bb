package costart

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/manager"
)

// slow is a driver whose looks take so long, as over ssh.
type slow struct {
	agents.Agent
	looks grid.Duration
}

// shown is the end of a look.
type shown struct {
	to   agents.ID
	what agents.Message
}

func (shown) Kind() string { return "Shown" }

func (s *slow) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if x, ok := m.(shown); ok {
		out.Send(x.to, x.what)
		return
	}
	s.Agent.Step(now, from, m, out)
	out.Sends = slices.DeleteFunc(out.Sends, func(x agents.Send) bool {
		look, is := x.Message.(agents.Looked)
		if is {
			out.Alarm(now.Add(s.looks), shown{x.To, look})
		}
		return is
	})
}

// afar is a world of sites that answer after 15 s, and a broker that waits so long for the answers of a
// round; 0: as long as for offers.
func afar(t *testing.T, wait grid.Duration) *world {
	x := worldLike(t, 8, manager.Options{}, nil, func(m agents.Agent) agents.Agent { return &slow{m, 15 * grid.Second} }, wait)
	x.run(grid.Minute)
	x.submit("wave")
	return x
}

// first is what the broker decided in the first round in which it decided anything.
func (x *world) first() []facts.GatherAct {
	for _, f := range x.hosts[vo1].facts {
		if g, ok := f.(facts.Gathered); ok && len(g.Acts) > 0 {
			return g.Acts
		}
	}
	return nil
}

// A site whose looks take 15 s is heard in its round: that both parts would start now is known in the
// first one, and they begin soon. With the wait for offers no round would hear it.
func TestRound_HearsASiteThatAnswersAfter15Seconds(t *testing.T) {
	t.Parallel()
	x := afar(t, broker.ServiceDefaults("vo1").RoundWait)
	x.until("wave", grid.JobRunning, 4*grid.Minute)
	if acts := x.first(); len(acts) != 2 {
		t.Errorf("the first round decides %v", acts)
	}
	x.run(time30)
	x.check(2)
	if x = afar(t, 0); x.begins("wave", 4*grid.Minute) || len(x.first()) > 1 {
		t.Errorf("it is %v, though its sites answer too late: %v", x.job("wave").State, x.told())
	}
}
