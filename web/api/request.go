package api

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// JobRequest is one job of a Batch, with the keys of a batch file.
type JobRequest struct {
	Name           string            `json:"name" minLength:"1" maxLength:"100" doc:"name, unique in the batch" example:"wave"`
	User           string            `json:"user,omitempty" maxLength:"100" doc:"owner of the job; default: the caller. Only operators may name others"`
	Nodes          int               `json:"nodes,omitempty" minimum:"1" maximum:"1000000" doc:"number of nodes at once; required unless there are parts" example:"16"`
	Length         Seconds           `json:"length,omitzero" doc:"run time at performance 1, in seconds; required unless every part has one" example:"7200"`
	Run            *Seconds          `json:"run,omitempty" doc:"real run time at performance 1, for simulated clusters; default: its length"`
	MinPerformance *Performance      `json:"minPerformance,omitempty" doc:"least performance of every node; default: that of the slowest suited nodes that the broker knows, at most 1"`
	MaxPrice       *Price            `json:"maxPrice,omitempty" doc:"per node-hour; without this and a budget, the broker's price cap"`
	Capped         bool              `json:"capped,omitempty" doc:"maxPrice is the broker's price cap, as a dry run has shown it. A batch that is repeated need not have the same"`
	Budget         *Credits          `json:"budget,omitempty" doc:"for the whole job; default: implied by the price"`
	Ready          Written[Moment]   `json:"ready,omitzero" maxLength:"40" doc:"earliest start: a span after the submission such as 30m, or RFC 3339; default 0s"`
	Deadline       Written[Moment]   `json:"deadline,omitzero" maxLength:"40" doc:"latest end: a span after the submission such as 1d, or RFC 3339; default: none"`
	Priority       int               `json:"priority,omitempty" minimum:"-1000000" maximum:"1000000" doc:"higher first, among the jobs of this user; users take turns"`
	OneSite        bool              `json:"oneSite,omitempty" doc:"all nodes on one site"`
	Require        *Machine          `json:"require,omitempty" doc:"what every node must have"`
	Sizes          []Size            `json:"sizes,omitempty" maxItems:"128" doc:"for a moldable job: the ways to run it, in ascending order of nodes; the length must not grow with the nodes. nodes and length must be one of them. The broker chooses a size by what is free; all else equal, the one with the least nodes x length"`
	After          []string          `json:"after,omitempty" maxItems:"100" doc:"jobs of the same user that must succeed before it starts: names in this batch, or identities of jobs submitted before. If one cannot any more, the job is abandoned"`
	AfterAny       []string          `json:"afterAny,omitempty" maxItems:"100" doc:"as after: jobs that must have ended, however"`
	AfterFailed    []string          `json:"afterFailed,omitempty" maxItems:"100" doc:"as after: jobs whose work must have failed"`
	AfterEach      []string          `json:"afterEach,omitempty" maxItems:"100" doc:"of an array: arrays of the same indices; each of its elements runs if theirs of the same index have succeeded"`
	Array          Written[Elements] `json:"array,omitzero" maxLength:"10000" doc:"makes it an array of jobs that differ in BOURSE_ARRAY_INDEX alone: indices such as 0-99 or 1,3,5-9, at most 100000, and after % how many may be in play at once. The budget is that of each element" example:"0-99%10"`
	RecurrenceRequest
	Minimize Written[grid.Goal]    `json:"minimize,omitzero" enum:"value,cost,finish,time" doc:"its owner's goal, if the broker minimizes value; default: the broker's"`
	Urgency  Written[grid.Urgency] `json:"urgency,omitzero" maxLength:"40" doc:"what it is worth to its owner to end an hour earlier: credits such as 10.0, or a share of its budget such as 5%; default: the broker's" example:"10.0"`
	Sites    []string              `json:"sites,omitempty" maxItems:"64" doc:"the only sites that may carry it"`
	Avoid    []string              `json:"avoid,omitempty" maxItems:"64" doc:"sites that must not carry it"`
	Parts    []PartRequest         `json:"parts,omitempty" maxItems:"8" doc:"of a job of unlike parts, which all start together or at their offsets, or not at all; a part has from its job what it leaves out. Instead of nodes"`
	Gather   *GatherRequest        `json:"gather,omitempty" doc:"gathers its parts by pilots, at sites whose nodes are had so; each part names one site"`
	Together bool                  `json:"together,omitempty" doc:"one site carries all parts"`
	Apart    bool                  `json:"apart,omitempty" doc:"no site carries two parts"`
	Freedom
	WorkRequest
	PortionRequest
	Gap *Seconds `json:"gap,omitempty" doc:"time between the end of the last of them and the start, in seconds; default 0"`
}

// PortionRequest is what a job takes of each of its nodes; nothing: all of it.
type PortionRequest struct {
	GPUsPerNode   int   `json:"gpusPerNode,omitempty" minimum:"1" maximum:"32767" doc:"GPUs that it takes of each node, beside others where the site divides nodes; default: all of the node. The price cap is then per hour of such a part"`
	CoresPerNode  int   `json:"coresPerNode,omitempty" minimum:"1" maximum:"32767" doc:"cores that it takes of each node"`
	MemoryPerNode int64 `json:"memoryPerNode,omitempty" minimum:"1" doc:"bytes of memory that it takes of each node"`
}

// PortionOf is what asks for a portion.
func PortionOf(p grid.Portion) PortionRequest {
	return PortionRequest{GPUsPerNode: p.GPUs, CoresPerNode: p.Cores, MemoryPerNode: p.Memory}
}

// over is what a part asks for: what it says itself, and else what its job does.
func (p PortionRequest) over(job *PortionRequest) *PortionRequest {
	return &PortionRequest{cmp.Or(p.GPUsPerNode, job.GPUsPerNode), cmp.Or(p.CoresPerNode, job.CoresPerNode), cmp.Or(p.MemoryPerNode, job.MemoryPerNode)}
}

// portion is the portion asked for, or the wrong key.
func (p *PortionRequest) portion() (out grid.Portion, key string, err error) {
	for _, x := range []struct {
		key   string
		value int64
		most  int64
	}{{"gpusPerNode", int64(p.GPUsPerNode), grid.MaxPortion}, {"coresPerNode", int64(p.CoresPerNode), grid.MaxPortion}, {"memoryPerNode", p.MemoryPerNode, math.MaxInt64}} {
		if x.value < 0 || x.value > x.most {
			return out, x.key, fmt.Errorf("%d: must be 1 to %d", x.value, x.most)
		}
	}
	return grid.Portion{GPUs: p.GPUsPerNode, Cores: p.CoresPerNode, Memory: p.MemoryPerNode}, "", nil
}

// Size is one way to run a moldable job.
type Size struct {
	Nodes  int     `json:"nodes" minimum:"1" maximum:"1000000"`
	Length Seconds `json:"length" doc:"run time at performance 1 on that many nodes, in seconds"`
}

// Machine is what a node has, or must have.
type Machine struct {
	Memory   int64    `json:"memory,omitempty" minimum:"0" doc:"bytes"`
	Disk     int64    `json:"disk,omitempty" minimum:"0" doc:"bytes"`
	GPUs     int      `json:"gpus,omitempty" minimum:"0"`
	OS       string   `json:"os,omitempty" maxLength:"100"`
	Arch     string   `json:"arch,omitempty" maxLength:"100"`
	Features []string `json:"features,omitempty" maxItems:"100"`
}

// single turns a request into a job submitted now that does not recur yet, or names the wrong key.
func (r *JobRequest) single(now grid.Time) (j grid.Job, key string, err error) {
	j = grid.Job{User: r.User, Submit: now, Priority: r.Priority}
	j.Nodes, j.Length, j.MinPerformance, j.OneSite = r.Nodes, r.Length.Duration, grid.Unit, r.OneSite
	if err := grid.CheckName(r.Name); err != nil {
		return j, "name", err
	}
	if r.User != "" { // an operator may name another one: "ana " would be a user of her own
		if err := grid.CheckName(r.User); err != nil {
			return j, "user", err
		}
	}
	elements, err := r.Array.Read()
	if j.Array = elements.Array; err != nil {
		return j, "array", err
	}
	if r.MinPerformance != nil {
		j.MinPerformance = r.MinPerformance.Performance
	}
	// Performance 1 serves the checks below; in the end 0 leaves the choice to the broker.
	defer func() {
		if r.MinPerformance == nil && len(r.Parts) == 0 && err == nil {
			j.MinPerformance = 0
		}
	}()
	composed := len(r.Parts) > 0
	if key := r.rival(); composed && key != "" {
		return j, key, fmt.Errorf("stands beside parts; leave it out")
	}
	if err := r.mold(&j.Request); err != nil {
		return j, "sizes", err
	}
	if j.Nodes < 1 && !composed {
		return j, "nodes", fmt.Errorf("missing; must be 1 to 1,000,000, or give parts")
	}
	longest := max(j.Length, r.longest())
	if !composed && j.Shortest() <= 0 || j.MinPerformance <= 0 || j.MinPerformance.Runtime(longest) > grid.MaxDuration {
		return j, "length", fmt.Errorf("%v seconds at performance %v: must be above 0, and not too long for a schedule", longest, j.MinPerformance)
	}
	if r.Run != nil {
		if j.Run = r.Run.Duration; j.Run <= 0 {
			return j, "run", fmt.Errorf("%v seconds: must be above 0", j.Run)
		}
	}
	if r.Require != nil {
		j.Require = grid.Requirement(*r.Require)
	}
	j.Gather = r.Gather.gather()
	if key, err := r.compose(&j); err != nil {
		return j, key, err
	}
	if key, err := r.times(&j, now); err != nil {
		return j, key, err
	}
	if key, err := r.Freedom.put(&j.Request); err != nil {
		return j, key, err
	}
	if j.Minimize, err = r.Minimize.Read(); err != nil {
		return j, "minimize", err
	}
	if j.Urgency, err = r.Urgency.Read(); err != nil {
		return j, "urgency", err
	}
	if composed {
		return j, "", nil
	}
	if wrong := r.WorkRequest.put(&j); wrong != nil {
		return j, wrong.Key, wrong.Err
	}
	return j, "maxPrice", r.money(&j)
}

// times sets what the job takes of its nodes, when it may start and must have ended, or names the
// wrong key.
func (r *JobRequest) times(j *grid.Job, now grid.Time) (key string, err error) {
	if len(r.Parts) == 0 {
		if j.Portion, key, err = r.portion(); err != nil {
			return key, err
		}
	}
	if j.Ready, err = momentAt(r.Ready, now, now); err != nil {
		return "ready", err
	}
	j.Ready = max(j.Ready, now)
	if r.Gap != nil {
		j.Gap = r.Gap.Duration
	}
	if j.Gap < 0 || j.Gap > 0 && len(r.dependencies()) == 0 {
		return "gap", fmt.Errorf("%v seconds: must be 0 or more, and needs jobs in after, afterAny, afterFailed or afterEach", j.Gap)
	}
	if j.Deadline, err = momentAt(r.Deadline, now, grid.Never); err != nil {
		return "deadline", err
	}
	if j.Deadline <= j.Ready {
		return "deadline", fmt.Errorf("%s is not after %s, when the job is ready", r.Deadline, InstantOf(j.Ready))
	}
	// Faster nodes could make up for it, but only minPerformance asks for them.
	if p := max(j.MinPerformance, grid.Unit); p.Runtime(j.Shortest()) > j.Deadline.Sub(j.Ready) {
		return "deadline", fmt.Errorf("%s leaves %v seconds after ready, but the job takes %v at performance %v; give it more time, or a higher minPerformance",
			InstantOf(j.Deadline), j.Deadline.Sub(j.Ready), p.Runtime(j.Shortest()), p)
	}
	return "", nil
}

// dependencies are the jobs that it comes after, with their conditions.
func (r *JobRequest) dependencies() []grid.Dependency {
	return slices.Concat(grid.Dependencies(grid.IfDone, r.After...), grid.Dependencies(grid.IfAny, r.AfterAny...), grid.Dependencies(grid.IfFailed, r.AfterFailed...), grid.Dependencies(grid.IfEach, r.AfterEach...))
}

// mold gives a request the sizes of a moldable job.
func (r *JobRequest) mold(to *grid.Request) error {
	if len(r.Sizes) == 0 {
		return nil
	}
	sizes := make([]grid.Size, len(r.Sizes))
	for i, z := range r.Sizes {
		sizes[i] = grid.Size{Nodes: z.Nodes, Length: z.Length.Duration}
	}
	if err := grid.CheckSizes(sizes, 1_000_000); err != nil {
		return err
	}
	if !slices.Contains(sizes, grid.Size{Nodes: r.Nodes, Length: r.Length.Duration}) {
		return fmt.Errorf("nodes %d and length %v are not one of the sizes", r.Nodes, r.Length)
	}
	to.Mold(sizes)
	return nil
}

// longest is the greatest length that the job may take.
func (r *JobRequest) longest() grid.Duration {
	longest := grid.Duration(0)
	for _, z := range r.Sizes {
		longest = max(longest, z.Length.Duration)
	}
	return longest
}

// SizesOf shows the sizes of a moldable job.
func SizesOf(list []grid.Size) []Size {
	var out []Size
	for _, z := range list {
		out = append(out, Size{z.Nodes, Seconds{z.Length}})
	}
	return out
}

// money fills in the price or the budget, whichever is not given.
func (r *JobRequest) money(j *grid.Job) error {
	if r.MaxPrice == nil && r.Budget == nil {
		return fmt.Errorf("missing; give maxPrice (credits per node-hour) or budget (credits)")
	}
	if r.MaxPrice != nil {
		j.MaxPrice = r.MaxPrice.Price
	}
	if r.Budget != nil {
		j.Budget = r.Budget.Credits
	} else if j.Budget = j.DefaultBudget(); j.Budget > grid.MaxBudget {
		return fmt.Errorf("%v for %s and %v seconds is more than %v credits; give a budget", j.MaxPrice, grid.Count(j.Nodes, "node"), j.Length, grid.MaxBudget)
	}
	if r.MaxPrice == nil {
		j.MaxPrice = min(j.PriceWithin(), grid.MaxPrice)
	}
	return nil
}
