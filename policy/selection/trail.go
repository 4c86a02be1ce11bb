package selection

// trail records how the labels of a stage came about. For each it keeps only its option and
// the next label, from which the choice is read at the end. Most labels of earlier stages
// no longer lead to any current label. They are dropped whenever the records have doubled,
// so a batch takes memory by its jobs, not by all the labels there were.
type trail struct {
	stages [][]origin // the last job's first
	kept   int        // origins
	room   int        // number of origins at which to drop those that lead nowhere
	least  int        // least value of room, for tests; 0: trailRoom
	off    bool       // no choice will be read
	chunk  []origin   // memory for the next stages
	alive  []int32    // scratch
}

// origin is a label without its sums.
type origin struct{ option, next int32 }

const (
	trailRoom  = 1 << 20
	trailChunk = 1 << 13
)

// open empties the trail. It keeps origins from now on only if keep is set.
func (t *trail) open(keep bool) {
	t.stages, t.kept, t.off, t.chunk = t.stages[:0], 0, !keep, t.chunk[:0]
	t.room = t.least
	if t.room == 0 {
		t.room = trailRoom
	}
}

// add records the labels of the next stage.
func (t *trail) add(labels []label) {
	if t.off {
		return
	}
	at := len(t.chunk)
	if at+len(labels) > cap(t.chunk) {
		at, t.chunk = 0, make([]origin, 0, max(len(labels), trailChunk))
	}
	t.chunk = t.chunk[:at+len(labels)]
	stage := t.chunk[at:]
	for i := range labels {
		stage[i] = origin{labels[i].option, labels[i].next}
	}
	t.stages = append(t.stages, stage)
	if t.kept += len(stage); t.kept >= t.room {
		t.drop()
		t.room = max(t.room, 2*t.kept)
	}
}

// drop removes the origins that lead to no label of the last stage.
func (t *trail) drop() {
	for d := len(t.stages) - 1; d > 0; d-- {
		stage, behind := t.stages[d], t.stages[d-1]
		t.alive = append(t.alive[:0], make([]int32, len(behind))...)
		for i := range stage {
			t.alive[stage[i].next] = 1
		}
		n := int32(0)
		for i := range behind {
			if t.alive[i] > 0 {
				t.alive[i] = n
				n++
			} else {
				t.alive[i] = -1
			}
		}
		if int(n) == len(behind) {
			continue // nothing to drop here
		}
		for i := range stage {
			stage[i].next = t.alive[stage[i].next]
		}
		left := make([]origin, 0, n)
		for i := range behind {
			if t.alive[i] >= 0 {
				left = append(left, behind[i])
			}
		}
		t.stages[d-1] = left
		t.kept -= len(behind) - len(left)
	}
}
