package managed

import (
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// reading is a request for the output of work that the driver has not yet answered.
type reading struct {
	ref  uint64 // to the driver
	from agents.ID
	m    agents.ClusterOutputRequest
	at   grid.Time
}

// mostReadings bounds the requests that wait. A driver that does not answer is waited for
// as long as for a look.
const mostReadings = 256

// read asks the driver for the output or the files of a leg's work. The leg may have lost its lock: its
// name is enough.
func (b *Backend) read(now grid.Time, from agents.ID, m agents.ClusterOutputRequest) {
	b.readings = slices.DeleteFunc(b.readings, func(r reading) bool { return r.at.Add(b.cfg.Limits.LookTimeout) <= now })
	if len(b.readings) >= mostReadings {
		b.host.Send(from, agents.ClusterOutput{Leg: m.Leg, Ref: m.Ref, Failure: grid.Because(grid.QueueFull, "the driver of %s has %d other requests for output to answer", b.cfg.Site, mostReadings)})
		return
	}
	b.ref++
	b.readings = append(b.readings, reading{b.ref, from, m, now})
	b.host.Send(b.cfg.Driver, agents.OutputRequest{Ref: b.ref, Name: b.name(m.Leg), File: m.File, Source: m.Source, From: m.From})
}

// printed hands the driver's answer on.
func (b *Backend) printed(m agents.Output) {
	i := slices.IndexFunc(b.readings, func(r reading) bool { return r.ref == m.Ref && b.name(r.m.Leg) == m.Name })
	if i < 0 {
		return // the answer came too late
	}
	r := b.readings[i]
	b.readings = slices.Delete(b.readings, i, i+1)
	b.host.Send(r.from, agents.ClusterOutput{Leg: r.m.Leg, Ref: r.m.Ref, What: m.What, From: m.From, Size: m.Size, Data: m.Data, Files: m.Files, Failure: m.Failure})
}
