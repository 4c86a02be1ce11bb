package api

import (
	"github.com/bourse-grid/bourse/grid"
)

// Again is the request that would submit a job once more, to be ready at once and without a
// deadline: those that it had are over. It comes after no other job. nil: it has parts.
func Again(name string, j *grid.Job) *JobRequest {
	if len(j.Parts) > 0 || j.Nodes < 1 || j.Submit == 0 {
		return nil
	}
	r := &JobRequest{Name: name, User: j.User, Nodes: j.Nodes, Length: Seconds{j.Length}, MinPerformance: &Performance{j.MinPerformance},
		MaxPrice: &Price{j.MaxPrice}, Budget: &Credits{j.Budget}, Priority: j.Priority, OneSite: j.OneSite, Sizes: SizesOf(j.Sizes),
		Minimize: j.Minimize.String(), Urgency: j.Urgency.String(), Sites: j.Sites, Avoid: j.Avoid, WorkRequest: WorkRequestOf(j.Work), PortionRequest: PortionOf(j.Portion)}
	if j.Run > 0 {
		r.Run = &Seconds{j.Run}
	}
	if !j.Require.None() {
		m := Machine(j.Require)
		r.Require = &m
	}
	if j.Flexible > 0 {
		r.Flexible = &Seconds{j.Flexible}
	}
	if j.Fix > 0 {
		r.Fix = &Performance{grid.Performance(j.Fix)}
	}
	if j.Phi > 0 {
		r.Alternatives = &Performance{grid.Performance(j.Phi)}
	}
	return r
}
