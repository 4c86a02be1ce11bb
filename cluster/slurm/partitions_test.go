package slurm

import (
	"slices"
	"testing"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

func TestPartitions_AreReadWithTheirLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]bourse.ManagedPartition{
		"gpu|1:00:00\nbatch|infinite\nlong|7-00:00:00\ngpu|1:00:00\n": {{Name: "batch"}, {Name: "gpu", Longest: bourse.Hour}, {Name: "long", Longest: 7 * bourse.Day}},
		"batch|infinite\nall|n/a\n":                                   nil, // nothing is bounded
		"":                                                            nil,
		"{\"sinfo\": []}\n":                                           nil,
		"ages|1000000-00:00:00":                                       nil, // longer than any window
	} {
		if got, err := readPartitions([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"batch", "|1:00:00", "batch|soon"} {
		if got, err := readPartitions([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A job may run for as long as its partition says. The padding of its reservation does not
// count.
func TestPartition_ThePaddingOfAReservationDoesNotCount(t *testing.T) {
	t.Parallel()
	d := &Driver{cfg: Config{Partitions: []string{"gpu"}}}
	nodes := map[string]*nodeNow{"n1": {state: bourse.NodeUp, limits: map[string]bourse.Duration{"gpu": bourse.Hour}}}
	m := agents.Command{Nodes: []string{"n1"}, Start: 0, End: bourse.Time(62 * bourse.Minute), Padding: 2 * bourse.Minute}
	if p, why := d.partition(nodes, m); p != "gpu" {
		t.Errorf("a window of 1h: %v", why)
	}
	m.End += 1000
	if _, why := d.partition(nodes, m); why.Code != bourse.TooLarge {
		t.Errorf("a second more: %s, %v", why.Code, why)
	}
}
