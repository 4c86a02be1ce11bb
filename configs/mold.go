package configs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/sla"
)

// A moldable job has a range of nodes and says how it speeds up: nodes = "4..16" and
// speedup = { amdahl = 0.05 }, { power = 0.8 }, or the lengths themselves, { table = { 4 =
// "2h", 8 = "70m", 16 = "45m" } }. With a law, length is for the fewest nodes.

// nodes reads N, or the range of a moldable job. For a rigid job both results are N.
func readNodes(t *keys.Table) (least, most int) {
	v, _ := t.Take("nodes")
	s, ok := v.(string)
	if !ok {
		n := t.Whole("nodes", 1, 1, maxNodes)
		return n, n
	}
	from, to, _ := strings.Cut(s, "..")
	least, err1 := strconv.Atoi(strings.TrimSpace(from))
	most, err2 := strconv.Atoi(strings.TrimSpace(to))
	switch {
	case err1 != nil || err2 != nil:
		t.Wrong("nodes", `%q: must be a whole number such as 16, or a range such as "4..16"`, s)
	case least > most:
		t.Wrong("nodes", "%q: %d is more than %d; write the smaller number first", s, least, most)
	case least < 1 || most > maxNodes:
		t.Wrong("nodes", "%q is outside 1..%d", s, maxNodes)
	default:
		return least, most
	}
	return 1, 1
}

// speedup is how a moldable job gets faster with more nodes: one of its keys.
type speedup struct {
	given         string // the key that is given; "" if none or several
	amdahl, power Thousandths
	sizes         []grid.Size // of table, fewest nodes first
}

// keys lists the keys of [job.speedup].
func (s *speedup) keys() keys.List {
	return keys.List{
		keys.Share("amdahl", &s.amdahl, 0, 0, One, "share of the work that cannot be parallelized").ByDefault("none"),
		keys.Share("power", &s.power, 0, 0, One, "the length falls with this power of the number of nodes").ByDefault("none"),
		keys.Entries("table", keys.About{Kind: "durations by nodes"}, s.size, "the lengths themselves: { 4 = \"2h\", 8 = \"70m\" }").ByDefault("none"),
		keys.Rule(s.one),
	}
}

// one finds out which of the keys is given.
func (s *speedup) one(t *keys.Table) {
	given := slices.DeleteFunc([]string{"amdahl", "power", "table"}, func(k string) bool { return !t.Has(k) })
	switch {
	case len(given) == 0 && len(t.Keys) > 0: // all its keys are unknown, which is reported
	case len(given) != 1:
		t.WrongAt(t.Path, "has %d of amdahl, power and table; must have exactly one", len(given))
	case given[0] == "table" && len(s.sizes) == 0 && t.Clean("table"):
		t.Wrong("table", `is empty; must be lengths by nodes, such as { 4 = "2h", 8 = "70m" }`)
	default:
		s.given = given[0]
	}
}

// size reads the length on a number of nodes.
func (s *speedup) size(t *keys.Table, key string) {
	n, err := strconv.Atoi(key)
	if err != nil || strconv.Itoa(n) != key {
		t.Wrong(key, `%q is not a number of nodes; must be lengths by nodes, such as { 4 = "2h", 8 = "70m" }`, key)
	}
	s.sizes = append(s.sizes, grid.Size{Nodes: n, Length: t.Span(key, grid.Hour, grid.Millisecond)})
	slices.SortFunc(s.sizes, func(a, b grid.Size) int { return cmp.Compare(a.Nodes, b.Nodes) })
}

// mold sets the sizes of a job with a range of nodes. Nodes and Length become those of the
// size with the least node-seconds.
func (j *Job) mold(t *keys.Table, s *speedup, least, most int) {
	j.Nodes = least
	_, ranged := t.Keys["nodes"].(string)
	if !t.Has("speedup") {
		if ranged && t.Clean("nodes") && least < most {
			t.Wrong("speedup", `missing; a job on %d to %d nodes must say how it gets faster, for example speedup = { amdahl = 0.05 }`, least, most)
		}
		return
	}
	if !ranged {
		t.Wrong("speedup", `needs a range of nodes; write nodes = "%d..%d", or leave it out`, least, 4*least)
	}
	if !t.Clean("nodes") || !t.Clean("speedup") || !t.Clean("length") {
		return
	}
	var sizes []grid.Size
	switch s.given {
	case "amdahl":
		sizes = byLaw(t, sla.Amdahl, int(s.amdahl), j.Length, least, most)
	case "power":
		sizes = byLaw(t, sla.Power, int(s.power), j.Length, least, most)
	case "table":
		listed(t, s.sizes, j.Length, least, most)
		sizes = s.sizes
	}
	if !t.Clean("nodes") || !t.Clean("speedup") || !t.Clean("length") {
		return
	}
	r := grid.Request{}
	r.Mold(sizes)
	j.Nodes, j.Length, j.Sizes = r.Nodes, r.Length, r.Sizes
}

// byLaw returns the sizes of a range of nodes by a law with one parameter.
func byLaw(t *keys.Table, law func(least, most int, te grid.Duration, share int) ([]sla.Size, error), share int, length grid.Duration, least, most int) []grid.Size {
	if n := most - least + 1; n > grid.MaxSizes {
		t.Wrong("nodes", "%d..%d has %d sizes; must have at most %d: narrow the range, or give a table", least, most, n, grid.MaxSizes)
		return nil
	}
	list, err := law(least, most, length, share)
	if err != nil {
		t.Wrong("speedup", "%v", err)
		return nil
	}
	sizes := make([]grid.Size, len(list))
	for i, z := range list {
		sizes[i] = grid.Size{Nodes: z.Nodes, Length: z.Runtime}
	}
	return sizes
}

// listed checks the lengths of a table against its job.
func listed(t *keys.Table, sizes []grid.Size, length grid.Duration, least, most int) {
	table := t.Path.Key("speedup").Key("table")
	if len(sizes) > grid.MaxSizes {
		t.WrongAt(table, "has %d sizes; must have at most %d", len(sizes), grid.MaxSizes)
		return
	}
	for i, z := range sizes {
		at := table.Key(strconv.Itoa(z.Nodes))
		if z.Nodes < least || z.Nodes > most {
			t.WrongAt(at, "%s outside the job's %d..%d", grid.Count(z.Nodes, "node is", "nodes are"), least, most)
		}
		if i > 0 && z.Length > sizes[i-1].Length {
			t.WrongAt(at, "%s on %s, but %s on %d: a job must not take longer on more nodes",
				z.Length.Words(), grid.Count(z.Nodes, "node"), sizes[i-1].Length.Words(), sizes[i-1].Nodes)
			return
		}
	}
	if t.Has("length") && length != sizes[0].Length {
		t.Wrong("length", "%s, but the table has %s on %s; leave one of them out", length.Words(), sizes[0].Length.Words(), grid.Count(sizes[0].Nodes, "node"))
	}
}

// tabled reports whether a job's lengths are in a table.
func tabled(t *keys.Table) bool {
	law, _ := t.Keys["speedup"].(map[string]any)
	return law["table"] != nil
}
