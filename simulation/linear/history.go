package linear

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"

	"github.com/anishathalye/porcupine"
)

// History is what brokers have asked of the sites' ledgers and what they were
// answered: operations on legs, each from its first sending to the first answer
// heard. It must be one that a single ledger, taking the operations one after
// the other, could have had.
type History struct {
	ops   []porcupine.Operation
	open  map[opKey]int // into ops
	clock int64
}

// The operations on a leg.
const (
	AskHold    = "Hold"
	AskPrepare = "Prepare"
	AskConfirm = "Confirm"
	AskCancel  = "Cancel"
	AskRelease = "Release"
)

// opKey names an operation.
type opKey struct {
	leg  grid.LegID
	step string
}

// asked is what an operation asks of a ledger.
type asked struct {
	opKey
	site  string
	limit grid.Credits
}

// answer is the answer to an operation; "" if none was received.
type answer struct {
	word string
	fare grid.Credits
}

// New returns a history without operations.
func New() *History { return &History{open: map[opKey]int{}} }

// Tick ends an instant: what is recorded after it happened after it.
func (h *History) Tick() { h.clock++ }

// Ask takes down that a step has been asked of a leg at a site, for a Hold with
// the most that would be paid. Only the first time counts.
func (h *History) Ask(leg grid.LegID, step, site string, limit grid.Credits) {
	h.ask(asked{opKey{leg, step}, site, limit})
}

// Answer records the first answer to an operation: "Held" with its fare, "Prepared",
// "Confirmed", "Cancelled", "Released", or a text that begins with "Refused".
func (h *History) Answer(leg grid.LegID, step, word string, fare grid.Credits) {
	h.answer(leg, step, answer{word, fare})
}

// Len is the number of operations.
func (h *History) Len() int { return len(h.ops) }

// Follow takes down what a broker sends and hears.
func (h *History) Follow(s *sim.Step) {
	if !strings.HasPrefix(string(s.ID), "broker:") {
		return
	}
	h.Tick()
	if r, ok := s.Message.(agents.Refused); ok {
		h.answer(r.Leg, r.Step, answer{"Refused " + string(r.Reason.Code), 0})
	} else if step, ok := answered[s.Message.Kind()]; ok {
		a := answer{word: s.Message.Kind()}
		switch m := s.Message.(type) {
		case agents.Held:
			a.fare = m.Fare.Total()
		case agents.Released:
			a.fare = m.Refund
		}
		h.answer(s.Message.(agents.OfLeg).LegID(), step, a)
	}
	for _, x := range s.Sends {
		leg, ok := StepOf(x.Message)
		if !ok {
			continue
		}
		a := asked{opKey{leg, x.Message.Kind()}, string(x.To), 0}
		if m, ok := x.Message.(agents.Hold); ok {
			a.limit = m.Limit
		}
		h.ask(a)
	}
}

// StepOf is the leg of a step of a transaction.
func StepOf(m agents.Message) (grid.LegID, bool) {
	p, known := agents.Lookup(m.Kind())
	if !known || p.Class != agents.Step {
		return grid.LegID{}, false
	}
	return m.(agents.OfLeg).LegID(), true
}

// answered is the step that a kind of reply answers.
var answered = func() map[string]string {
	steps := map[string]string{}
	for _, p := range agents.Messages() {
		if p.Class == agents.Step {
			steps[p.Answer.Kind()] = p.Kind()
		}
	}
	return steps
}()

func (h *History) ask(a asked) {
	if _, again := h.open[a.opKey]; again {
		return
	}
	h.open[a.opKey] = len(h.ops)
	h.ops = append(h.ops, porcupine.Operation{ClientId: len(h.ops), Input: a, Output: answer{}, Call: h.clock, Return: -1})
}

func (h *History) answer(leg grid.LegID, step string, a answer) {
	i, ok := h.open[opKey{leg, step}]
	if ok && h.ops[i].Return < 0 {
		h.ops[i].Output, h.ops[i].Return = a, h.clock
	}
}

// Check returns an error unless the history is one of a ledger. Legs that an
// amnesia has named are left out.
func (h *History) Check(exempt func(grid.LegID) bool) error {
	var ops []porcupine.Operation
	for _, op := range h.ops {
		if exempt(op.Input.(asked).leg) {
			continue
		}
		if op.Return < 0 {
			op.Return = h.clock + 1
		}
		ops = append(ops, op)
	}
	if porcupine.CheckOperations(model, ops) {
		return nil
	}
	for _, part := range model.Partition(ops) {
		if !porcupine.CheckOperations(model, part) {
			return fmt.Errorf("I6: the operations on leg %v are not those of one ledger: %s", part[0].Input.(asked).leg, shown(part))
		}
	}
	return fmt.Errorf("I6: the history is not that of one ledger")
}

func shown(ops []porcupine.Operation) string {
	var b strings.Builder
	for i, op := range ops {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %q", op.Input.(asked).step, op.Output.(answer).word)
	}
	return b.String()
}

// ledgerLeg is a leg in the model's ledger: what states it may be in. What a
// site does by itself (a limit that passes, nodes that fail) may happen at any
// time.
type ledgerLeg struct {
	state   grid.LegState
	unknown bool // never held
	fare    grid.Credits
}

// model is the ledger of a site, leg by leg: legs share nothing but nodes, which
// I1 watches.
var model = (&porcupine.NondeterministicModel{
	Partition: func(ops []porcupine.Operation) [][]porcupine.Operation {
		index := map[grid.LegID]int{}
		var parts [][]porcupine.Operation
		for _, op := range ops {
			leg := op.Input.(asked).leg
			i, ok := index[leg]
			if !ok {
				i = len(parts)
				index[leg] = i
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], op)
		}
		return parts
	},
	Init: func() []any { return []any{ledgerLeg{unknown: true}} },
	Step: func(state, input, output any) []any {
		return ledgerStep(state.(ledgerLeg), input.(asked), output.(answer))
	},
	Equal: func(a, b any) bool { return a.(ledgerLeg) == b.(ledgerLeg) },
}).ToModel()

// ledgerStep lists what a leg may be after an operation with that answer. An operation with
// no received answer may have had any outcome, or never have arrived.
func ledgerStep(l ledgerLeg, in asked, out answer) []any {
	var next []any
	for _, l := range drifted(l) {
		for _, o := range outcomes(l, in) {
			if out.word == "" || out.word == o.answer.word && (o.answer.fare == 0 || o.answer.fare == out.fare) ||
				strings.HasPrefix(out.word, "Refused") && o.answer.word == "Refused" {
				if l := o.leg; l.state == grid.Held && l.fare == 0 {
					l.fare = out.fare
					if out.fare > in.limit {
						continue
					}
					next = append(next, l)
					continue
				}
				next = append(next, o.leg)
			}
		}
		if out.word == "" {
			next = append(next, l)
		}
	}
	return next
}

// drifted lists what a leg may have become by itself.
func drifted(l ledgerLeg) []ledgerLeg {
	list := []ledgerLeg{l}
	if l.unknown {
		return list
	}
	var by []grid.LegState
	switch l.state {
	case grid.Held:
		by = []grid.LegState{grid.LegExpired, grid.Lost}
	case grid.Prepared: // an Answer may confirm or cancel it too
		by = []grid.LegState{grid.Heuristic, grid.Lost, grid.Confirmed, grid.Cancelled}
	case grid.Confirmed:
		by = []grid.LegState{grid.Settled, grid.Lost, grid.Released}
	}
	for _, s := range by {
		m := l
		m.state = s
		list = append(list, m)
		if s == grid.Confirmed {
			for _, t := range []grid.LegState{grid.Settled, grid.Lost, grid.Released} {
				m.state = t
				list = append(list, m)
			}
		}
	}
	return list
}

// outcome is a possible result of an operation.
type outcome struct {
	leg    ledgerLeg
	answer answer
}

// outcomes lists the possible results of an operation on a leg.
func outcomes(l ledgerLeg, in asked) []outcome {
	to := func(s grid.LegState, word string) outcome {
		n := l
		n.state, n.unknown = s, false
		return outcome{n, answer{word, 0}}
	}
	refused := outcome{l, answer{"Refused", 0}}
	switch in.step {
	case AskHold:
		if l.unknown {
			return []outcome{to(grid.Held, "Held"), to(grid.Refused, "Refused")}
		}
		return []outcome{refused}
	case AskPrepare:
		if !l.unknown && l.state == grid.Held {
			return []outcome{to(grid.Prepared, "Prepared"), refused}
		}
		return []outcome{refused, to(l.state, "Prepared")} // a leg confirmed or cancelled by a Listing keeps its stored reply
	case AskConfirm:
		switch {
		case l.unknown || l.state == grid.Refused || l.state == grid.Cancelled || l.state == grid.LegExpired || l.state == grid.Heuristic:
			return []outcome{refused}
		case l.state == grid.Held || l.state == grid.Prepared:
			return []outcome{to(grid.Confirmed, "Confirmed"), refused}
		}
		return []outcome{to(l.state, "Confirmed"), refused}
	case AskCancel:
		switch {
		case l.unknown || l.state == grid.Held || l.state == grid.Prepared:
			return []outcome{to(grid.Cancelled, "Cancelled"), refused}
		case l.state == grid.Confirmed || l.state == grid.Running:
			return []outcome{refused}
		}
		return []outcome{to(l.state, "Cancelled"), refused}
	}
	if l.state == grid.Confirmed || l.state == grid.Running {
		return []outcome{to(grid.Released, "Released"), refused}
	}
	return []outcome{to(l.state, "Released"), refused}
}
