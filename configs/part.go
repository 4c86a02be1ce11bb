package configs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
)

// A job of unlike parts has [[job.part]] tables instead of nodes. What a part does not say it
// has from its job, so a part is read after the keys of its job, with their values as its
// defaults.

// siteLimit is how many names sites may have, and avoid.
var siteLimit = fmt.Sprintf("at most %d", grid.MaxSites)

// siteKeys lists the keys about the sites of a job or a part.
func siteKeys(sites, avoid *[]string) keys.List {
	names := func(to *[]string) func(*keys.Table, string) {
		return func(t *keys.Table, key string) {
			if t.Has(key) {
				*to = siteNames(t, key)
			}
		}
	}
	what := keys.About{Kind: "array of strings", Limits: siteLimit}
	return keys.List{
		keys.Custom("sites", what, names(sites), "the only sites that may carry it").ByDefault("any"),
		keys.Custom("avoid", what, names(avoid), "sites that must not carry it").ByDefault("none"),
	}
}

// siteNames reads names of sites. In a scenario there must be sites of these names; the sites
// of a batch come and go.
func siteNames(t *keys.Table, key string) []string {
	list := t.Texts(key)
	if len(list) > grid.MaxSites {
		t.Wrong(key, "has %d names; must have at most %d", len(list), grid.MaxSites)
		return nil
	}
	for i, name := range list {
		if aroundOf(t).sites == nil || slices.Contains(aroundOf(t).sites, name) {
			continue
		}
		if near := keys.Nearest(name, aroundOf(t).sites); near != "" {
			t.WrongAt(t.Path.Key(key).At(i), "%q is not a site of this scenario; did you mean %s?", name, near)
		} else {
			t.WrongAt(t.Path.Key(key).At(i), "%q is not a site of this scenario; must be a name of a [[site]]", name)
		}
	}
	return list
}

// rivals are the keys of a job that make no sense beside parts, and why.
var rivals = []struct{ key, why string }{
	{"nodes", "stands beside [[job.part]] tables, which have nodes of their own; leave it out"},
	{"speedup", "needs a range of nodes, which a job of parts has not; leave it out"},
	{"flexible", "is for jobs without parts, since all parts start together; leave it out"},
	{"fix", "is for flexible jobs, which a job of parts cannot be; leave it out"},
	{"alternatives", "is for jobs without parts, since all parts start together; leave it out"},
}

// partKey is the key of [[job.part]] tables.
func (j *Job) partKey(w *grid.Work) keys.Key {
	what := keys.About{Kind: "tables", Limits: fmt.Sprintf("at most %d", grid.MaxParts), Shape: keys.Brackets,
		Below: func() keys.List { return new(jobPart).keys(new(Job)) }}
	return keys.Custom("part", what, func(t *keys.Table, key string) {
		if t.Has(key) {
			j.parts(t, w)
		}
	}, "parts of a job of unlike parts, which all start together or at their offsets, or not at all; a part has from its job what it does not say")
}

// jobPart is one [[job.part]] table.
type jobPart struct {
	grid.JobPart
	work grid.Work
	runs bool // it, or its job, has a command or a script
}

// keys lists the keys of a part of a job.
func (p *jobPart) keys(j *Job) keys.List {
	return slices.Concat(keys.List{
		keys.Text("name", &p.Name, "", "its name, unique in the job: a letter of a to z, then letters, digits and -").Must(`"gpu"`),
		keys.Custom("nodes", keys.About{Kind: "whole number", Limits: fmt.Sprintf("1..%d", maxNodes)}, func(t *keys.Table, key string) {
			if s, ranged := t.Keys[key].(string); ranged {
				t.Wrong(key, "%q: a part has a number of nodes, such as 16, and no range", s)
				return
			}
			p.Nodes = t.Whole(key, 1, 1, maxNodes)
		}, "number of nodes at once").Must("16"),
		keys.Span("length", &p.Length, j.Length, grid.Millisecond, "run time at performance 1").ByDefault("its job's"),
		keys.Amount("offset", &p.Offset, 0, "how long after the job's start it starts; one part at least must have 0"),
		keys.Span("run", &p.Run, j.Run, grid.Millisecond, "real run time at performance 1, for simulated clusters").ByDefault("its job's, otherwise its length"),
		keys.Amount("min_performance", &p.MinPerformance, j.MinPerformance, "least performance of each of its nodes").ByDefault("its job's"),
		keys.Amount("max_price", &p.MaxPrice, j.MaxPrice, "highest price of one of its nodes").ByDefault("its job's; what the budget leaves, if there is none"),
		keys.Custom("spread", keys.About{Kind: "word", Words: spreads}, func(t *keys.Table, key string) {
			if t.Has(key) {
				p.OneSite = t.OneOf(key, "any", spreads) == "one-site"
			}
		}, "sites over which it may spread").ByDefault("its job's"),
		keys.Option("require", func() keys.List { p.Require = grid.Requirement{}; return machineKeys(&p.Require) }, "what each of its nodes must have, instead of what its job requires"),
	}, portionKeys(&p.Portion), siteKeys(&p.Sites, &p.Avoid), p.workKeys(j))
}

// workKeys lists the keys about what a part runs.
func (p *jobPart) workKeys(j *Job) keys.List {
	runs := &keys.Condition{Text: "with a command or a script, of the part or its job", Holds: func(t *keys.Table) bool { return j.Runs || t.Has("command") || t.Has("script") }}
	w := &p.work
	return keys.List{
		keys.Custom("command", keys.About{Kind: "array of strings", Limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *keys.Table, key string) {
			if t.Has(key) {
				w.Command, w.Script = arguments(t, key), ""
			}
		}, "what to run on each site of the part, instead of what its job runs"),
		keys.Custom("script", keys.About{Kind: "file", Limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *keys.Table, key string) {
			if !t.Has(key) {
				return
			}
			if w.Script = program(t, key); !t.Has("command") {
				w.Command = nil
			}
		}, "instead of a command: a file that begins with #!"),
		keys.Entries("env", keys.About{Kind: "strings by name", Limits: fmt.Sprintf("at most %d", grid.MaxEnv)}, func(t *keys.Table, name string) {
			v := grid.EnvVar{Name: name, Value: raw(t, name)}
			w.Env = append(slices.DeleteFunc(slices.Clone(w.Env), func(e grid.EnvVar) bool { return e.Name == name }), v)
			slices.SortFunc(w.Env, func(a, b grid.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
		}, "environment variables, added to its job's; the part's value of a variable wins").When(runs),
		keys.Text("workdir", &w.Dir, w.Dir, "folder on the cluster in which it starts").ByDefault("its job's").When(runs),
		keys.Text("output", &w.Output, w.Output, "file for its output").ByDefault("its job's").When(runs),
		keys.Text("error", &w.Error, w.Error, "file for its standard error").ByDefault("its job's").When(runs),
		keys.Rule(func(t *keys.Table) { p.program(t, runs.Holds(t)) }),
	}
}

// program checks what a part runs. A part without a program just holds its nodes.
func (p *jobPart) program(t *keys.Table, runs bool) {
	if p.runs = runs; !runs || t.In == kinds.InScenario && (t.Has("script") || p.work.Command == nil && p.work.Script == "") {
		return // a simulation reads no scripts
	}
	for _, key := range []string{"command", "script", "env", "workdir", "output", "error"} {
		if !t.Clean(key) {
			return
		}
	}
	if wrong := p.work.Check(); wrong != nil {
		t.Wrong(wrong.Key, "%v", wrong.Err)
		return
	}
	p.Work = &p.work
}

// parts reads the parts of a job, which have from it what they do not say; w is what the job
// would run.
func (j *Job) parts(t *keys.Table, w *grid.Work) {
	for _, r := range rivals {
		if t.Has(r.key) {
			t.Wrong(r.key, "%s", r.why)
		}
	}
	list := t.Tables("part")
	if len(list) == 0 || len(list) > grid.MaxParts {
		if t.Clean("part") {
			t.Wrong("part", "%s; must be 1 to %d", grid.Count(len(list), "part"), grid.MaxParts)
		}
		return
	}
	for _, below := range list {
		p := &jobPart{work: *w}
		p.Require, p.Portion, p.Sites, p.Avoid, p.OneSite = j.Require, j.Portion, j.Sites, j.Avoid, j.OneSite
		if !t.Has("length") {
			below.Need("length", `"2h"`)
		}
		below.Fill(p.keys(j))
		j.Parts, j.Runs = append(j.Parts, p.JobPart), j.Runs || p.runs
	}
}

// compose makes the job of its parts, and completes its price or its budget.
func (j *Job) compose(t *keys.Table) {
	r := grid.Request{Parts: j.Parts, Sites: j.Sites, Avoid: j.Avoid, Together: j.Together, Apart: j.Apart, Budget: j.Budget}
	if !t.Sound() {
		return
	}
	part := t.Path.Key("part")
	if wrong := grid.CheckParts(&r, maxNodes); wrong != nil {
		if at := t.Path.Key(wrong.Key); wrong.Part < 0 {
			t.WrongAt(at, "%v", wrong.Err)
		} else {
			t.WrongAt(part.At(wrong.Part).Key(wrong.Key), "%v", wrong.Err)
		}
		return
	}
	if len(j.Parts) == 0 {
		return
	}
	if a := aroundOf(t).algorithm; len(j.Parts) > 1 && !a.Composes() {
		t.WrongAt(part, "algorithm = %q of its broker does not search for jobs of parts; must be %s", a, names.Or(search.Composing()))
		return
	}
	var unpriced []int
	for i := range j.Parts {
		if !t.Has("max_price") && (j.Gather != nil || !t.Tables("part")[i].Has("max_price")) {
			unpriced = append(unpriced, i)
		}
		if h := aroundOf(t).horizon; h > 0 && j.Parts[i].Last() > h {
			t.WrongAt(part.At(i).Key("offset"), "ends %s after the job's start, which is beyond the broker's horizon, %s; take a shorter offset, or a longer horizon", j.Parts[i].Last().Words(), h.Words())
		}
	}
	if j.Unpriced = t.In == kinds.InBatch && len(unpriced) == len(j.Parts) && !t.Has("budget"); j.Unpriced {
		unpriced = nil
	}
	if len(unpriced) > 0 && !t.Has("budget") {
		t.WrongAt(part.At(unpriced[0]).Key("max_price"), "missing; write max_price = 2.5 (credits per node-hour) for every part or for the job, or budget = 100.0 (credits) for the job")
		return
	}
	r.Money(j.Parts, t.Has("budget"), unpriced)
	if r.Budget > grid.MaxBudget {
		t.WrongAt(part, "cost more than %v credits at their highest prices; give a budget", grid.MaxBudget)
	}
	j.Nodes, j.Length, j.MinPerformance, j.MaxPrice, j.Budget = r.Nodes, r.Length, r.MinPerformance, r.MaxPrice, r.Budget
	if j.Run, j.Portion = 0, (grid.Portion{}); len(j.Parts) == 1 {
		p := &j.Parts[0]
		j.Require, j.Portion, j.Sites, j.Avoid, j.OneSite, j.Run, j.Work = p.Require, p.Portion, p.Sites, p.Avoid, p.OneSite, p.Run, p.Work
	}
}
