package wire

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// pilots has the codecs of the messages about pilots.
var pilots = []codec{
	form(func(w *writer, m agents.PilotsRequest) *Envelope_PilotsRequest {
		out := &PilotsRequest{Ref: m.Ref, Broker: text(m.Broker), Job: text(m.Job), User: text(m.User), Group: text(m.Group), Nodes: int64(m.Nodes), Limit: int64(m.Limit), Price: int64(m.Price), Foresee: m.Foresee}
		for _, o := range m.Orders {
			out.Orders = append(out.Orders, &PilotOrder{Pilot: legID(o.Pilot), Granted: int64(o.Granted), Leave: o.Leave})
		}
		w.within(len(m.Orders), agents.MaxPilots, "orders")
		return &Envelope_PilotsRequest{out}
	}, func(r *reader, b *Envelope_PilotsRequest) agents.PilotsRequest {
		p := b.PilotsRequest
		m := agents.PilotsRequest{Ref: p.GetRef(), Broker: r.name("broker", p.GetBroker(), maxName), Job: r.name("job", p.GetJob(), maxName), User: r.name("user", p.GetUser(), maxName),
			Group: r.name("group", p.GetGroup(), maxName), Nodes: r.whole("nodes", p.GetNodes(), 0, maxNodes), Limit: r.span("limit", p.GetLimit()), Price: grid.Price(r.credits("price", p.GetPrice())), Foresee: p.GetForesee()}
		if r.count("orders", len(p.GetOrders()), agents.MaxPilots) {
			for i, o := range p.GetOrders() {
				r.enter("orders", i)
				m.Orders = append(m.Orders, agents.PilotOrder{Pilot: r.legID("pilot", o.GetPilot()), Granted: r.span("granted", o.GetGranted()), Leave: o.GetLeave()})
				r.leave()
			}
		}
		return m
	}),
	form(func(w *writer, m agents.Pilots) *Envelope_Pilots {
		out := &Pilots{Ref: m.Ref, Refusal: reason(m.Refusal), At: int64(m.At), Fits: m.Fits, Room: int64(m.Room),
			Group: text(m.Group), Cluster: int64(m.Cluster), Price: int64(m.Price)}
		if m.Likely.Known() {
			out.Likely = bestEffort(&m.Likely)
		}
		for _, p := range m.Pilots {
			out.Pilots = append(out.Pilots, &PilotIs{Pilot: legID(p.Pilot), State: text(string(p.State)), Begin: int64(p.Begin), End: int64(p.End), Reason: reason(p.Reason),
				Idled: int64(p.Idled), Price: int64(p.Price), Cost: int64(p.Cost)})
		}
		w.within(len(m.Pilots), agents.MaxPilots, "pilots")
		return &Envelope_Pilots{out}
	}, func(r *reader, b *Envelope_Pilots) agents.Pilots {
		p := b.Pilots
		m := agents.Pilots{Ref: p.GetRef(), Refusal: r.reason("refusal", p.GetRefusal()), At: r.time("at", p.GetAt()), Fits: p.GetFits(), Room: r.whole("room", p.GetRoom(), 0, maxNodes),
			Group: r.name("group", p.GetGroup(), maxName), Cluster: r.whole("cluster", p.GetCluster(), 0, maxNodes), Price: grid.Price(r.credits("price", p.GetPrice()))}
		if b := p.GetLikely(); b != nil {
			m.Likely = r.oneBestEffort(b)
		}
		if r.count("pilots", len(p.GetPilots()), agents.MaxPilots) {
			for i, x := range p.GetPilots() {
				r.enter("pilots", i)
				m.Pilots = append(m.Pilots, agents.PilotIs{Pilot: r.legID("pilot", x.GetPilot()), State: grid.PilotState(r.name("state", x.GetState(), maxCode)),
					Begin: r.time("begin", x.GetBegin()), End: r.time("end", x.GetEnd()), Reason: r.reason("reason", x.GetReason()),
					Idled: r.span("idled", x.GetIdled()), Price: grid.Price(r.credits("price", x.GetPrice())), Cost: r.credits("cost", x.GetCost())})
				r.leave()
			}
		}
		return m
	}),
}
