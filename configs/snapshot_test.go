package configs

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// figure1 is the layout of the first figure of Singh, Kesselman and Deelman.
const figure1 = `name = "figure1"
now = 0
policy = "easy"
[[group]]
name = "main"
nodes = 5
performance = 1.0
price = 1.0            # credits per node-hour
[[running]]
job = "A"
nodes = 4
end = 2
[[running]]
job = "B"
nodes = 1
end = 3
[[reserved]]
job = "R"
nodes = 1
start = 4
end = 6
[[queued]]
job = "C"
nodes = 2
estimate = 5
queue = ""             # optional, of [[queue]] name, priority, rate, delay_cost
[[queued]]
job = "D"
nodes = 2
estimate = "3s"
`

func TestReadSite_Figure1(t *testing.T) {
	t.Parallel()
	s, err := ReadSite(write(t, t.TempDir(), "SITE.toml", figure1))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name != "figure1" || s.Now != 0 || s.Policy != backfill.EASY || len(s.Groups) != 1 {
		t.Errorf("site %+v", s)
	}
	if g := s.Groups[0]; g.Site != "figure1" || g.Nodes != 5 || g.Performance != grid.Unit || g.Price != 1_000_000 {
		t.Errorf("group %+v", g)
	}
	if r := s.Running; len(r) != 2 || r[0] != (RunningJob{Job: "A", Nodes: 4, End: 2000}) {
		t.Errorf("running %+v", r)
	}
	if r := s.Reserved; len(r) != 1 || r[0] != (Reservation{Job: "R", Nodes: 1, Start: 4000, End: 6000}) {
		t.Errorf("reserved %+v", r)
	}
	if q := s.Queued; len(q) != 2 || q[1] != (QueuedJob{Job: "D", Nodes: 2, Estimate: 3000}) {
		t.Errorf("queued %+v", q)
	}
	if s.Queues[0] != (Queue{Rate: One, DelayCost: One}) || s.Limits.MaxHorizon != grid.MaxDuration || s.Limits.MaxShare != One {
		t.Errorf("queues %+v limits %+v", s.Queues, s.Limits)
	}
}
