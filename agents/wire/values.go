package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// The values. Zero values are left out, and read as zero.

func legID(l grid.LegID) *LegID {
	return &LegID{Broker: text(l.Tx.Broker), Incarnation: l.Tx.Incarnation, Nonce: l.Tx.Nonce, Seq: l.Tx.Seq, Leg: uint32(l.Leg)}
}

// someLegID is legID for a leg that may be missing.
func someLegID(l grid.LegID) *LegID {
	if l == (grid.LegID{}) {
		return nil
	}
	return legID(l)
}

func leg(l grid.Leg) *Leg {
	out := &Leg{Group: text(l.Group), Nodes: int64(l.Nodes), Start: int64(l.Start), End: int64(l.End), Work: int64(l.Work)}
	if p := l.Part; p.Some() {
		out.Part = &LegPart{Slices: int64(p.Slices), Of: int64(p.Of), Cores: int64(p.Cores), Memory: p.Memory, Gpus: int64(p.GPUs)}
	}
	return out
}

func opened(list []grid.Opened) []*Opened {
	var out []*Opened
	for i := range list {
		out = append(out, &Opened{Start: int64(list[i].Start), End: int64(list[i].End), Free: profile(list[i].Free)})
	}
	return out
}

func fare(f grid.Fare) *Fare {
	if f == (grid.Fare{}) {
		return nil
	}
	return &Fare{Base: int64(f.Base), Additive: int64(f.Additive)}
}

func flex(w grid.Flex) *Flex {
	if w == (grid.Flex{}) {
		return nil
	}
	return &Flex{Ready: int64(w.Ready), Due: int64(w.Due), Fix: int64(w.Fix), Phi: int64(w.Phi)}
}

func stamp(s agents.Stamp) *Stamp { return &Stamp{Epoch: s.Epoch, Seq: s.Seq, From: s.From} }

// proof is left out if there is none.
func proof(p grid.Proof) *Proof {
	if p == (grid.Proof{}) {
		return nil
	}
	return &Proof{State: LegState(p.State) + 1, Epoch: p.Epoch, Seq: p.Seq, Mac: p.MAC[:]}
}

// reason cuts the text to maxDetail bytes and joins it into one line.
func reason(r grid.Reason) *Reason {
	if r == (grid.Reason{}) {
		return nil
	}
	detail := text(r.Detail)
	if len(detail) > maxDetail {
		cut := maxDetail
		for !utf8.RuneStart(detail[cut]) {
			cut--
		}
		detail = detail[:cut]
	}
	if strings.ContainsFunc(detail, control) {
		detail = strings.Map(func(c rune) rune {
			if control(c) {
				return ' '
			}
			return c
		}, detail)
	}
	return &Reason{Code: text(string(r.Code)), Detail: detail}
}

func group(g *grid.Group) *Group {
	out := &Group{Site: text(g.Site), Name: text(g.Name), Nodes: int64(g.Nodes), Performance: int64(g.Performance), Price: int64(g.Price), Slices: int64(g.Slices), Cores: int64(g.Cores)}
	if m := g.Machine; m.Memory != 0 || m.Disk != 0 || m.GPUs != 0 || m.OS != "" || m.Arch != "" || len(m.Features) > 0 {
		out.Machine = &Machine{Memory: m.Memory, Disk: m.Disk, Gpus: int64(m.GPUs), Os: text(m.OS), Arch: text(m.Arch), Features: texts(m.Features)}
	}
	return out
}

// profile writes the spans between steps instead of instants: three bytes, not six.
func profile(p grid.Profile) *Profile {
	out := &Profile{At: make([]int64, len(p)), Free: make([]int64, len(p))}
	var before grid.Time
	for i, s := range p {
		out.At[i], out.Free[i] = int64(s.At-before), int64(s.Free)
		before = s.At
	}
	return out
}

func priceCurve(c *grid.PriceCurve) *PriceCurve {
	if c == nil {
		return nil
	}
	list, repeat := c.Steps()
	out := &PriceCurve{Repeat: int64(repeat), At: make([]int64, len(list)), Factor: make([]int64, len(list))}
	var before grid.Time
	for i, p := range list {
		out.At[i], out.Factor[i] = int64(p.From-before), int64(p.Factor)
		before = p.From
	}
	return out
}

func listedLeg(l *agents.ListedLeg) *ListedLeg {
	return &ListedLeg{Leg: legID(l.Leg), What: leg(l.What), Job: text(l.Job), User: text(l.User), State: LegState(l.State) + 1,
		Fare: fare(l.Fare), Limit: int64(l.Limit), Left: int64(l.Left), End: int64(l.End), Version: l.Version,
		Refund: int64(l.Refund), Penalty: int64(l.Penalty), Run: int64(l.Run), Proof: proof(l.Proof),
		Result: result(l.Result), Reason: reason(l.Reason),
		Flex: flex(l.Flex), Turn: l.Shifts, Pilot: someLegID(l.Pilot)}
}

func texts(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
