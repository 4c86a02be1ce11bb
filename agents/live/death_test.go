package live

import (
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents"
)

// Gossip loses a site that answers, as it does on a busy machine: the broker keeps the site,
// and is told that it has left once it does not answer either.
func TestNode_APeerThatAnswersHasNotLeft(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T) {
		memory := newMemory()
		broker, sites := federation(t, memory, 2, "fast")
		site := sites[1]
		left := func() int { return broker.heard(agents.SiteLeft{Site: "site:s001"}) }
		memory.Cut(func(from, to string) bool { return (from == site.Gossip()) != (to == site.Gossip()) })
		eventually(t, 10*time.Second, "gossip has lost it", func() bool { return broker.gossip.Living() == 2 })
		time.Sleep(time.Minute)
		if _, there := broker.directory.Find("site:s001"); !there || left() != 0 {
			t.Errorf("it answers: known %v, told %d times that it has left", there, left())
		}
		memory.Cut(nil)
		eventually(t, 20*time.Second, "gossip has found it again", func() bool { return broker.gossip.Living() == 3 })
		if left() != 0 {
			t.Errorf("found again, and told %d times that it had left", left())
		}
		site.Close()
		eventually(t, 10*time.Second, "the broker is told", func() bool { return left() == 1 })
	})
}
