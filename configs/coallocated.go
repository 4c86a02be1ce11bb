package configs

import (
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
)

// Coallocated is a share of a VO's jobs that need several sites at once.
type Coallocated struct {
	Sites int         // 2..grid.MaxParts; also the parts of such a job
	Share Thousandths // of all jobs
}

// coallocationKeys lists the keys about jobs of several sites.
func (w *VOWorkload) coallocationKeys() keys.List {
	const wishes = "is only for scenarios; a broker's process has real users"
	most := grid.MaxParts
	return keys.List{
		keys.Custom("sites", keys.About{Kind: "array of whole numbers", Limits: fmt.Sprintf("2..%d", most)}, func(t *keys.Table, key string) {
			for _, v := range t.Elements(key) {
				w.Coallocated = append(w.Coallocated, Coallocated{Sites: t.WholeAt(v.At, v.Value, 2, 2, most)})
			}
		}, "on how many sites at once the jobs of each of `sites_share` run: a part of the nodes on each, as even as it goes, the first ones larger, one node at least").ByDefault("2, 3 and so on, one for each of `sites_share`").Only(kinds.InScenario, wishes),
		keys.Custom("sites_share", keys.About{Kind: "array of numbers", Limits: "0..1, at most 1 together"}, w.readShares,
			"share of the jobs for each of `sites`; a larger one adds jobs and changes no other").ByDefault("none").Only(kinds.InScenario, wishes),
		keys.Rule(w.checkCoallocated),
	}
}

// readShares reads the shares of the numbers of sites that are read already.
func (w *VOWorkload) readShares(t *keys.Table, key string) {
	list := t.Elements(key)
	for i := range min(len(list), grid.MaxParts-1) {
		if !t.Has("sites") {
			w.Coallocated = append(w.Coallocated, Coallocated{Sites: 2 + i})
		}
	}
	if t.Has(key) && t.Clean(key) && len(list) != len(w.Coallocated) {
		t.Wrong(key, "has %d numbers; must have one for each of sites, which has %d", len(list), len(w.Coallocated))
		return
	}
	sum := Thousandths(0)
	for i, v := range list {
		if i < len(w.Coallocated) {
			w.Coallocated[i].Share = t.ShareAt(v.At, v.Value, 0, 0, One)
			sum += w.Coallocated[i].Share
		}
	}
	if t.Clean(key) && sum > One {
		t.Wrong(key, "is %v together; must be 1 at most", sum)
	}
}

// checkCoallocated refuses jobs that no site of the scenario, and no algorithm, could carry.
func (w *VOWorkload) checkCoallocated(t *keys.Table) {
	const key = "sites"
	if !t.Clean(key) || !t.Clean("sites_share") {
		return
	}
	if t.Has(key) && !t.Has("sites_share") {
		t.Wrong(key, "needs the share of the jobs for each number; write sites_share = [0.1]")
		return
	}
	for i, c := range w.Coallocated {
		at := t.Path.Key(key).At(i)
		if !t.Has(key) {
			at = t.Path.Key("sites_share").At(i)
		}
		if slices.ContainsFunc(w.Coallocated[:i], func(o Coallocated) bool { return o.Sites == c.Sites }) {
			t.WrongAt(at, "is %d a second time; add its shares", c.Sites)
		}
		if n := len(aroundOf(t).sites); c.Share > 0 && n < c.Sites {
			t.WrongAt(at, "is for jobs of %s at once, but the scenario has %d; no two parts of a job are on one site", grid.Count(c.Sites, "site"), n)
		}
		if a := aroundOf(t).algorithm; c.Share > 0 && !a.Composes() {
			t.WrongAt(at, "algorithm = %q of its broker does not search for jobs of several sites at once; must be %s", a, names.Or(search.Composing()))
			return
		}
	}
}
