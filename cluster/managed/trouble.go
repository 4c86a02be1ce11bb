package managed

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Trouble is a state in which the cluster serves less than it could, for its operator. It
// lasts until a later list no longer has it.
type Trouble struct {
	Key   string    // tells it from others, as long as it lasts
	Since grid.Time // when it began
	Words grid.Phrase
	Blind bool // the manager does not answer: nothing is offered
}

// Troubles lists what is in the way now: looks that fail, then what is withheld, in the
// order in which it began.
func (b *Backend) Troubles() []Trouble {
	var list []Trouble
	if b.failed.since > 0 {
		list = append(list, Trouble{Key: "looks", Since: b.failed.since, Blind: !b.fresh(b.now),
			Words: grid.Say("the resource manager does not answer: %v", b.failed.why)})
	}
	for _, x := range b.withheld {
		list = append(list, Trouble{Key: fmt.Sprintf("withheld %d %d %v %s %v", x.scope, x.group, x.start, x.account, x.at), Since: x.at, Words: b.words(x)})
	}
	return list
}

// failing is the looks that have failed since the last one that has not.
type failing struct {
	since grid.Time // of the first; 0: the last look has not failed
	why   grid.Reason
}

// lookFailed takes a look that has failed.
func (b *Backend) lookFailed(now grid.Time, why grid.Reason) {
	b.counts.LooksFailed++
	if b.failed.since == 0 {
		b.failed.since = now
	}
	b.failed.why = why
}
