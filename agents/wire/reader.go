package wire

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The bounds of one message. The vocabulary has the bounds of values.
const (
	maxTrace    = maxName + 64               // bytes of a transaction's name
	maxToken    = 1000                       // bytes of the token that admits a leg to a rendezvous
	maxFile     = 4 << 10                    // bytes of the name of a file
	maxPeers    = 10_000                     // of a leg
	maxName     = 256                        // bytes of the name of a job, user, site or group
	maxCode     = 64                         // bytes of a reason's code or a step's name
	maxDetail   = 1000                       // bytes of a reason's words
	maxText     = 1000                       // bytes of a feature, an operating system, an architecture
	maxFeatures = 1000                       // of one machine
	maxNodes    = 1_000_000                  // of a group or a leg
	maxGroups   = 10_000                     // of a site
	maxLegs     = 100_000                    // of one list
	maxSteps    = 1_000_000                  // of all profiles of one message
	maxDelayed  = 10_000_000                 // jobs that one leg delays
	maxForecast = 1 << 40                    // forecasts that a site has made
	maxLegOf    = 1_000_000                  // legs of a transaction
	maxPhi      = 100_000                    // of an alternative, in thousandths
	maxMachine  = int64(1) << 60             // bytes of memory or disk
	maxAddress  = len("operator:") + maxName // bytes of an agent's address
)

// reader turns the fields of one message into values. It keeps the first error and reads
// on: the result is used only if there was none.
type reader struct {
	kind  string
	path  []place // of the fields that are being read
	steps int     // of profiles so far
	err   error
}

// place is an element of a list on the path to a field.
type place struct {
	field string
	i     int
}

func (r *reader) enter(field string, i int) { r.path = append(r.path, place{field, i}) }
func (r *reader) leave()                    { r.path = r.path[:len(r.path)-1] }

// fail records the first error: the field, and what is wrong.
func (r *reader) fail(field, format string, args ...any) {
	if r.err != nil {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "wire: %s.", r.kind)
	for _, p := range r.path {
		fmt.Fprintf(&b, "%s[%d].", p.field, p.i)
	}
	fmt.Fprintf(&b, "%s ", field)
	fmt.Fprintf(&b, format, args...)
	r.err = fmt.Errorf("%s", b.String())
}

// whole reads a number from lo to hi.
func (r *reader) whole(field string, v, lo, hi int64) int {
	if v < lo || v > hi {
		r.fail(field, "is %d, outside %d..%d", v, lo, hi)
		return int(lo)
	}
	return int(v)
}

func (r *reader) time(field string, v int64) grid.Time {
	if t := grid.Time(v); t < -grid.MaxTime || t > grid.MaxTime {
		r.fail(field, "is %d ms, outside -%d..%d", v, grid.MaxTime, grid.MaxTime)
	}
	return grid.Time(v)
}

// perhaps reads an instant or Never.
func (r *reader) perhaps(field string, v int64) grid.Time {
	if grid.Time(v) == grid.Never {
		return grid.Never
	}
	return r.time(field, v)
}

func (r *reader) span(field string, v int64) grid.Duration {
	if d := grid.Duration(v); d < 0 || d > grid.MaxDuration {
		r.fail(field, "is %d ms, outside 0..%d", v, grid.MaxDuration)
	}
	return grid.Duration(v)
}

// credits reads an amount from 0 to MaxCredits, which stands for a price that nobody can
// pay.
func (r *reader) credits(field string, v int64) grid.Credits {
	if v < 0 {
		r.fail(field, "is %d millionths of a credit, an amount below 0", v)
	}
	return grid.Credits(v)
}

// name reads a text of one line with a bound on its bytes.
func (r *reader) name(field, s string, most int) string {
	if len(s) > most {
		r.fail(field, "has %d bytes, at most %d are taken", len(s), most)
	} else if strings.ContainsFunc(s, control) {
		r.fail(field, "%q has a control character", s)
	}
	return s
}

// some refuses an empty text.
func (r *reader) some(field, s string) string {
	if s == "" {
		r.fail(field, "is missing")
	}
	return s
}

func control(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' }

func (r *reader) texts(field string, list []string) []string {
	if len(list) == 0 {
		return nil
	}
	for i, s := range list {
		if len(s) > maxText || strings.ContainsFunc(s, control) {
			r.enter(field, i)
			r.name("text", s, maxText)
			r.leave()
		}
	}
	return list
}

// count checks the length of a list.
func (r *reader) count(field string, n, most int) bool {
	if n > most {
		r.fail(field, "has %d elements, at most %d are taken", n, most)
	}
	return n <= most
}

// address checks the address of an agent.
func (r *reader) address(field, s string) {
	role, name, ok := strings.Cut(s, ":")
	if !ok || role == "" || name == "" || len(s) > maxAddress || strings.ContainsFunc(s, control) {
		r.fail(field, "%.300q is no address of an agent, such as site:north", s)
	}
}

// legID reads the name of a leg, which must be present.
func (r *reader) legID(field string, l *LegID) grid.LegID {
	if l == nil {
		r.fail(field, "is missing")
		return grid.LegID{}
	}
	id := grid.LegID{Tx: grid.TxID{Broker: l.Broker, Incarnation: l.Incarnation, Nonce: l.Nonce, Seq: l.Seq}, Leg: int(l.Leg)}
	switch {
	case l.Broker == "":
		r.fail(field+".broker", "is missing")
	case l.Leg > maxLegOf:
		r.fail(field+".leg", "is %d, outside 0..%d", l.Leg, maxLegOf)
	case len(l.Broker) > maxName || strings.ContainsFunc(l.Broker, control):
		r.name(field+".broker", l.Broker, maxName)
	}
	return id
}

// someLegID reads the name of a leg; the zero name if there is none.
func (r *reader) someLegID(field string, l *LegID) grid.LegID {
	if l == nil {
		return grid.LegID{}
	}
	return r.legID(field, l)
}

// leg reads what a leg is. Whether it starts before it ends is checked by its site.
func (r *reader) leg(field string, l *Leg) grid.Leg {
	if l == nil {
		r.fail(field, "is missing")
		return grid.Leg{}
	}
	if l.Nodes < 0 || l.Nodes > maxNodes {
		r.whole(field+".nodes", l.Nodes, 0, maxNodes)
	}
	if t := grid.Time(l.Start); t < -grid.MaxTime || t > grid.MaxTime {
		r.time(field+".start", l.Start)
	}
	if t := grid.Time(l.End); t < -grid.MaxTime || t > grid.MaxTime {
		r.time(field+".end", l.End)
	}
	if len(l.Group) > maxName || strings.ContainsFunc(l.Group, control) {
		r.name(field+".group", l.Group, maxName)
	}
	if l.Work < 0 || grid.Duration(l.Work) > grid.MaxDuration {
		r.span(field+".work", l.Work)
	}
	out := grid.Leg{Group: l.Group, Nodes: int(l.Nodes), Start: grid.Time(l.Start), End: grid.Time(l.End), Work: grid.Duration(l.Work)}
	if p := l.Part; p != nil {
		out.Part = grid.LegPart{Slices: int16(r.whole(field+".part.slices", p.Slices, 1, grid.MaxSlices-1)), Of: int16(r.whole(field+".part.of", p.Of, 2, grid.MaxSlices)),
			Cores: int16(r.whole(field+".part.cores", p.Cores, 0, grid.MaxPortion)), Memory: int64(r.whole(field+".part.memory", p.Memory, 0, maxMachine)),
			GPUs: int16(r.whole(field+".part.gpus", p.Gpus, 0, grid.MaxPortion))}
	}
	return out
}

// opened reads opened nodes. Whether their intervals and slices make sense is checked by the
// broker.
func (r *reader) opened(field string, list []*Opened) []grid.Opened {
	if len(list) == 0 || !r.count(field, len(list), grid.MaxOpened) {
		return nil
	}
	out := make([]grid.Opened, len(list))
	for i, o := range list {
		r.enter(field, i)
		out[i] = grid.Opened{Start: r.time("start", o.GetStart()), End: r.time("end", o.GetEnd()), Free: r.profile("free", o.GetFree())}
		r.leave()
	}
	return out
}

func (r *reader) legAt(field string, i int, l *Leg) grid.Leg {
	r.enter(field, i)
	defer r.leave()
	return r.leg("leg", l)
}

func (r *reader) fare(field string, f *Fare) grid.Fare {
	if f == nil {
		return grid.Fare{}
	}
	if f.Base < 0 {
		r.credits(field+".base", f.Base)
	}
	if f.Additive < 0 {
		r.credits(field+".additive", f.Additive)
	}
	return grid.Fare{Base: grid.Credits(f.Base), Additive: grid.Credits(f.Additive)}
}

func (r *reader) reason(field string, why *Reason) grid.Reason {
	if why == nil {
		return grid.Reason{}
	}
	return grid.Reason{Code: grid.Code(r.name(field+".code", why.Code, maxCode)), Detail: r.name(field+".detail", why.Detail, maxDetail)}
}

func stampOf(s *Stamp) agents.Stamp {
	return agents.Stamp{Epoch: s.GetEpoch(), Seq: s.GetSeq(), From: s.GetFrom()}
}

// proof reads the proof by which a site recognises its own answer.
func (r *reader) proof(field string, p *Proof) (out grid.Proof) {
	if p == nil {
		return out
	}
	if n := len(p.GetMac()); n != grid.ProofMAC {
		r.fail(field+".mac", "has %d bytes, must be %d", n, grid.ProofMAC)
		return out
	}
	out = grid.Proof{State: r.state(field+".state", p.GetState()), Epoch: p.GetEpoch(), Seq: p.GetSeq()}
	copy(out.MAC[:], p.GetMac())
	return out
}

func (r *reader) group(g *Group) grid.Group {
	if g == nil {
		r.fail("group", "is missing")
		return grid.Group{}
	}
	out := grid.Group{Site: r.name("group.site", g.Site, maxName), Name: r.some("group.name", r.name("group.name", g.Name, maxName)),
		Nodes:       r.whole("group.nodes", g.Nodes, 1, maxNodes),
		Performance: grid.Performance(r.whole("group.performance", g.Performance, 1, int64(grid.MaxPerformance))),
		Price:       grid.Price(r.whole("group.price", g.Price, 0, int64(grid.MaxPrice)))}
	out.Slices, out.Cores = r.whole("group.slices", g.Slices, 0, grid.MaxSlices), r.whole("group.cores", g.Cores, 0, maxNodes)
	if m := g.Machine; m != nil {
		r.count("group.machine.features", len(m.Features), maxFeatures)
		out.Machine = grid.Machine{Memory: int64(r.whole("group.machine.memory", m.Memory, 0, maxMachine)),
			Disk: int64(r.whole("group.machine.disk", m.Disk, 0, maxMachine)), GPUs: r.whole("group.machine.gpus", m.Gpus, 0, maxNodes),
			OS: r.name("group.machine.os", m.Os, maxText), Arch: r.name("group.machine.arch", m.Arch, maxText),
			Features: r.texts("group.machine.features", m.Features)}
	}
	return out
}

// profile reads a step function, which must have a first step and go forward in time.
func (r *reader) profile(field string, p *Profile) grid.Profile {
	n := len(p.GetAt())
	switch r.steps += n; {
	case n == 0:
		r.fail(field, "is missing or has no step")
		return nil
	case n != len(p.Free):
		r.fail(field, "has %d times and %d numbers of nodes", n, len(p.Free))
		return nil
	case !r.count(field, r.steps, maxSteps):
		return nil
	}
	out := make(grid.Profile, n)
	var at int64
	for i, d := range p.At {
		free := p.Free[i]
		switch {
		case i == 0 && (d < -int64(grid.MaxTime) || d > int64(grid.MaxTime)), i > 0 && (d < 1 || d > int64(grid.MaxTime)-at):
			r.fail(field, "step %d: %d ms do not lead on within -%d..%d", i, d, grid.MaxTime, grid.MaxTime)
			return nil
		case free < -maxNodes || free > maxNodes:
			r.fail(field, "step %d: %d free nodes, outside -%d..%d", i, free, maxNodes, maxNodes)
			return nil
		}
		at += d
		out[i] = grid.Step{At: grid.Time(at), Free: int(free)}
	}
	return out
}

// priceCurve reads factors, which must go forward in time; grid.PriceCurveOf has the bounds.
func (r *reader) priceCurve(field string, c *PriceCurve) *grid.PriceCurve {
	if c == nil {
		return nil
	}
	if r.steps += len(c.At); !r.count(field, r.steps, maxSteps) {
		return nil
	}
	if len(c.At) != len(c.Factor) {
		r.fail(field, "has %d times and %d factors", len(c.At), len(c.Factor))
		return nil
	}
	list := make([]grid.PricePiece, len(c.At))
	var at int64
	for i, d := range c.At {
		if d < -int64(grid.MaxTime) || d > int64(grid.MaxTime)-max(at, 0) {
			r.fail(field, "step %d: %d ms do not lead on within -%d..%d", i, d, grid.MaxTime, grid.MaxTime)
			return nil
		}
		at += d
		list[i] = grid.PricePiece{From: grid.Time(at), Factor: r.whole(field+".factor", c.Factor[i], 0, grid.MaxPriceFactor)}
	}
	out, err := grid.PriceCurveOf(list, r.span(field+".repeat", c.Repeat))
	if err != nil {
		r.fail(field, "%v", err)
	}
	return out
}

func (r *reader) verdict(field string, v Verdict) agents.Verdict {
	if v <= Verdict_VERDICT_UNSPECIFIED || v > Verdict_VERDICT_UNKNOWN {
		r.fail(field, "is %d, which this build does not know", v)
		return agents.Wait
	}
	return agents.Verdict(v - 1)
}

func (r *reader) state(field string, s LegState) grid.LegState {
	if s <= LegState_LEG_STATE_UNSPECIFIED || s > LegState_LEG_STATE_LOST {
		r.fail(field, "is %d, which this build does not know", s)
		return grid.Asked
	}
	return grid.LegState(s - 1)
}
