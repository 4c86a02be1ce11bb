package world

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// In every fourth ordinary world or so users want all that they can: other nodes, another length,
// a later deadline, another choice of when.
func TestWishes_OfEveryKind(t *testing.T) {
	t.Parallel()
	job := grid.Job{Name: "j", Request: grid.Request{Nodes: 9, Length: grid.Hour, Deadline: Start.Add(3 * grid.Hour)}}
	worlds, kinds := 0, map[string]int{}
	for seed := range uint64(160) {
		list := wishFaults(seed)
		if worlds += len(list) / 6; narrow(seed) && list != nil {
			t.Errorf("seed %d is narrow and has further wishes", seed)
		}
		for _, f := range list {
			m, modifies := changed(job, f.Salt).m.(agents.JobModify)
			if !modifies {
				t.Fatalf("seed %d: a wish to give a job up", seed)
			}
			for kind, is := range map[string]bool{"nodes": m.Request.Nodes != job.Nodes, "length": m.Request.Length != job.Length,
				"deadline": m.Request.Deadline != job.Deadline, "choice": m.Request.Phi+int(m.Request.Flexible) > 0} {
				if is {
					kinds[kind]++
				}
			}
		}
	}
	if worlds < 20 || worlds > 60 || len(kinds) != 4 {
		t.Errorf("%d of 160 worlds have further wishes, of %v", worlds, kinds)
	}
}
