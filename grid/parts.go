package grid

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// JobPart is one part of a job of unlike parts: nodes of its own kind, for a length of its
// own, from an offset after the job's start on. All parts start, or none does. What a part
// does not say it has from its job, so that each is complete.
type JobPart struct {
	Name           string      `json:"name"` // unique in the job; see CheckParts
	Nodes          int         `json:"nodes"`
	Length         Duration    `json:"length"`           // run time at performance 1
	Run            Duration    `json:"run,omitempty"`    // its real run time at performance 1, only known in simulations; 0: its Length
	Offset         Duration    `json:"offset,omitempty"` // after the job's start; 0..MaxOffset, one part at least has 0
	MinPerformance Performance `json:"minPerformance"`
	MaxPrice       Price       `json:"maxPrice"` // adds to the budget; under alp, caps its nodes
	Require        Requirement `json:"require,omitzero"`
	Portion        Portion     `json:"portion,omitzero"` // of each node; none: all of it. MaxPrice is then per hour of a portion
	Sites          []string    `json:"sites,omitempty"`  // the only sites that may carry it; none: any
	Avoid          []string    `json:"avoid,omitempty"`  // sites that must not
	OneSite        bool        `json:"oneSite,omitempty"`
	Work           *Work       `json:"work,omitempty"` // nil: it just holds its nodes
}

// Bounds of a job's parts.
const (
	MaxParts    = 8
	MaxPartName = 32 // bytes
	MaxOffset   = 30 * Day
	MaxSites    = 64 // names in sites, and in avoid
)

// Takes is the longest time that a part can take from its start on: ceil(L / P).
func (p *JobPart) Takes() Duration { return p.MinPerformance.Runtime(p.Length) }

// Last is the longest time from the job's start to the part's end.
func (p *JobPart) Last() Duration { return p.Offset + p.Takes() }

// Request is what the part asks for as a job of its own, within the job's times and budget.
func (p *JobPart) Request(job *Request) Request {
	r := *job
	r.Nodes, r.Length, r.MinPerformance, r.MaxPrice = p.Nodes, p.Length, p.MinPerformance, p.MaxPrice
	r.Require, r.Sites, r.Avoid, r.OneSite = p.Require, p.Sites, p.Avoid, p.OneSite || job.Apart || job.Together
	r.Parts, r.Together, r.Apart, r.Portion = nil, false, false, p.Portion
	r.Ready = r.Ready.Add(p.Offset)
	return r
}

// PortionOf is what a part takes of each node or, of a job of one piece, what the job does.
func (r *Request) PortionOf(part int) Portion {
	if r.Composed() {
		return r.Parts[part].Portion
	}
	return r.Portion
}

// Composed reports whether the job has several parts. A job of a single part is one of one
// piece, whose work is told the part's name.
func (r *Request) Composed() bool { return len(r.Parts) > 1 }

// AtOnce is the fewest nodes that it needs at one instant: those of its smallest size, or those
// of the parts that start together, whichever start has the most.
func (r *Request) AtOnce() int {
	if !r.Composed() {
		n := r.Nodes
		for _, z := range r.Sizes {
			n = min(n, z.Nodes)
		}
		return n
	}
	most := 0
	for i := range r.Parts {
		n := 0
		for k := range r.Parts {
			if r.Parts[k].Offset == r.Parts[i].Offset {
				n += r.Parts[k].Nodes
			}
		}
		most = max(most, n)
	}
	return most
}

// Compose gives a request its parts, which must pass CheckParts. What stands for the job as
// a whole follows from them: Nodes is the sum, Length the longest time from its start to the
// end of a part, at performance 1, MaxPrice the highest. A single part makes it a job of one
// piece.
func (r *Request) Compose(parts []JobPart) {
	r.Parts = parts
	if len(parts) == 1 {
		p := &parts[0]
		r.Nodes, r.Length, r.MinPerformance, r.MaxPrice = p.Nodes, p.Length, p.MinPerformance, p.MaxPrice
		r.Require, r.Portion, r.Sites, r.Avoid, r.OneSite = p.Require, p.Portion, p.Sites, p.Avoid, p.OneSite
		return
	}
	r.Portion = Portion{}
	r.Nodes, r.Length, r.MinPerformance, r.MaxPrice = 0, 0, Unit, 0
	for i := range parts {
		r.Nodes += parts[i].Nodes
		r.Length = max(r.Length, parts[i].Last())
		r.MaxPrice = max(r.MaxPrice, parts[i].MaxPrice)
	}
}

// Money completes what its owner has said about money: the budget if none is given, and the
// price cap that the budget implies for the parts without one, by index. It then composes
// the request. At least one of both must be given for each part.
func (r *Request) Money(parts []JobPart, budget bool, unpriced []int) {
	r.Parts = parts
	if !budget {
		r.Budget = r.DefaultBudget()
	}
	for _, i := range unpriced {
		parts[i].MaxPrice = min(r.PriceWithin(), MaxPrice)
	}
	r.Compose(parts)
}

// Whole reports whether the fields that Compose sets are those of the parts.
func (r *Request) Whole() bool {
	if len(r.Parts) == 0 {
		return true
	}
	x := *r
	x.Compose(r.Parts)
	return x.Nodes == r.Nodes && x.Length == r.Length && x.MinPerformance == r.MinPerformance
}

// May reports whether a site may carry what allows sites and forbids avoid.
func May(site string, sites, avoid []string) bool {
	return (len(sites) == 0 || slices.Contains(sites, site)) && !slices.Contains(avoid, site)
}

// AnySite reports whether sites less avoid names a site, or any may serve.
func AnySite(sites, avoid []string) bool {
	return len(sites) == 0 || slices.ContainsFunc(sites, func(s string) bool { return !slices.Contains(avoid, s) })
}

// partsBudget is the sum of nodes x Cost(max price, ceil(L / P)) over the parts.
func partsBudget(parts []JobPart) (sum Credits) {
	for i := range parts {
		sum = sum.Plus(Cost(parts[i].MaxPrice, parts[i].Takes()).Times(parts[i].Nodes))
	}
	return sum
}

// priceWithin is S / sum(nodes x ceil(L / P)), rounded down.
func priceWithin(budget Credits, parts []JobPart) Price {
	var hi, lo uint64 // node-milliseconds
	for i := range parts {
		h, l := bits.Mul64(uint64(parts[i].Nodes), uint64(parts[i].Takes()))
		var carry uint64
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	if hi > 0 || lo > math.MaxInt64 || lo == 0 {
		return 0
	}
	return Price(MulDiv(int64(budget), int64(Hour), int64(lo)))
}

// Stack returns the parts of one window with those that need nodes of a group at the same
// time added up, so that each part of the result says what must be free at its instants. Of a
// job of one piece, which has no two parts in a group, they are the parts themselves.
func Stack(parts []Part) []Part {
	several := func(p Part) bool {
		return slices.ContainsFunc(parts, func(o Part) bool { return o.Group == p.Group && o.Of != p.Of })
	}
	if !slices.ContainsFunc(parts, several) {
		return parts
	}
	var out []Part
	for i, p := range parts {
		if !several(p) {
			out = append(out, p)
			continue
		}
		if slices.ContainsFunc(parts[:i], func(o Part) bool { return o.Group == p.Group }) {
			continue // its group was stacked with the first of them
		}
		var instants []Time
		for _, o := range parts {
			if o.Group == p.Group {
				instants = append(instants, o.Start, o.End)
			}
		}
		slices.Sort(instants)
		instants = slices.Compact(instants)
		for k := range len(instants) - 1 {
			x := Part{Group: p.Group, Start: instants[k], End: instants[k+1]}
			for _, o := range parts {
				if o.Group == p.Group && o.Start <= x.Start && x.End <= o.End {
					x.Count += o.Count
				}
			}
			if x.Count > 0 {
				out = append(out, x)
			}
		}
	}
	return out
}

// PartError says what is wrong with a job's parts: with which, and with which key of a batch
// file.
type PartError struct {
	Part int    // an index; -1: with the job
	Key  string // "": with the part as a whole
	Err  error
}

// Error shows the place and what is wrong.
func (e *PartError) Error() string {
	switch {
	case e.Part < 0:
		return e.Key + ": " + e.Err.Error()
	case e.Key == "":
		return fmt.Sprintf("part[%d]: %v", e.Part, e.Err)
	}
	return fmt.Sprintf("part[%d].%s: %v", e.Part, e.Key, e.Err)
}

func badPart(part int, key, format string, args ...any) *PartError {
	return &PartError{part, key, fmt.Errorf(format, args...)}
}

// CheckParts says what makes no sense in a job's parts, and in its sites, avoid, together
// and apart; nil if nothing. Nodes bounds those of all parts.
func CheckParts(r *Request, nodes int) *PartError {
	if err := checkSites(r.Sites, r.Avoid, -1); err != nil && len(r.Parts) == 0 {
		return err
	}
	switch {
	case r.Together && r.Apart:
		return badPart(-1, "together", "stands beside apart; parts are on one site or on different ones, so leave one of the two out")
	case len(r.Parts) == 0 && r.Together:
		return badPart(-1, "together", "needs parts; for a job of one piece write spread = \"one-site\"")
	case len(r.Parts) == 0 && r.Apart:
		return badPart(-1, "apart", "needs parts; leave it out")
	case len(r.Parts) == 0:
		return nil
	case len(r.Parts) > MaxParts:
		return badPart(-1, "part", "%s; must be 1 to %d", Count(len(r.Parts), "part"), MaxParts)
	}
	sum, zero := 0, false
	for i := range r.Parts {
		p := &r.Parts[i]
		if err := p.check(i, nodes); err != nil {
			return err
		}
		if first := slices.IndexFunc(r.Parts[:i], func(o JobPart) bool { return o.Name == p.Name }); first >= 0 {
			return badPart(i, "name", "%q is the name of an earlier part too; names must differ within a job", p.Name)
		}
		if sum += p.Nodes; sum > nodes {
			return badPart(i, "nodes", "the parts up to this one have %s; must be at most %d in all", Count(sum, "node"), nodes)
		}
		zero = zero || p.Offset == 0
	}
	if !zero {
		return badPart(0, "offset", "no part starts with the job; one must have the offset 0, so take the least offset off all of them")
	}
	return nil
}

// check is CheckParts of one part by itself.
func (p *JobPart) check(i, nodes int) *PartError {
	switch {
	case !partName(p.Name):
		return badPart(i, "name", "%q: must be a letter of a to z, then letters, digits and -, at most %d bytes", brief(p.Name), MaxPartName)
	case p.Nodes < 1 || p.Nodes > nodes:
		return badPart(i, "nodes", "%d is outside 1..%d", p.Nodes, nodes)
	case p.Length <= 0 || p.Length > MaxDuration:
		return badPart(i, "length", "%v seconds: must be above 0 and at most %v", p.Length, MaxDuration)
	case p.Run < 0 || p.Run > MaxDuration:
		return badPart(i, "run", "%v seconds: must be 0 to %v", p.Run, MaxDuration)
	case p.MinPerformance <= 0 || p.MinPerformance > MaxPerformance:
		return badPart(i, "min_performance", "%v is outside 0.001..%v", p.MinPerformance, MaxPerformance)
	case p.Takes() > MaxDuration:
		return badPart(i, "length", "%v seconds at performance %v is too long for a schedule", p.Length, p.MinPerformance)
	case p.MaxPrice < 0 || p.MaxPrice > MaxPrice:
		return badPart(i, "max_price", "%v is outside 0..%v credits per node-hour", p.MaxPrice, MaxPrice)
	case p.Offset < 0 || p.Offset > MaxOffset:
		return badPart(i, "offset", "%s: must be 0s to %s after the job's start", p.Offset.Words(), MaxOffset.Words())
	}
	if wrong := p.Portion.Check(); wrong != "" {
		return badPart(i, "", "%s", wrong)
	}
	return checkSites(p.Sites, p.Avoid, i)
}

// checkSites checks the names in sites and avoid.
func checkSites(sites, avoid []string, part int) *PartError {
	for _, x := range []struct {
		key  string
		list []string
	}{{"sites", sites}, {"avoid", avoid}} {
		if len(x.list) > MaxSites {
			return badPart(part, x.key, "%d names; must be at most %d", len(x.list), MaxSites)
		}
		for _, name := range x.list {
			if err := CheckName(name); err != nil {
				return &PartError{part, x.key, err}
			}
		}
	}
	if !AnySite(sites, avoid) {
		return &PartError{part, "sites", errors.New("avoid has all of them; leave one of the two lists out, or name a site that is not avoided")}
	}
	return nil
}

// partName reports whether s is a letter of a to z, then letters, digits and -.
func partName(s string) bool {
	for i, c := range []byte(s) {
		if (c < 'a' || c > 'z') && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != "" && len(s) <= MaxPartName
}

// SameParts reports whether two lists of parts are equal.
func SameParts(a, b []JobPart) bool { return slices.EqualFunc(a, b, samePart) }

func samePart(a, b JobPart) bool {
	return a.Name == b.Name && a.Nodes == b.Nodes && a.Length == b.Length && a.Run == b.Run && a.Offset == b.Offset &&
		a.MinPerformance == b.MinPerformance && a.MaxPrice == b.MaxPrice && a.Require.Same(&b.Require) && a.Portion == b.Portion &&
		slices.Equal(a.Sites, b.Sites) && slices.Equal(a.Avoid, b.Avoid) && a.OneSite == b.OneSite && a.Work.Same(b.Work)
}

// Same reports whether two requirements are equal.
func (r *Requirement) Same(o *Requirement) bool {
	return r.Memory == o.Memory && r.Disk == o.Disk && r.GPUs == o.GPUs && r.OS == o.OS && r.Arch == o.Arch &&
		slices.Equal(r.Features, o.Features)
}
