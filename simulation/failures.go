package simulation

import (
	"math/rand/v2"

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
	takes := j.Length
	if j.Run > 0 {
		takes = j.Run
	}
	j.Run, j.Exit = max(part(takes, at), grid.Millisecond), failedStatus
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
