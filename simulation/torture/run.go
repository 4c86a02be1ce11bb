package torture

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/parallel"
	"github.com/bourse-grid/bourse/simulation/torture/check"
	"github.com/bourse-grid/bourse/simulation/torture/world"
)

// Kinds lists all kinds of faults, in the order in which they are shown.
func Kinds() []sim.Kind { return world.Kinds() }

// Options say how a run is made.
type Options struct {
	// Faults is what goes wrong; nil: what is drawn for the seed.
	Faults []sim.Fault
	// Kinds are the kinds of faults to draw; none: all.
	Kinds []sim.Kind
	// Alone has no broker be held by replicas, as in two of three worlds anyway.
	Alone bool
	// Rerun checks I14 as well, which takes half as long again.
	Rerun bool
	// Trace, if set, is called with a line for everything that happens.
	Trace func(line string)
}

// Result is what a run came to.
type Result struct {
	Seed         uint64
	Transactions int // tries decided
	Committed    int
	Leaderships  int // of brokers that replicas hold
	Struck       map[sim.Kind]int
	Rows         map[string]int // of docs/TRANSACTION.md, how often each was taken
	Carried      map[string]int // messages of and for the agent of the last release, by kind
	Steps        uint64
	Broken       error // the first invariant that was broken
}

// Run runs the federation of a seed for two hours under its faults and ten
// minutes without, and checks all invariants. The same seed and options give the
// same result.
func Run(seed uint64, opt Options) (r Result) {
	if opt.Faults == nil {
		if opt.Faults = world.Faults(seed, opt.Kinds...); opt.Alone {
			opt.Faults = world.FaultsAlone(seed, opt.Kinds...)
		}
	}
	r = Result{Seed: seed, Struck: map[sim.Kind]int{}}
	w := world.New(seed, opt.Alone, opt.Faults, sim.Options{Trace: opt.Trace, Record: opt.Rerun, Rows: true, Snapshot: 40})
	c := check.New(w)
	defer func() {
		if p := recover(); p != nil {
			r.Broken = fmt.Errorf("panic: %v (at %v)\n%s", p, w.Now(), stack())
		}
		n := c.Counted()
		r.Transactions, r.Committed, r.Leaderships, r.Rows, r.Steps = n.Decided, n.Committed, n.Leaderships, n.Rows, w.Steps()
		r.Carried = w.Carried
		for _, k := range Kinds() {
			r.Struck[k] = w.Count(k)
		}
	}()
	r.Broken = c.Run(opt.Rerun)
	if _, damaged := errors.AsType[*journal.CorruptError](r.Broken); damaged {
		r.Broken = fmt.Errorf("I11: %w", r.Broken)
	}
	return r
}

// stack returns where a panic came from, without the frames above that.
func stack() string {
	buf := make([]byte, 8<<10)
	return string(buf[:runtime.Stack(buf, false)])
}

// Each runs seeds from first on, as many at once as there are processors, and calls done
// after each, in order of seed. The first error of done ends it. Every eighth seed is run
// twice.
func Each(first uint64, n int, opt Options, done func(Result) error) error {
	return parallel.Do(n, func() func(int) Result {
		return func(i int) Result {
			o := opt
			o.Rerun = opt.Rerun || i%8 == 0
			return Run(first+uint64(i), o)
		}
	}, func(_ int, r Result) error { return done(r) })
}

// Shrink removes from a run's faults those that the violation does not need, first by
// halves and then one by one, in a limited number of runs. The remaining faults violate the
// same invariant.
func Shrink(seed uint64, faults []sim.Fault, invariant string, runs int) []sim.Fault {
	breaks := func(list []sim.Fault) bool {
		runs--
		err := Run(seed, Options{Faults: list, Rerun: invariant == "I14"}).Broken
		return err != nil && Invariant(err) == invariant
	}
	for size := (len(faults) + 1) / 2; size >= 1 && runs > 0; size = min(size/2, max(len(faults)/2, 1)) {
		for from := 0; from < len(faults) && runs > 0; {
			rest := append(append([]sim.Fault{}, faults[:from]...), faults[min(from+size, len(faults)):]...)
			if breaks(rest) {
				faults = rest
			} else {
				from += size
			}
		}
		if size == 1 {
			break
		}
	}
	return faults
}
