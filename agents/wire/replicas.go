package wire

import "github.com/bourse-grid/bourse/agents"

// replicas are the codecs of what the replicas of a broker say to each other. What
// is within is the consensus library's, and a journal's.
var replicas = []codec{
	form(func(_ *writer, m agents.ReplicaStep) *Envelope_ReplicaStep {
		return &Envelope_ReplicaStep{&ReplicaStep{Group: text(string(m.Group)), Raft: m.Raft}}
	}, func(r *reader, b *Envelope_ReplicaStep) agents.ReplicaStep {
		return agents.ReplicaStep{Group: r.held(b.ReplicaStep.GetGroup()), Raft: b.ReplicaStep.GetRaft()}
	}),
	form(func(_ *writer, m agents.ReplicaPart) *Envelope_ReplicaPart {
		return &Envelope_ReplicaPart{&ReplicaPart{Group: text(string(m.Group)), From: m.From, To: m.To, Term: m.Term, Part: m.Part}}
	}, func(r *reader, b *Envelope_ReplicaPart) agents.ReplicaPart {
		f := b.ReplicaPart
		return agents.ReplicaPart{Group: r.held(f.GetGroup()), From: f.GetFrom(), To: f.GetTo(), Term: f.GetTerm(), Part: f.GetPart()}
	}),
	form(func(_ *writer, m agents.ReplicaPartTaken) *Envelope_ReplicaPartTaken {
		return &Envelope_ReplicaPartTaken{&ReplicaPartTaken{Group: text(string(m.Group)), Index: m.Index, Next: uint32(m.Next)}}
	}, func(r *reader, b *Envelope_ReplicaPartTaken) agents.ReplicaPartTaken {
		f := b.ReplicaPartTaken
		return agents.ReplicaPartTaken{Group: r.held(f.GetGroup()), Index: f.GetIndex(), Next: int(f.GetNext())}
	}),
}

// held reads which agent it is that they hold: an address, which the replica compares
// with its own group's.
func (r *reader) held(s string) agents.ID { return agents.ID(r.name("group", s, maxAddress)) }
