package sim

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// episode is a fault that lasts, of the network or of the domain.
type episode struct {
	Fault
	draw stream
	hit  bool // it has been counted
}

// concerns reports whether an episode is about messages from one name to another.
func (w *Faulty) concerns(e *episode, from, to agents.ID) bool {
	switch {
	case e.Host == from:
		return e.Peer == to || e.Peer == "" && !w.hosts[w.index[to]].Near
	case e.Host == to:
		return e.Peer == from || e.Peer == "" && !w.hosts[w.index[from]].Near
	}
	return e.Host == "" && !w.hosts[w.index[from]].Near && !w.hosts[w.index[to]].Near
}

// send sends a message over the network, with what goes wrong there.
func (w *Faulty) send(from int32, s agents.Send) {
	to, said := w.host(s.To), from
	if v := w.voices[from]; v >= 0 && w.voices[to] != v {
		said, w.speaks[v] = v, from
	}
	if speaker, many := w.speaks[to]; many {
		to = speaker
	}
	m, source, target := s.Message, w.names[from], w.names[to]
	if w.opt.Carry != nil {
		if m = w.opt.Carry(source, target, m); m == nil {
			return
		}
	}
	var late, extra grid.Duration
	copies := 1
	for _, e := range w.active {
		if !w.concerns(e, source, target) {
			continue
		}
		switch e.Kind {
		case Drop:
			if e.draw.chance(e.share()) {
				w.cut(e, from, to, m)
				return
			}
		case Partition:
			w.cut(e, from, to, m)
			return
		case OneWay:
			if source == e.Host {
				w.cut(e, from, to, m)
				return
			}
		case Flap:
			if w.now.Sub(e.At)/max(grid.Duration(e.Size), 1)%2 == 0 {
				w.cut(e, from, to, m)
				return
			}
		case Delay:
			if e.draw.chance(e.share()) {
				late += e.draw.within(1, grid.Duration(e.Size))
				w.struck(Delay)
			}
		case Reorder:
			if e.draw.chance(e.share()) {
				extra += e.draw.within(1, grid.Duration(e.Size))
				w.struck(Reorder)
			}
		case Duplicate:
			if e.draw.chance(e.share()) {
				w.struck(Duplicate)
				copies++
				w.push(event{at: w.now.Add(w.latency(from, to) + e.draw.within(1, grid.Duration(e.Size))), rank: message, from: said, to: to, m: m})
			}
		default:
			var changed bool
			if m, changed = w.tamper(e, source, target, m); changed {
				w.struck(e.Kind)
			}
		}
	}
	at := w.now.Add(w.latency(from, to) + late)
	link := uint64(from)<<32 | uint64(to)
	if extra == 0 {
		at = max(at, w.last[link])
		w.last[link] = at
	}
	w.push(event{at: at.Add(extra), rank: message, from: said, to: to, m: m})
}

// share is how many of a thousand messages an episode strikes.
func (e *episode) share() int {
	if e.Share == 0 {
		return 1000
	}
	return e.Share
}

func (w *Faulty) latency(from, to int32) grid.Duration {
	if w.hosts[from].Near || w.hosts[to].Near {
		return w.base.within(0, 1)
	}
	return w.base.within(w.opt.Lo, w.opt.Hi)
}

// cut loses a message. With Drop each lost message counts; with a partition only the first.
func (w *Faulty) cut(e *episode, from, to int32, m agents.Message) {
	if e.Kind == Drop || !e.hit {
		w.struck(e.Kind)
	}
	e.hit = true
	w.lost(event{from: from, to: to, m: m}, string(e.Kind))
}

func (w *Faulty) tamper(e *episode, from, to agents.ID, m agents.Message) (agents.Message, bool) {
	if w.opt.Tamper == nil {
		return m, false
	}
	return w.opt.Tamper(e.Fault, e.draw.next(), from, to, m)
}
