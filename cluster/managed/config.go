package managed

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
)

// Config says what nodes there are, which driver reaches them, and how long the reconciler
// waits.
type Config struct {
	Site   string    // the name that work is told
	Driver agents.ID // such as "driver:north"
	Groups []grid.Group
	Nodes  [][]string // the names of each group's nodes; no name twice
	// Reserves says that the manager keeps reservations of its own. If it keeps none, a
	// hold is only a lock here, and work is submitted when its window begins.
	Reserves bool
	// Prompt says that the driver makes each look when it is asked for it. One that was asked
	// for after the answer to a command then shows what that has done, whatever its clock says.
	Prompt bool
	// Mortal says that what the driver is doing ends with the process that it is in: only what
	// has reached the manager by then can still take effect, within Late.
	Mortal bool
	// Pilots is how many pilots may be in the manager at once, of all jobs. Nodes are then had
	// by pilots alone, and Reserves is false; 0: there are none, and nodes are had as they are
	// free.
	Pilots int
	// Prefix begins all our names in the manager, and no name of anybody else, also of
	// another site: what has it and no lock is deleted.
	Prefix   string
	Accounts []Account
	// Denied are the local accounts, in addition to root, as which no work runs: those
	// of uid 0, and the one that unconfirmed reservations are for.
	Denied []string
	// Partitions are where work may be submitted; nil: in all. Their limits bound windows.
	Partitions []string
	Keep       grid.Duration   // how long the driver keeps the files of work after its end; 0: that is not said
	Policy     backfill.Policy // by which the local queue is planned
	// Oracle makes what forecasts the queue of a group of that name; nil: nobody forecasts.
	Oracle func(group string) Oracle
	// Kept keeps what the forecasts have learned for the next life; nil: it begins anew.
	Kept   Keeper
	Limits Limits
}

// Keeper keeps what the forecasts have learned from one life to the next. Nothing else depends on
// it.
type Keeper interface {
	// Last is what was last kept, nil if nothing was.
	Last() []byte
	// Keep keeps a text in place of the last. It neither makes the text, which takes a while and may
	// be done at any time, nor waits for a disk.
	Keep(learned func() []byte)
	// Spoilt says that what was kept is of no use, and why.
	Spoilt(why error)
}

// groupNamed is the place of a group; -1: there is none.
func (c *Config) groupNamed(name string) int {
	return slices.IndexFunc(c.Groups, func(g grid.Group) bool { return g.Name == name })
}

// Limits are the reconciler's intervals, and how long it waits before it gives up on a
// difference. A zero means the usual value, except for Skew.
type Limits struct {
	LookEvery      grid.Duration // the least time between looks, whatever is asked; usually 5 s
	LookSoon       grid.Duration // the least time if a hold waits for one; usually 1 s, and no more than LookEvery
	LookWithin     grid.Duration // the most time between looks; usually 30 s
	LookTimeout    grid.Duration // a look without an answer has failed; usually 1 min
	CommandTimeout grid.Duration // so has a command; must be more than the driver ever takes; usually 2 min
	// Late is how long a command may still take effect after it is said to have failed;
	// usually 30 s. Until then it proves nothing that there is no sign of it.
	Late          grid.Duration
	RetryEvery    grid.Duration // between tries of a command that was not carried out; usually 5 s
	PlaceWithin   grid.Duration // a hold that takes longer is refused; usually 15 s
	StartWithin   grid.Duration // work that begins later after its window's begin is lost; usually 60 s
	UnknownWithin grid.Duration // how long the state of a leg may be unknown; usually 5 min
	Padding       grid.Duration // how long a window's nodes are kept after its end; usually 2 min
	Skew          grid.Duration // how far the manager's clock may be from ours; 0: it is ours
	// What the manager denies a second time within DeniedWithin is not offered for
	// WithheldFor: see denial.go. Usually 10 and 15 min.
	DeniedWithin, WithheldFor grid.Duration
	Tries                     int // to make a lost reservation or submission again; usually 3
}

// usual fills in the usual values.
func (l Limits) usual() Limits {
	for _, x := range []struct {
		field *grid.Duration
		usual grid.Duration
	}{
		{&l.LookEvery, 5 * grid.Second}, {&l.LookSoon, grid.Second}, {&l.LookWithin, 30 * grid.Second}, {&l.LookTimeout, grid.Minute},
		{&l.CommandTimeout, 2 * grid.Minute}, {&l.Late, 30 * grid.Second}, {&l.RetryEvery, 5 * grid.Second},
		{&l.PlaceWithin, 15 * grid.Second}, {&l.StartWithin, grid.Minute}, {&l.UnknownWithin, 5 * grid.Minute},
		{&l.Padding, 2 * grid.Minute}, {&l.DeniedWithin, 10 * grid.Minute}, {&l.WithheldFor, 15 * grid.Minute},
	} {
		if *x.field == 0 {
			*x.field = x.usual
		}
	}
	l.LookSoon = min(l.LookSoon, l.LookEvery)
	if l.Tries == 0 {
		l.Tries = 3
	}
	return l
}

// check says what is wrong with a configuration.
func (c *Config) check() error {
	if len(c.Nodes) != len(c.Groups) {
		return fmt.Errorf("%d groups have the names of %d", len(c.Groups), len(c.Nodes))
	}
	named := map[string]bool{}
	for i, g := range c.Groups {
		if len(c.Nodes[i]) != g.Nodes || g.Nodes == 0 {
			return fmt.Errorf("group %s of %d nodes has the names of %d", g.Name, g.Nodes, len(c.Nodes[i]))
		}
		for _, n := range c.Nodes[i] {
			if named[n] {
				return fmt.Errorf("node %s is listed twice", n)
			}
			named[n] = true
		}
	}
	if c.Prefix == "" {
		return fmt.Errorf("no prefix: everything in the manager would count as ours")
	}
	return nil
}

// Account says as which local account the work of some users of the VO runs.
type Account struct {
	User string // each * stands for any text, or none
	As   string
	// Options are handed to the driver with the work, in the manager's own words.
	Options []string
}

// account returns the rule for a user, the first that fits, or why there is none, with the
// remedy. Its local account is never root.
func (c *Config) account(user string) (Account, grid.Reason) {
	i := slices.IndexFunc(c.Accounts, func(a Account) bool { return fits(a.User, user) })
	rules, of, whom := "[[account]]", "", user
	if vo, name, several := grid.CutVO(user); several {
		rules, of, whom = "[[vo.account]]", " of "+vo, name
	}
	if i < 0 {
		return Account{}, grid.Because(grid.NotAllowed, "no local account is given for user %q%s at %s; its operator can add one: %s user = %q, as = an account there", whom, of, c.Site, rules, whom)
	}
	as := c.Accounts[i].As
	if as == "" || isRoot(as) || slices.Contains(c.Denied, as) {
		return Account{}, grid.Because(grid.NotAllowed, "user %q%s is given local account %q at %s, as which no work runs; its operator can name another one in %s", whom, of, as, c.Site, rules)
	}
	return c.Accounts[i], grid.Reason{}
}

// isRoot reports whether a name is root's, or reads as its number.
func isRoot(as string) bool {
	return as == "root" || strings.Trim(as, "+-0") == ""
}

// fits reports whether a pattern matches a text.
func fits(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, p := range parts[1 : len(parts)-1] {
		_, rest, found := strings.Cut(text, p)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// groupOf is the group of a name or, without one, the first that has so many nodes; -1: none.
func (c *Config) groupOf(name string, nodes int) int {
	return slices.IndexFunc(c.Groups, func(g grid.Group) bool { return (name == "" || g.Name == name) && 0 < nodes && nodes <= g.Nodes })
}
