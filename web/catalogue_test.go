package web

import (
	"testing"

	"github.com/bourse-grid/bourse"
)

// A job that only a site remembers is there under its identity, and becomes that
// of its batch when its user submits it again.
func TestCatalogue_AnAdoptedJobBecomesItsUsersAgain(t *testing.T) {
	t.Parallel()
	c := newCatalogue()
	c.add(&bourse.Job{Name: "wave-k3f9m2q7", User: "ana"})
	if e, ok := c.get("wave-k3f9m2q7"); !ok || e.label != "wave-k3f9m2q7" || e.user != "ana" {
		t.Fatalf("adopted: %+v, %t", e, ok)
	}
	again := &bourse.Job{Name: "wave-k3f9m2q7", User: "ana", Origin: bourse.Origin{Batch: "b-1", Label: "wave", Digest: "d"}}
	c.add(again)
	c.add(again)
	c.add(&bourse.Job{Name: "wave-k3f9m2q7", User: "ana"})
	if e, _ := c.get("wave-k3f9m2q7"); e.label != "wave" || e.batch != "b-1" || len(c.list) != 1 || c.batches[batchKey{"ana", "b-1"}].jobs != 1 || len(c.labels) != 1 {
		t.Errorf("submitted again: %+v; %d in the list, labels %v", e, len(c.list), c.labels)
	}
}
