// Package plant is a switch for planted bugs: places where the code goes wrong
// on purpose, so that a test can prove that it would notice. "A test that would
// not notice a planted bug is no test."
//
// Without the build tag plants, On is the constant false and costs nothing.
// With it one bug at a time can be switched on, before a run begins.
package plant

import "fmt"

// Bug is one planted bug.
type Bug struct {
	Name   string `json:"name"`
	Breaks string `json:"breaks"` // what no longer holds with it
}

// bugs lists the planted bugs by room and name. A new plant.On needs a line here.
var bugs = []Bug{
	// sites
	{"no-nonce", "a second process of a broker's name is taken for the first"},
	{"no-fence", "a life of a broker that is over may still hold and prepare"},
	{"no-list-fence", "what an earlier life decided is taken after a later one has listed its legs"},
	{"no-tombstone", "a Hold that comes after its Cancel locks nodes"},
	{"no-digest", "the same step with other content is taken for the same"},
	{"early-acknowledgement", "Confirmed is said before it is recorded"},
	{"forget-release", "the nodes of a hold that ended are never given back"},
	{"forget-void", "the income of a leg released in doubt stays pending"},
	{"double-refund", "a refund is posted twice"},
	{"full-refund", "whoever cancels gets all back: the additive part too, and however late"},
	{"free-move", "who moves a leg and then gives it up gets back what the schedule would have kept"},
	{"endless-hold", "a hold has no limit"},
	{"above-limit", "a leg is held at a price above the most that its broker would pay"},
	{"any-version", "a leg that has moved on is replaced"},
	{"no-cap", "one broker may hold a site unconfirmed"},
	{"no-inquiry", "a site in doubt does not ask"},
	{"unknown-aborts", "the answer UNKNOWN is taken for ABORT"},
	{"no-repeat", "what became of a leg is told once"},
	{"tell-once", "the cluster is told once to confirm or to release"},
	{"no-reconcile", "after a restart nobody asks what the cluster keeps for nobody"},
	{"believe-reassert", "whatever a broker asserts is taken for what the site once answered"},
	{"no-grace", "a prepared leg is released when its site starts again"},

	// broker
	{"patient-broker", "a broker commits although its holds may have run out"},
	{"skip-prepare", "several legs are committed without Prepare"},
	{"commit-early", "COMMIT at the first Prepared"},
	{"no-broker-repeat", "a broker says everything once"},
	{"keep-pending", "what an aborted transaction was to cost stays pending"},
	{"double-post", "what a leg costs is posted twice"},
	{"double-compensation", "a second notice of a loss is refunded again"},
	{"keep-refund", "what a released leg brings back is not booked"},
	{"silent-loss", "a window that has lost a leg is neither repaired nor released"},
	{"unfenced", "a process goes on after another one of its name was heard of"},
	{"same-incarnation", "a new life counts as the one before"},
	{"life-too-low", "a process that was fenced begins below the life that has fenced it, and is fenced again"},
	{"no-list", "a new life speaks before it has asked"},
	{"commit-at-restart", "a transaction that was not decided is committed by the next life"},
	{"no-adoption", "legs without a record are left alone"},
	{"no-stamp", "a site's replies are taken in any order"},
	{"no-reassert", "a site that has forgotten legs is not told of them"},
	{"assert-open-only", "a site that has forgotten is told of open legs only"},
	{"trusting", "a confirmed leg of which nothing is heard is never asked after"},
	{"believe-for-ever", "a leg is believed in for ever whose site does not answer any more"},
	{"untold-return", "a site that is back after it was given up is not told so"},
	{"forget-commit", "the record of a COMMIT is dropped before it is acknowledged"},

	// agents/journal
	{"no-sync", "a Sync returns before the disk has what was appended: an acknowledged Confirm may be lost (I11)"},
	{"forgive-sync", "a sync of the disk that failed is taken for one that did not: an acknowledged Confirm may be lost (I11)"},
	{"keep-torn-tail", "a torn tail stays where it is and what is appended after it cannot be read: a restart is refused"},
	{"skip-damage", "damage in the middle is taken for a torn tail, and whole records after it are thrown away (I11)"},
	{"early-remove", "the old segment is removed before the new one has its name: a crash in between leaves no journal"},

	// agents/sim
	{"believe-the-clock", "a life begins by its clock as it is: legs start and end before their time"},
	{"ack-before-sync", "messages leave before the facts behind them are durable"},
}

// List returns the planted bugs.
func List() []Bug { return append([]Bug(nil), bugs...) }

func known(name string) error {
	for _, b := range bugs {
		if b.Name == name {
			return nil
		}
	}
	return fmt.Errorf("no planted bug is named %q; bourse torture --plants lists them", name)
}
