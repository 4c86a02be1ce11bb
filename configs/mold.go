package configs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"bourse"
	"bourse/policy/sla"
)

// A moldable job has a range of nodes and says how it speeds up: nodes = "4..16"
// and speedup = { amdahl = 0.05 }, { power = 0.8 }, or the lengths themselves,
// { table = { 4 = "2h", 8 = "70m", 16 = "45m" } }. Where it follows from a law,
// length is that on the fewest nodes.

// nodes reads N, or the range of a moldable job; a rigid job has twice the same.
func (t *table) nodes() (least, most int) {
	v, _ := t.take("nodes")
	s, ok := v.(string)
	if !ok {
		n := t.whole("nodes", 1, 1, maxNodes)
		return n, n
	}
	from, to, _ := strings.Cut(s, "..")
	least, err1 := strconv.Atoi(strings.TrimSpace(from))
	most, err2 := strconv.Atoi(strings.TrimSpace(to))
	switch {
	case err1 != nil || err2 != nil:
		t.wrong("nodes", `%q is no range; a whole number such as 16, or "4..16", is wanted`, s)
	case least > most:
		t.wrong("nodes", "%q: the fewest, %d, are more than the most, %d", s, least, most)
	case least < 1 || most > maxNodes:
		t.wrong("nodes", "%q is outside 1..%d", s, maxNodes)
	default:
		return least, most
	}
	return 1, 1
}

// mold reads the sizes of a job with a range of nodes, and puts the one that takes
// least in all into Nodes and Length.
func (t *table) mold(j *Job, least, most int) {
	j.Nodes = least
	_, ranged := t.keys["nodes"].(string)
	if !t.has("speedup") {
		if ranged && t.clean("nodes") && least < most {
			t.wrong("speedup", `missing; a job on %d to %d nodes says how it gets faster, for instance speedup = { amdahl = 0.05 }`, least, most)
		}
		return
	}
	law := t.table("speedup")
	if law == nil {
		return
	}
	sizes := law.sizes(t, j.Length, least, most)
	law.done()
	switch {
	case !ranged:
		t.wrong("speedup", `has a meaning only with a range of nodes; write nodes = "%d..%d", or leave it out`, least, 4*least)
	case t.clean("speedup") && t.clean("nodes") && len(sizes) > 0:
		r := bourse.Request{}
		r.Mold(sizes)
		j.Nodes, j.Length, j.Sizes = r.Nodes, r.Length, r.Sizes
	}
}

// laws are the keys of speedup, of which it has one.
var laws = []string{"amdahl", "power", "table"}

// lawKeys lists them for documents; sizes reads them.
func lawKeys() keys {
	var factor Thousandths
	return keys{
		share("amdahl", &factor, 0, 0, One, "the share of the work on one node that cannot be divided").byDefault("none"),
		share("power", &factor, 0, 0, One, "the length falls with this power of the nodes").byDefault("none"),
		custom("table", about{kind: "durations by nodes"}, nil, "the lengths themselves: { 4 = \"2h\", 8 = \"70m\" }").byDefault("none"),
	}
}

// sizes reads speedup; job is the table that it stands in. It returns none where
// something is wrong.
func (t *table) sizes(job *table, length bourse.Duration, least, most int) []bourse.Size {
	given := slices.DeleteFunc(slices.Clone(laws), func(k string) bool { return !t.has(k) })
	switch {
	case len(given) == 0 && len(t.keys) > 0:
		return nil // its keys are unknown ones
	case len(given) != 1:
		job.wrong("speedup", "has %d of %s; one is wanted", len(given), strings.Join(laws, ", "))
		return nil
	}
	if given[0] == "table" {
		return t.listed(job, length, least, most)
	}
	share := int(t.share(given[0], 0, 0, One))
	if !t.clean(given[0]) || !job.clean("nodes") || !job.clean("length") {
		return nil
	}
	if n := most - least + 1; n > bourse.MaxSizes {
		job.wrong("nodes", "%d..%d are %d sizes; at most %d are tried: narrow the range, or give a table of fewer", least, most, n, bourse.MaxSizes)
		return nil
	}
	law := sla.Amdahl
	if given[0] == "power" {
		law = sla.Power
	}
	list, err := law(least, most, length, share)
	if err != nil {
		job.wrong("speedup", "%v", err)
		return nil
	}
	sizes := make([]bourse.Size, len(list))
	for i, z := range list {
		sizes[i] = bourse.Size{Nodes: z.Nodes, Length: z.Runtime}
	}
	return sizes
}

// listed reads a table of lengths by nodes.
func (t *table) listed(job *table, length bourse.Duration, least, most int) []bourse.Size {
	list := t.table("table")
	if list == nil {
		return nil
	}
	if len(list.keys) > bourse.MaxSizes {
		t.wrong("table", "has %d sizes; at most %d are tried", len(list.keys), bourse.MaxSizes)
		return nil
	}
	sizes := make([]bourse.Size, 0, len(list.keys))
	for _, key := range slices.Sorted(maps.Keys(list.keys)) {
		n, err := strconv.Atoi(key)
		switch {
		case err != nil || strconv.Itoa(n) != key:
			list.wrong(key, `%q is no number of nodes; lengths by nodes are wanted, such as { 4 = "2h", 8 = "70m" }`, key)
		case job.clean("nodes") && (n < least || n > most):
			list.wrong(key, "%d nodes are outside the job's %d..%d", n, least, most)
		}
		list.known[key] = true
		sizes = append(sizes, bourse.Size{Nodes: n, Length: list.span(key, bourse.Hour, bourse.Millisecond)})
	}
	if len(sizes) == 0 {
		t.wrong("table", `is empty; lengths by nodes are wanted, such as { 4 = "2h", 8 = "70m" }`)
	}
	if !t.clean("table") {
		return nil
	}
	slices.SortFunc(sizes, func(a, b bourse.Size) int { return cmp.Compare(a.Nodes, b.Nodes) })
	for i := 1; i < len(sizes); i++ {
		if x, y := sizes[i-1], sizes[i]; y.Length > x.Length {
			list.wrong(strconv.Itoa(y.Nodes), "%s on %d nodes, but %s on %d: a length must not grow with the nodes",
				y.Length.Words(), y.Nodes, x.Length.Words(), x.Nodes)
			return nil
		}
	}
	if job.has("length") && job.clean("length") && length != sizes[0].Length {
		job.wrong("length", "%s, but the table has %s on %d nodes; leave one of them out", length.Words(), sizes[0].Length.Words(), sizes[0].Nodes)
		return nil
	}
	return sizes
}

// tabled reports whether a job's lengths stand in a table.
func (t *table) tabled() bool {
	law, _ := t.keys["speedup"].(map[string]any)
	return law["table"] != nil
}
