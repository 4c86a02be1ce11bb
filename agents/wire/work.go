package wire

import (
	"math"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// works has the codecs of the messages about what work has printed.
var works = []codec{
	form(func(_ *writer, m agents.LegOutputRequest) *Envelope_LegOutputRequest {
		return &Envelope_LegOutputRequest{&LegOutputRequest{Leg: legID(m.Leg), Ref: m.Ref, From: m.From, What: uint32(m.Source.What), Path: m.Source.Path}}
	}, func(r *reader, b *Envelope_LegOutputRequest) agents.LegOutputRequest {
		o := b.LegOutputRequest
		return agents.LegOutputRequest{Leg: r.legID("leg", o.GetLeg()), Ref: o.GetRef(), From: o.GetFrom(),
			Source: grid.Source{What: r.reading(o.GetWhat()), Path: r.name("path", o.GetPath(), grid.MaxPath)}}
	}),
	form(func(w *writer, m agents.LegOutput) *Envelope_LegOutput {
		w.within(len(m.Data), grid.MaxTail, "bytes of output")
		w.within(len(m.Files), grid.MaxFiles, "files")
		o := &LegOutput{Leg: legID(m.Leg), Ref: m.Ref, What: uint32(m.What), From: m.From, Size: m.Size, Data: m.Data, Failure: reason(m.Failure)}
		for _, f := range m.Files {
			o.Files = append(o.Files, &WorkFile{Path: text(f.Path), Size: f.Size, At: int64(f.At)})
		}
		return &Envelope_LegOutput{o}
	}, func(r *reader, b *Envelope_LegOutput) agents.LegOutput {
		o := b.LegOutput
		m := agents.LegOutput{Leg: r.legID("leg", o.GetLeg()), Ref: o.GetRef(), What: r.reading(o.GetWhat()), From: int64(r.whole("from", o.GetFrom(), 0, math.MaxInt64)),
			Size: int64(r.whole("size", o.GetSize(), 0, math.MaxInt64)), Failure: r.reason("failure", o.GetFailure())}
		if n := len(o.GetData()); n > 0 && r.count("data", n, grid.MaxTail) {
			m.Data = o.GetData()
		}
		if !r.count("files", len(o.GetFiles()), grid.MaxFiles) {
			return m
		}
		for i, f := range o.GetFiles() {
			r.enter("files", i)
			m.Files = append(m.Files, grid.WorkFile{Path: r.name("path", f.GetPath(), grid.MaxPath), Size: int64(r.whole("size", f.GetSize(), 0, math.MaxInt64)), At: r.time("at", f.GetAt())})
			r.leave()
		}
		return m
	}),
}

// reading reads what is read of a leg's work.
func (r *reader) reading(what uint32) grid.Reading {
	return grid.Reading(r.whole("what", int64(what), 0, grid.Readings-1))
}

// handover is left out if there is none.
func handover(h *grid.Handover) *Handover {
	if h == nil {
		return nil
	}
	out := &Handover{Work: work(&h.Work), Job: text(h.Job), User: text(h.User), Leg: uint32(h.Leg), Legs: uint32(h.Legs), Meeting: text(h.Meeting), Token: text(h.Token),
		Part: text(h.Part), Parts: texts(h.Parts)}
	for _, p := range h.Peers {
		out.Peers = append(out.Peers, &Peer{Site: text(p.Site), Nodes: texts(p.Nodes)})
	}
	return out
}

func work(w *grid.Work) *Work {
	out := &Work{Command: texts(w.Command), Script: text(w.Script), Dir: text(w.Dir), Output: text(w.Output), Error: text(w.Error), Rendezvous: w.Rendezvous}
	for _, v := range w.Env {
		out.Env = append(out.Env, &EnvVar{Name: text(v.Name), Value: text(v.Value)})
	}
	return out
}

func result(x *grid.WorkResult) *WorkResult {
	if x == nil {
		return nil
	}
	return &WorkResult{Begin: int64(x.Begin), End: int64(x.End), Exit: int64(x.Exit), Signal: int64(x.Signal), Known: x.Known,
		Output: text(x.Output), Ended: reason(x.Ended), Kept: int64(x.Kept)}
}

// handover reads the work of a leg; nil if there is none.
func (r *reader) handover(field string, h *Handover) *grid.Handover {
	if h == nil {
		return nil
	}
	out := &grid.Handover{Work: r.work(field+".work", h.GetWork()), Job: r.name(field+".job", h.GetJob(), maxName), User: r.name(field+".user", h.GetUser(), maxName),
		Leg: r.whole(field+".leg", int64(h.GetLeg()), 0, maxLegOf), Legs: r.whole(field+".legs", int64(h.GetLegs()), 0, maxLegOf),
		Meeting: r.name(field+".meeting", h.GetMeeting(), maxName), Token: r.name(field+".token", h.GetToken(), maxToken),
		Part: r.name(field+".part", h.GetPart(), maxName)}
	if n := len(h.GetParts()); n > 0 && r.count(field+".parts", n, maxPeers+1) {
		for i, p := range h.GetParts() {
			r.enter("parts", i)
			out.Parts = append(out.Parts, r.name("part", p, maxName))
			r.leave()
		}
	}
	if !r.count(field+".peers", len(h.GetPeers()), maxPeers) {
		return out
	}
	names := 0
	for i, p := range h.GetPeers() {
		r.enter("peers", i)
		out.Peers = append(out.Peers, grid.Peer{Site: r.name("site", p.GetSite(), maxName), Nodes: r.nodeNames("nodes", p.GetNodes())})
		r.leave()
		names += len(p.GetNodes())
	}
	r.count(field+".peers.nodes", names, grid.MaxPeerNames)
	return out
}

// work reads what to run. A site refuses what makes no sense.
func (r *reader) work(field string, w *Work) grid.Work {
	out := grid.Work{Script: w.GetScript(), Dir: w.GetDir(), Output: w.GetOutput(), Error: w.GetError(), Rendezvous: w.GetRendezvous()}
	if len(w.GetCommand()) > 0 {
		out.Command = w.GetCommand()
	}
	for _, v := range w.GetEnv() {
		out.Env = append(out.Env, grid.EnvVar{Name: v.GetName(), Value: v.GetValue()})
	}
	if wrong := out.Check(); wrong != nil {
		r.fail(field+"."+wrong.Key, "%v", wrong.Err)
	}
	return out
}

func (r *reader) result(field string, x *WorkResult) *grid.WorkResult {
	if x == nil {
		return nil
	}
	return &grid.WorkResult{Begin: r.time(field+".begin", x.GetBegin()), End: r.time(field+".end", x.GetEnd()),
		Exit: r.whole(field+".exit", x.GetExit(), math.MinInt32, math.MaxInt32), Signal: r.whole(field+".signal", x.GetSignal(), 0, math.MaxInt32), Known: x.GetKnown(),
		Output: r.name(field+".output", x.GetOutput(), maxFile), Ended: r.reason(field+".ended", x.GetEnded()), Kept: r.time(field+".kept", x.GetKept())}
}

// nodeNames reads the names of a leg's nodes.
func (r *reader) nodeNames(field string, list []string) []string {
	if len(list) == 0 || !r.count(field, len(list), grid.MaxNames) {
		return nil
	}
	for i, s := range list {
		if len(s) > maxName {
			r.enter(field, i)
			r.name("name", s, maxName)
			r.leave()
		}
	}
	return r.texts(field, list)
}
