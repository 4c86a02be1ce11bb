package slurm

import (
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// A job may run for as long as its partition says. The padding of its reservation does not
// count.
func TestPartition_ThePaddingOfAReservationDoesNotCount(t *testing.T) {
	t.Parallel()
	d := &Driver{cfg: Config{Partitions: []string{"gpu"}}}
	nodes := map[string]*nodeNow{"n1": {state: grid.NodeUp, limits: map[string]grid.Duration{"gpu": grid.Hour}}}
	m := agents.Command{Nodes: []string{"n1"}, Start: 0, End: grid.Time(62 * grid.Minute), Padding: 2 * grid.Minute}
	if p, why := d.partition(nodes, m); p != "gpu" {
		t.Errorf("a window of 1h: %v", why)
	}
	m.End += 1000
	if _, why := d.partition(nodes, m); why.Code != grid.TooLarge {
		t.Errorf("a second more: %s, %v", why.Code, why)
	}
}
