package configs

import (
	"cmp"
	"fmt"
	"slices"

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
func siteKeys(sites, avoid *[]string) keys {
	names := func(to *[]string) func(*table, string) {
		return func(t *table, key string) {
			if t.has(key) {
				*to = siteNames(t, key)
			}
		}
	}
	what := about{kind: "array of strings", limits: siteLimit}
	return keys{
		custom("sites", what, names(sites), "the only sites that may carry it").byDefault("any"),
		custom("avoid", what, names(avoid), "sites that must not carry it").byDefault("none"),
	}
}

// siteNames reads names of sites. In a scenario there must be sites of these names; the sites
// of a batch come and go.
func siteNames(t *table, key string) []string {
	list := t.texts(key)
	if len(list) > grid.MaxSites {
		t.wrong(key, "has %d names; must have at most %d", len(list), grid.MaxSites)
		return nil
	}
	for i, name := range list {
		if aroundOf(t).sites == nil || slices.Contains(aroundOf(t).sites, name) {
			continue
		}
		if near := nearest(name, aroundOf(t).sites); near != "" {
			t.wrongAt(t.path.key(key).at(i), "%q is not a site of this scenario; did you mean %s?", name, near)
		} else {
			t.wrongAt(t.path.key(key).at(i), "%q is not a site of this scenario; must be a name of a [[site]]", name)
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
	{"gpus_per_node", partsWhole},
	{"cores_per_node", partsWhole},
	{"memory_per_node", partsWhole},
	{"alternatives", "is for jobs without parts, since all parts start together; leave it out"},
}

const partsWhole = "is for jobs without parts, which take whole nodes; leave it out"

// partKey is the key of [[job.part]] tables.
func (j *Job) partKey(w *grid.Work) key {
	what := about{kind: "tables", limits: fmt.Sprintf("at most %d", grid.MaxParts), shape: brackets,
		below: func() keys { return new(jobPart).keys(new(Job)) }}
	return custom("part", what, func(t *table, key string) {
		if t.has(key) {
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
func (p *jobPart) keys(j *Job) keys {
	return slices.Concat(keys{
		text("name", &p.Name, "", "its name, unique in the job: a letter of a to z, then letters, digits and -").must(`"gpu"`),
		custom("nodes", about{kind: "whole number", limits: fmt.Sprintf("1..%d", maxNodes)}, func(t *table, key string) {
			if s, ranged := t.keys[key].(string); ranged {
				t.wrong(key, "%q: a part has a number of nodes, such as 16, and no range", s)
				return
			}
			p.Nodes = t.whole(key, 1, 1, maxNodes)
		}, "number of nodes at once").must("16"),
		span("length", &p.Length, j.Length, grid.Millisecond, "run time at performance 1").byDefault("its job's"),
		amount("offset", &p.Offset, 0, "how long after the job's start it starts; one part at least must have 0"),
		span("run", &p.Run, j.Run, grid.Millisecond, "real run time at performance 1, for simulated clusters").byDefault("its job's, otherwise its length"),
		amount("min_performance", &p.MinPerformance, j.MinPerformance, "least performance of each of its nodes").byDefault("its job's"),
		amount("max_price", &p.MaxPrice, j.MaxPrice, "highest price of one of its nodes").byDefault("its job's; what the budget leaves, if there is none"),
		custom("spread", about{kind: "word", words: spreads}, func(t *table, key string) {
			if t.has(key) {
				p.OneSite = t.oneOf(key, "any", spreads) == "one-site"
			}
		}, "sites over which it may spread").byDefault("its job's"),
		option("require", func() keys { p.Require = grid.Requirement{}; return machineKeys(&p.Require) }, "what each of its nodes must have, instead of what its job requires"),
	}, siteKeys(&p.Sites, &p.Avoid), p.workKeys(j))
}

// workKeys lists the keys about what a part runs.
func (p *jobPart) workKeys(j *Job) keys {
	runs := &condition{text: "with a command or a script, of the part or its job", holds: func(t *table) bool { return j.Runs || t.has("command") || t.has("script") }}
	w := &p.work
	return keys{
		custom("command", about{kind: "array of strings", limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *table, key string) {
			if t.has(key) {
				w.Command, w.Script = t.words(key), ""
			}
		}, "what to run on each site of the part, instead of what its job runs"),
		custom("script", about{kind: "file", limits: fmt.Sprintf("at most %d bytes", grid.MaxScript)}, func(t *table, key string) {
			if !t.has(key) {
				return
			}
			if w.Script = program(t, key); !t.has("command") {
				w.Command = nil
			}
		}, "instead of a command: a file that begins with #!"),
		entries("env", about{kind: "strings by name", limits: fmt.Sprintf("at most %d", grid.MaxEnv)}, func(t *table, name string) {
			v := grid.EnvVar{Name: name, Value: t.raw(name)}
			w.Env = append(slices.DeleteFunc(slices.Clone(w.Env), func(e grid.EnvVar) bool { return e.Name == name }), v)
			slices.SortFunc(w.Env, func(a, b grid.EnvVar) int { return cmp.Compare(a.Name, b.Name) })
		}, "environment variables, added to its job's; the part's value of a variable wins").when(runs),
		text("workdir", &w.Dir, w.Dir, "folder on the cluster in which it starts").byDefault("its job's").when(runs),
		text("output", &w.Output, w.Output, "file for its output").byDefault("its job's").when(runs),
		text("error", &w.Error, w.Error, "file for its standard error").byDefault("its job's").when(runs),
		rule(func(t *table) { p.program(t, runs.holds(t)) }),
	}
}

// program checks what a part runs. A part without a program just holds its nodes.
func (p *jobPart) program(t *table, runs bool) {
	if p.runs = runs; !runs || t.in == inScenario && (t.has("script") || p.work.Command == nil && p.work.Script == "") {
		return // a simulation reads no scripts
	}
	for _, key := range []string{"command", "script", "env", "workdir", "output", "error"} {
		if !t.clean(key) {
			return
		}
	}
	if wrong := p.work.Check(); wrong != nil {
		t.wrong(wrong.Key, "%v", wrong.Err)
		return
	}
	p.Work = &p.work
}

// parts reads the parts of a job, which have from it what they do not say; w is what the job
// would run.
func (j *Job) parts(t *table, w *grid.Work) {
	for _, r := range rivals {
		if t.has(r.key) {
			t.wrong(r.key, "%s", r.why)
		}
	}
	list := t.tables("part")
	if len(list) == 0 || len(list) > grid.MaxParts {
		if t.clean("part") {
			t.wrong("part", "%d parts; must be 1 to %d", len(list), grid.MaxParts)
		}
		return
	}
	for _, below := range list {
		p := &jobPart{work: *w}
		p.Require, p.Sites, p.Avoid, p.OneSite = j.Require, j.Sites, j.Avoid, j.OneSite
		if !t.has("length") {
			below.need("length", `"2h"`)
		}
		below.fill(p.keys(j))
		j.Parts, j.Runs = append(j.Parts, p.JobPart), j.Runs || p.runs
	}
}

// compose makes the job of its parts, and completes its price or its budget.
func (j *Job) compose(t *table) {
	r := grid.Request{Parts: j.Parts, Sites: j.Sites, Avoid: j.Avoid, Together: j.Together, Apart: j.Apart, Budget: j.Budget}
	if !t.sound() {
		return
	}
	part := t.path.key("part")
	if wrong := grid.CheckParts(&r, maxNodes); wrong != nil {
		if at := t.path.key(wrong.Key); wrong.Part < 0 {
			t.wrongAt(at, "%v", wrong.Err)
		} else {
			t.wrongAt(part.at(wrong.Part).key(wrong.Key), "%v", wrong.Err)
		}
		return
	}
	if len(j.Parts) == 0 {
		return
	}
	if a := aroundOf(t).algorithm; len(j.Parts) > 1 && !a.Composes() {
		t.wrongAt(part, "algorithm = %q of its broker does not search for jobs of parts; must be %s", a, names.Or(search.Composing()))
		return
	}
	var unpriced []int
	for i := range j.Parts {
		if table := t.tables("part")[i]; !t.has("max_price") && !table.has("max_price") {
			unpriced = append(unpriced, i)
		}
		if h := aroundOf(t).horizon; h > 0 && j.Parts[i].Last() > h {
			t.wrongAt(part.at(i).key("offset"), "ends %s after the job's start, which is beyond the broker's horizon, %s; take a shorter offset, or a longer horizon", j.Parts[i].Last().Words(), h.Words())
		}
	}
	if j.Unpriced = t.in == inBatch && len(unpriced) == len(j.Parts) && !t.has("budget"); j.Unpriced {
		unpriced = nil
	}
	if len(unpriced) > 0 && !t.has("budget") {
		t.wrongAt(part.at(unpriced[0]).key("max_price"), "missing; write max_price = 2.5 (credits per node-hour) for every part or for the job, or budget = 100.0 (credits) for the job")
		return
	}
	r.Money(j.Parts, t.has("budget"), unpriced)
	if r.Budget > grid.MaxBudget {
		t.wrongAt(part, "cost more than %v credits at their highest prices; give a budget", grid.MaxBudget)
	}
	j.Nodes, j.Length, j.MinPerformance, j.MaxPrice, j.Budget = r.Nodes, r.Length, r.MinPerformance, r.MaxPrice, r.Budget
	if j.Run = 0; len(j.Parts) == 1 {
		p := &j.Parts[0]
		j.Require, j.Sites, j.Avoid, j.OneSite, j.Run, j.Work = p.Require, p.Sites, p.Avoid, p.OneSite, p.Run, p.Work
	}
}
