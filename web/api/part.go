package api

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/bourse-grid/bourse/grid"
)

// PartRequest is one part of a job of unlike parts, with the keys of a batch file. What it
// leaves out it has from its job; env alone is added to that of its job.
type PartRequest struct {
	Name           string       `json:"name" minLength:"1" maxLength:"32" doc:"its name, unique in the job: a letter of a to z, then letters, digits and -" example:"gpu"`
	Nodes          int          `json:"nodes" minimum:"1" maximum:"1000000" doc:"number of nodes at once" example:"16"`
	Length         *Seconds     `json:"length,omitempty" doc:"run time at performance 1, in seconds"`
	Offset         *Seconds     `json:"offset,omitempty" doc:"how long after the job's start it starts, in seconds, at most 30 days; one part at least must have 0, the default"`
	Run            *Seconds     `json:"run,omitempty" doc:"real run time at performance 1, for simulated clusters; default: its length"`
	MinPerformance *Performance `json:"minPerformance,omitempty" doc:"least performance of each of its nodes"`
	MaxPrice       *Price       `json:"maxPrice,omitempty" doc:"per node-hour; for every part, or a budget for the job, is required"`
	OneSite        *bool        `json:"oneSite,omitempty" doc:"all its nodes on one site"`
	Require        *Machine     `json:"require,omitempty" doc:"what each of its nodes must have"`
	PortionRequest
	Sites   []string          `json:"sites,omitempty" maxItems:"64" doc:"the only sites that may carry it"`
	Avoid   []string          `json:"avoid,omitempty" maxItems:"64" doc:"sites that must not carry it"`
	Command []string          `json:"command,omitempty" maxItems:"4096" shown:"never" doc:"what to run on each of its sites"`
	Script  string            `json:"script,omitempty" maxLength:"65536" shown:"never" doc:"instead of a command: the text of a script that begins with #!"`
	Env     map[string]string `json:"env,omitempty" maxProperties:"256" shown:"never" doc:"environment variables, added to its job's"`
	WorkDir string            `json:"workdir,omitempty" maxLength:"1024" doc:"folder on the cluster in which it starts"`
	Output  string            `json:"output,omitempty" maxLength:"1024" doc:"file for its output"`
	Error   string            `json:"error,omitempty" maxLength:"1024" doc:"file for its standard error"`
}

// PartRequestOf is the API's form of a complete part.
func PartRequestOf(p *grid.JobPart) PartRequest {
	r := PartRequest{Name: p.Name, Nodes: p.Nodes, Length: &Seconds{p.Length}, MinPerformance: &Performance{p.MinPerformance},
		MaxPrice: &Price{p.MaxPrice}, OneSite: &p.OneSite, PortionRequest: PortionOf(p.Portion), Sites: p.Sites, Avoid: p.Avoid}
	if p.Offset > 0 {
		r.Offset = &Seconds{p.Offset}
	}
	if p.Run > 0 {
		r.Run = &Seconds{p.Run}
	}
	if !p.Require.None() {
		m := Machine(p.Require)
		r.Require = &m
	}
	if p.Work != nil {
		w := WorkRequestOf(p.Work)
		r.Command, r.Script, r.Env, r.WorkDir, r.Output, r.Error = w.Command, w.Script, w.Env, w.WorkDir, w.Output, w.Error
	}
	return r
}

// rival names a key that makes no sense beside parts; "" if there is none.
func (r *JobRequest) rival() string {
	for _, x := range []struct {
		key   string
		given bool
	}{
		{"nodes", r.Nodes != 0}, {"sizes", len(r.Sizes) > 0}, {"flexible", r.Flexible != nil}, {"fix", r.Fix != nil}, {"alternatives", r.Alternatives != nil},
	} {
		if x.given {
			return x.key
		}
	}
	return ""
}

// compose gives a job its parts, its sites and the rules on them, or names the wrong key.
// What the job itself says of a part has been read.
func (r *JobRequest) compose(j *grid.Job) (key string, err error) {
	j.Sites, j.Avoid, j.Together, j.Apart = r.Sites, r.Avoid, r.Together, r.Apart
	if r.MaxPrice != nil {
		j.MaxPrice = r.MaxPrice.Price
	}
	var unpriced []int
	for i := range r.Parts {
		p, key, err := r.Parts[i].part(r, j)
		if err != nil {
			return fmt.Sprintf("parts[%d].%s", i, key), err
		}
		if j.Parts = append(j.Parts, p); r.MaxPrice == nil && r.Parts[i].MaxPrice == nil {
			unpriced = append(unpriced, i)
		}
	}
	if wrong := grid.CheckParts(&j.Request, 1_000_000); wrong != nil {
		key := wrong.Key
		if k := partKeys[key]; k != "" {
			key = k
		}
		if wrong.Part >= 0 {
			key = fmt.Sprintf("parts[%d].%s", wrong.Part, key)
		}
		return key, wrong.Err
	}
	if len(r.Parts) == 0 {
		return "", nil
	}
	for i := 0; i < len(j.Parts) && j.Gather != nil; i++ {
		if key := j.Parts[i].AsksMore(); key != "" {
			return fmt.Sprintf("parts[%d].%s", i, cmp.Or(partKeys[key], key)), errors.New(grid.NodesAlone)
		}
	}
	if len(unpriced) > 0 && r.Budget == nil {
		return fmt.Sprintf("parts[%d].maxPrice", unpriced[0]), fmt.Errorf("missing; give maxPrice (credits per node-hour) for every part or for the job, or budget (credits) for the job")
	}
	if r.Budget != nil {
		j.Budget = r.Budget.Credits
	}
	if j.Money(j.Parts, r.Budget != nil, unpriced); j.Budget > grid.MaxBudget {
		return "budget", fmt.Errorf("the parts cost more than %v credits at their highest prices; give a budget", grid.MaxBudget)
	}
	if j.Run, j.Work = 0, nil; !j.Composed() {
		j.Run, j.Work = j.Parts[0].Run, j.Parts[0].Work
	}
	return "", nil
}

// partKeys are the keys of a batch file as the API has them.
var partKeys = map[string]string{"min_performance": "minPerformance", "max_price": "maxPrice", "part": "parts",
	"gpus_per_node": "gpusPerNode", "cores_per_node": "coresPerNode", "memory_per_node": "memoryPerNode"}

// part is a complete part of a job, or the wrong key.
func (r *PartRequest) part(job *JobRequest, j *grid.Job) (p grid.JobPart, key string, err error) {
	p = grid.JobPart{Name: r.Name, Nodes: r.Nodes, Length: j.Length, Run: j.Run, MinPerformance: j.MinPerformance, MaxPrice: j.MaxPrice,
		Require: j.Require, OneSite: j.OneSite, Sites: j.Sites, Avoid: j.Avoid}
	if r.Length != nil {
		p.Length = r.Length.Duration
	}
	if r.Offset != nil {
		p.Offset = r.Offset.Duration
	}
	if r.Run != nil {
		p.Run = r.Run.Duration
	}
	if r.MinPerformance != nil {
		p.MinPerformance = r.MinPerformance.Performance
	}
	if r.MaxPrice != nil {
		p.MaxPrice = r.MaxPrice.Price
	}
	if r.OneSite != nil {
		p.OneSite = *r.OneSite
	}
	if r.Require != nil {
		p.Require = grid.Requirement(*r.Require)
	}
	if p.Portion, key, err = r.PortionRequest.over(&job.PortionRequest).portion(); err != nil {
		return p, key, err
	}
	if r.Sites != nil {
		p.Sites = r.Sites
	}
	if r.Avoid != nil {
		p.Avoid = r.Avoid
	}
	work := job.WorkRequest
	r.runs(&work)
	if len(work.Command) == 0 && work.Script == "" {
		return p, "", nil // it just holds its nodes
	}
	var own grid.Job
	if wrong := work.put(&own); wrong != nil {
		return p, wrong.Key, wrong.Err
	}
	p.Work = own.Work
	return p, "", nil
}

// runs puts what a part runs in the place of what its job does.
func (r *PartRequest) runs(w *WorkRequest) {
	if len(r.Command) > 0 || r.Script != "" {
		w.Command, w.Script = r.Command, r.Script
	}
	if len(r.Env) > 0 {
		w.Env = maps.Clone(w.Env)
		if w.Env == nil {
			w.Env = map[string]string{}
		}
		maps.Copy(w.Env, r.Env)
	}
	if r.WorkDir != "" {
		w.WorkDir = r.WorkDir
	}
	if r.Output != "" {
		w.Output = r.Output
	}
	if r.Error != "" {
		w.Error = r.Error
	}
}
