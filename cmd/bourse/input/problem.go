// Package input reads what several commands take: a problem to search and plan, a saved look
// at a cluster, and journals. An error names the place in the file, such as jobs[2].nodes, the
// problem and the remedy.
package input

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/bourse-grid/bourse/grid"
)

// Problem is a PROBLEM.json: slots of nodes named one by one, and a batch.
type Problem struct {
	Nodes []grid.Group // in the order in which slots name them
	Slots []grid.Slot
	Names []string // of the jobs
	Jobs  []grid.Request

	named map[string]bool // the jobs so far
	sited map[string]bool // the nodes whose slots name a site
	most  grid.Credits    // what all jobs together could cost at most
	of    int             // slices of each node; 0: none has said so yet
}

// MaxNodes is how many nodes a job may ask for, and a look may have.
const MaxNodes = 1_000_000

// maxBatchCredits bounds what all jobs together may cost: selection adds in 62 bits.
const maxBatchCredits = 4_000_000_000_000 * grid.Credit

// ReadProblem reads the file of that name, "-" for standard input.
func ReadProblem(name string, in io.Reader) (*Problem, error) {
	var b []byte
	var err error
	if name == "-" {
		b, err = io.ReadAll(in)
	} else {
		b, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, err
	}
	p, err := parseProblem(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// parseProblem reads a PROBLEM.json. An error names the place, such as jobs[2].nodes, the
// problem and the remedy.
func parseProblem(b []byte) (*Problem, error) {
	var whole json.RawMessage
	if err := json.Unmarshal(b, &whole); err != nil {
		return nil, jsonError(b, err, `{"slots": [...], "jobs": [...]}`)
	}
	top, err := readObject("", whole, "slots", "jobs")
	if err != nil {
		return nil, err
	}
	p := &Problem{named: make(map[string]bool), sited: make(map[string]bool)}
	index := make(map[string]int32)
	err = top.each("slots", func(o *object) error { return p.addSlot(o, index) })
	if err == nil {
		err = p.divide()
	}
	if err == nil {
		err = top.each("jobs", p.addJob)
	}
	return p, err
}

func (p *Problem) addSlot(o *object, index map[string]int32) error {
	if err := o.keys("node", "start", "end", "performance", "price", "site", "free", "of"); err != nil {
		return err
	}
	s := grid.Slot{Count: 1}
	node := o.text("node")
	o.value("start", "seconds", func(v string) (err error) { s.Start, err = grid.ParseTime(v); return })
	o.value("end", "seconds", func(v string) (err error) { s.End, err = grid.ParseTime(v); return })
	o.value("performance", "a number above 0; lengths are stated for performance 1", func(v string) (err error) {
		s.Performance, err = grid.ParsePerformance(v)
		return
	})
	o.value("price", "credits per node-hour", func(v string) (err error) { s.Price, err = grid.ParsePrice(v); return })
	p.readSlices(o, &s)
	if o.err == nil && s.End <= s.Start {
		o.err = fmt.Errorf("%s.end: %v is not after start %v", o.path, s.End, s.Start)
	}
	if o.err != nil {
		return o.err
	}
	g, ok := index[node]
	if !ok {
		g = int32(len(p.Nodes))
		index[node] = g
		p.Nodes = append(p.Nodes, grid.Group{Name: node, Nodes: 1})
	}
	if err := p.place(o, g); err != nil {
		return err
	}
	s.Group = g
	p.Slots = append(p.Slots, s)
	return nil
}

// place notes the site of a slot's node. A node is at one site, and a slot that names none is
// wherever the others say.
func (p *Problem) place(o *object, node int32) error {
	if !o.has("site") {
		return nil
	}
	site, n := o.text("site"), &p.Nodes[node]
	switch {
	case o.err != nil:
	case p.sited[n.Name] && n.Site != site:
		o.err = fmt.Errorf("%s.site: %q, but an earlier slot of node %q is at %q; a node is at one site", o.path, site, n.Name, n.Site)
	default:
		p.sited[n.Name], n.Site = true, site
	}
	return o.err
}

func (p *Problem) addJob(o *object) error {
	if err := o.keys(append(wantKeys, "slices", "budget", "ready", "deadline", "parts", "together", "apart")...); err != nil {
		return err
	}
	r := grid.Request{Deadline: grid.Never, Ready: -grid.MaxTime}
	job := want{JobPart: grid.JobPart{MinPerformance: grid.Unit}}
	composed := o.has("parts")
	job.read(o, !composed, !composed)
	name := job.Name
	if o.has("ready") {
		o.value("ready", "", func(v string) (err error) { r.Ready, err = grid.ParseTime(v); return })
	}
	if o.has("deadline") {
		o.value("deadline", "", func(v string) (err error) { r.Deadline, err = grid.ParseTime(v); return })
	}
	if job.Portion.Slices = o.slices("slices"); job.Portion.Slices > 0 && composed && o.err == nil {
		o.err = fmt.Errorf("%s.slices: stands beside parts, which take whole nodes; leave it out", o.path)
	}
	r.Together, r.Apart = o.flag("together"), o.flag("apart")
	parts, unpriced := []grid.JobPart{job.JobPart}, []int(nil)
	switch {
	case o.err != nil:
	case composed:
		parts, unpriced = o.parts(&job)
	case !job.priced:
		unpriced = []int{0}
	}
	if len(unpriced) > 0 && !o.has("budget") && o.err == nil {
		if composed {
			o.value("budget", "credits for the whole job (or a maxPrice for every part)", nil)
		} else {
			o.value("maxPrice", "credits per node-hour (or a budget)", nil)
		}
	}
	if o.has("budget") {
		o.value("budget", "", func(v string) (err error) { r.Budget, err = grid.ParseCredits(v); return })
	}
	if o.err != nil {
		return o.err
	}
	r.Sites, r.Avoid = job.Sites, job.Avoid
	if composed {
		r.Parts = parts
	}
	if err := o.check(&r); err != nil {
		return err
	}
	if r.Money(parts, o.has("budget"), unpriced); !composed {
		r.Parts = nil
	}
	if p.named[name] {
		return fmt.Errorf("%s.name: an earlier job is also named %q; names in a batch must differ", o.path, name)
	}
	p.most = p.most.Plus(max(r.Budget, r.DefaultBudget()))
	if p.most > maxBatchCredits {
		return fmt.Errorf("%s: the jobs up to this one may cost more than %v credits in total; lower maxPrice, length, nodes or budget", o.path, maxBatchCredits)
	}
	p.named[name] = true
	p.Names = append(p.Names, name)
	p.Jobs = append(p.Jobs, r)
	return nil
}
