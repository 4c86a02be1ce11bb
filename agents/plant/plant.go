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

	// broker

	// agents/journal
	{"no-sync", "a Sync returns before the disk has what was appended: an acknowledged Confirm may be lost (I11)"},
	{"forgive-sync", "a sync of the disk that failed is taken for one that did not: an acknowledged Confirm may be lost (I11)"},
	{"keep-torn-tail", "a torn tail stays where it is and what is appended after it cannot be read: a restart is refused"},
	{"skip-damage", "damage in the middle is taken for a torn tail, and whole records after it are thrown away (I11)"},
	{"early-remove", "the old segment is removed before the new one has its name: a crash in between leaves no journal"},

	// agents/sim
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
