package broker

import "bourse"

// pacing is what the last cycles tell the next one: how long a job that is left
// without a window waits for its next chance.
type pacing struct {
	looked int64 // jobs that the last cycles have looked at, in thousandths: of each cycle 7/8 of the one after it
	failed int64 // of those, the jobs that found nothing worth taking
}

// turned takes note of a cycle that has closed.
func (p *pacing) turned(f bourse.CycleClosed) {
	p.looked += 1000*int64(f.Batch) - p.looked/8
	p.failed += 1000*int64(max(0, f.Postponed-f.Deferred)) - p.failed/8
}

// image is what of it an image keeps.
func (p *pacing) image() bourse.Pacing { return bourse.Pacing{Looked: p.looked, Failed: p.failed} }

// load reads what an image has kept.
func (p *pacing) load(f bourse.Pacing) { *p = pacing{f.Looked, f.Failed} }

// wait is how long a job that is left without a window waits for its next chance: a
// cycle over the share of jobs that find one, at most so long.
func (p *pacing) wait(cycle, most bourse.Duration) bourse.Duration {
	found := p.looked - p.failed
	if found <= 0 || int64(cycle) > int64(most)*found/max(1, p.looked) {
		if p.looked == 0 {
			return min(cycle, most)
		}
		return most
	}
	return bourse.Duration(int64(cycle) * p.looked / found)
}
