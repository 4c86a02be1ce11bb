package wire

import "github.com/bourse-grid/bourse/agents"

// replicas has the codecs of the messages between the replicas of a broker. Their content
// belongs to the consensus library, and to a journal.
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

// held reads the address of the agent that the replicas hold. A replica compares it with
// that of its own group.
func (r *reader) held(s string) agents.ID { return agents.ID(r.name("group", s, maxAddress)) }
