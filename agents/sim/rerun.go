package sim

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// record is what one life of a process was given, and what it recorded.
type record struct {
	made     func() agents.Agent // how it began
	replayed []stamped
	inputs   []input
}

type stamped struct {
	at   grid.Time
	fact agents.Fact
}

type input struct {
	now  grid.Time
	from agents.ID
	m    agents.Message
	sum  uint64 // digest of all facts up to and including this step
}

// step records one step.
func (r *record) step(w *Faulty, now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	sum := uint64(0)
	if n := len(r.inputs); n > 0 {
		sum = r.inputs[n-1].sum
	}
	r.inputs = append(r.inputs, input{now, from, m, w.digest(sum, now, out.Facts)})
}

// digest goes on with the digest of a journal.
func (w *Faulty) digest(sum uint64, now grid.Time, facts []agents.Fact) uint64 {
	h := fnv.New64a()
	for _, f := range facts {
		b, err := w.opt.Codec.Append(nil, now, f)
		if err != nil {
			panic(fmt.Sprintf("sim: fact %s cannot be written: %v", f.Kind(), err))
		}
		h.Reset()
		h.Write(b)
		sum = sum*1099511628211 ^ h.Sum64()
	}
	return sum
}

// Rerun gives every life of every process the same messages in the same order once more, and
// returns an error unless the same facts come of it. The world must have been made with
// Record.
func (w *Faulty) Rerun() error {
	for _, p := range w.procs {
		if !p.durable {
			continue
		}
		for i, r := range p.lives {
			agent := r.made().(agents.Durable)
			for _, s := range r.replayed {
				agent.Replay(s.at, s.fact)
			}
			var out agents.Outbox
			var sum uint64
			for n, in := range r.inputs {
				out.Reset()
				agent.Step(in.now, in.from, in.m, &out)
				if sum = w.digest(sum, in.now, out.Facts); sum != in.sum {
					return fmt.Errorf("%s, life %d: the same messages in the same order leave another journal, from message %d on, %s at %v: %s",
						w.names[p.name], i+1, n+1, in.m.Kind(), in.now, kindsOf(out.Facts))
				}
			}
		}
	}
	return nil
}

// kindsOf names facts.
func kindsOf(facts []agents.Fact) string {
	list := make([]string, len(facts))
	for i, f := range facts {
		list[i] = f.Kind()
	}
	return strings.Join(list, ", ")
}
