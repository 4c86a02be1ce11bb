package use

import (
	"encoding/json"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// request makes the API's form of a job of a batch file.
func request(j *configs.Job) api.JobRequest {
	r := api.JobRequest{
		Name: j.Name, User: j.User, Nodes: j.Nodes, Length: api.Seconds{Duration: j.Length},
		MinPerformance: &api.Performance{Performance: j.MinPerformance}, MaxPrice: &api.Price{Price: j.MaxPrice}, Budget: &api.Credits{Credits: j.Budget},
		Ready: moment(j.Ready), Deadline: moment(j.Deadline), Priority: j.Priority, OneSite: j.OneSite,
		After: grid.NamesOn(j.After, grid.IfDone), AfterAny: grid.NamesOn(j.After, grid.IfAny), AfterFailed: grid.NamesOn(j.After, grid.IfFailed), AfterEach: grid.NamesOn(j.After, grid.IfEach), Array: api.Write(api.Elements{Array: j.Array}), Minimize: api.Write(j.Minimize), Urgency: api.Write(j.Urgency), WorkRequest: api.WorkRequestOf(j.Work),
	}
	if n := j.Recurrence; n.Some() {
		r.RecurrenceRequest = api.RecurrenceRequest{Every: &api.Seconds{Duration: n.Every}, Count: n.Count, Until: moment(j.Until), AllOrNothing: n.All}
	}
	if j.Unpriced {
		r.MaxPrice, r.Budget = nil, nil
	}
	if j.AnyPerformance {
		r.MinPerformance = nil
	}
	r.Sites, r.Avoid, r.Together, r.Apart, r.Gather = j.Sites, j.Avoid, j.Together, j.Apart, api.GatherRequestOf(j.Gather)
	if len(j.Parts) > 0 { // complete; what stands for the job as a whole follows from them
		r.Nodes, r.Length, r.MinPerformance, r.MaxPrice, r.OneSite = 0, api.Seconds{}, nil, nil, false
		r.WorkRequest, r.Sites, r.Avoid = api.WorkRequest{}, nil, nil
		for i := range j.Parts {
			r.Parts = append(r.Parts, api.PartRequestOf(&j.Parts[i]))
			if j.Unpriced {
				r.Parts[i].MaxPrice = nil
			}
			r.Rendezvous = r.Rendezvous || j.Parts[i].Work != nil && j.Parts[i].Work.Rendezvous
		}
	}
	for _, z := range j.Sizes {
		r.Sizes = append(r.Sizes, api.Size{Nodes: z.Nodes, Length: api.Seconds{Duration: z.Length}})
	}
	if j.Gap > 0 {
		r.Gap = &api.Seconds{Duration: j.Gap}
	}
	if j.Flexible > 0 && j.Fix > 0 {
		r.Flexible = &api.Seconds{Duration: j.Flexible}
		r.Fix = &api.Performance{Performance: grid.Performance(j.Fix)}
	}
	if j.Alternatives > 0 {
		r.Alternatives = &api.Performance{Performance: grid.Performance(j.Alternatives)}
	}
	if j.Run > 0 && len(j.Parts) == 0 {
		r.Run = &api.Seconds{Duration: j.Run}
	}
	if text, err := json.Marshal(j.Require); err == nil && string(text) != "{}" && len(j.Parts) == 0 {
		m := api.Machine(j.Require)
		r.Require = &m
	}
	r.PortionRequest = api.PortionOf(j.Portion)
	return r
}

// moment is a moment as a request has it.
func moment(m configs.Moment) api.Written[api.Moment] { return api.Write(api.Moment(m)) }
