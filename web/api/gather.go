package api

import "github.com/bourse-grid/bourse/grid"

// GatherRequest is how the parts of a job are gathered by pilots.
type GatherRequest struct {
	Waste    float64 `json:"waste" minimum:"0.01" maximum:"1" doc:"how much its pilots may idle in all, as a share of its work"`
	Deadline Seconds `json:"deadline" doc:"after this time from its ready time it is abandoned, unless all run, in seconds"`
	Queue    bool    `json:"queue,omitempty" doc:"the job has no parts, and goes into the queue in which it will probably begin first"`
	Odds     float64 `json:"odds,omitempty" minimum:"0.5" maximum:"0.99" doc:"how sure a promise of its start must be; nothing is promised yet"`
}

// GatherRequestOf is the request for such a gather; nil: there is none.
func GatherRequestOf(g *grid.Gather) *GatherRequest {
	if g == nil {
		return nil
	}
	return &GatherRequest{Waste: float64(g.Waste) / grid.WasteUnit, Deadline: Seconds{Duration: g.Deadline}, Odds: float64(g.Odds) / 1000, Queue: g.Queue}
}

func (r *GatherRequest) gather() *grid.Gather {
	if r == nil {
		return nil
	}
	return &grid.Gather{Waste: int64(r.Waste*grid.WasteUnit + .5), Deadline: r.Deadline.Duration, Odds: int(r.Odds*1000 + .5), Queue: r.Queue}
}
