package simulation

import (
	"fmt"
	"slices"

	"bourse"
	"bourse/agents"
)

// comesAfter checks I18 as a leg begins to run: each job that its own comes after
// has ended by what is committed, and the gap has passed. Work that shares its
// nodes has really ended.
func (v *Invariants) comesAfter(t *txRecord) error {
	broker := agents.ID("broker:" + t.begun.Tx.Broker)
	job := v.jobs[string(broker)+"/"+t.begun.Job]
	for _, name := range job.After {
		end, whole := v.endOf(t.begun.Tx.Broker, name)
		if !whole {
			return fmt.Errorf("I18: %s runs at %v and comes after %s, which has no window", job.Name, v.instant, name)
		}
		if end.Add(job.Gap) > v.instant {
			return fmt.Errorf("I18: %s runs at %v and comes %v after %s, which ends at %v", job.Name, v.instant, job.Gap, name, end)
		}
	}
	return nil
}

// endOf is when the last leg of a job's window ends; false if it has none.
func (v *Invariants) endOf(broker, job string) (end bourse.Time, whole bool) {
	for _, id := range v.windows[broker+"/"+job] {
		t := v.txs[id]
		for i := range t.legs {
			what := &t.begun.Legs[i]
			switch t.legs[i].state {
			case bourse.Settled:
				end, whole = max(end, t.legs[i].ended), true
			case bourse.Confirmed, bourse.Running:
				if end, whole = max(end, what.End), true; what.Work > 0 {
					end = bourse.Never.Add(-bourse.MaxDuration)
				}
			}
		}
	}
	return end, whole
}

// placed notes that a transaction is part of a job's window.
func (v *Invariants) placed(t *txRecord) {
	key := t.begun.Tx.Broker + "/" + t.begun.Job
	if !slices.Contains(v.windows[key], t.begun.Tx) {
		v.windows[key] = append(v.windows[key], t.begun.Tx)
	}
}
