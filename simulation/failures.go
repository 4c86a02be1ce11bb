package simulation

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// failures draws which jobs fail. Each job takes two numbers of a stream of its own, whatever
// the shares are: a larger share adds failures and moves none, and nothing else is drawn
// otherwise than without failures.
type failures struct{ stream *rand.Rand }

func newFailures(seed uint64) failures { return failures{rand.New(rand.NewPCG(seed, 0))} }

// failedStatus is the exit status of work that fails in a simulation.
const failedStatus = 1

// next draws whether the next job fails, and after which share of its run. It is then over
// that early.
func (f failures) next(j *grid.Job, share configs.Thousandths, after configs.Range[configs.Thousandths]) {
	fails, at := f.stream.Int64N(int64(configs.One)) < int64(share), evenly(f.stream, after)
	if !fails {
		return
	}
	j.Exit = failedStatus
	if !j.Composed() {
		j.Run = max(part(cmp.Or(j.Run, j.Length), at), grid.Millisecond)
		return
	}
	j.Parts = slices.Clone(j.Parts) // they are the file's, and other seeds read them too
	for i := range j.Parts {
		p := &j.Parts[i]
		p.Run = max(part(cmp.Or(p.Run, p.Length), at), grid.Millisecond)
	}
}

// fail has a share of a workload's jobs fail, as its keys say.
func fail(w *configs.VOWorkload, jobs []grid.Job, seed uint64) {
	if w.Fails == 0 {
		return
	}
	draws := newFailures(seed)
	for i := range jobs {
		draws.next(&jobs[i], w.Fails, w.FailsAfter)
	}
}
