package workload

import (
	"fmt"

	"github.com/bourse-grid/bourse/grid"
)

// Stream is a workload in chunks of one length, drawn or read on demand. An endless one
// takes the memory of one chunk, and can be resumed anywhere without what came before.
type Stream struct {
	Span  grid.Duration // of a chunk, above 0
	Until grid.Duration // no job is submitted then or later; 0: without end
	Speed int64         // how many times as fast as in the chunks, in thousandths, above 0
	// Chunk returns chunk n, from 0: jobs in order of submission, from 0 to before Span.
	// The same n must give the same jobs. An error counts as a broken invariant, so the
	// maker of a Stream should test the first chunk.
	Chunk func(n int64) ([]grid.LocalJob, error)
}

// perChunk is room for the ids of a chunk beside those of the others.
const perChunk = 1 << 26

// From returns the jobs submitted at after or later, one by one, on the clock on which the
// work's zero is begun. The ids of chunk n are its own plus n times 2^26. The first call
// reads one chunk, and later ones read each chunk when its turn comes.
func (s Stream) From(begun, after grid.Time) func() (grid.LocalJob, bool) {
	var jobs []grid.LocalJob
	var drawn int64 = s.slow(max(after.Sub(begun), 0)) / int64(s.Span)
	return func() (j grid.LocalJob, ok bool) {
		for {
			if len(jobs) == 0 {
				if from := grid.Duration(drawn) * s.Span; s.Until > 0 && from >= s.Until || from > grid.MaxDuration-s.Span {
					return j, false
				}
				jobs = s.chunk(drawn)
				drawn++
				continue
			}
			j, jobs = jobs[0], jobs[1:]
			if s.Until > 0 && grid.Duration(j.Submit) >= s.Until {
				return grid.LocalJob{}, false
			}
			j.Submit = begun.Add(s.fast(grid.Duration(j.Submit)))
			if j.Submit >= after {
				j.Run, j.Estimate = s.shorter(j.Run), s.shorter(j.Estimate)
				return j, true
			}
		}
	}
}

// chunk returns chunk n on the clock common to all chunks.
func (s Stream) chunk(n int64) []grid.LocalJob {
	jobs, err := s.Chunk(n)
	if err != nil {
		panic(fmt.Sprintf("workload: chunk %d of a workload: %v", n, err))
	}
	if n == 0 {
		return jobs
	}
	moved := make([]grid.LocalJob, len(jobs))
	for i, j := range jobs {
		j.ID += n * perChunk
		j.Submit = j.Submit.Add(grid.Duration(n) * s.Span)
		moved[i] = j
	}
	return moved
}

// fast converts a duration in the chunks to the stream's speed, rounded down.
func (s Stream) fast(d grid.Duration) grid.Duration {
	return d/grid.Duration(s.Speed)*1000 + d%grid.Duration(s.Speed)*1000/grid.Duration(s.Speed)
}

// slow converts the other way round, rounded down.
func (s Stream) slow(d grid.Duration) int64 {
	return int64(d)/1000*s.Speed + int64(d)%1000*s.Speed/1000
}

// shorter is fast for the length of a job, which must not become 0.
func (s Stream) shorter(d grid.Duration) grid.Duration {
	if d <= 0 {
		return d
	}
	return max(s.fast(d), grid.Millisecond)
}
