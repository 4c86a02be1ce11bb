package manager

import (
	"slices"

	"github.com/bourse-grid/bourse/grid"
)

// nodes has the nodes of a manager with the work on them, whatever the book says.
type nodes struct {
	*clock
	truth *truth
	list  []*node

	folders map[string]*folder // of pilots, by name
}

// node is one of them.
type node struct {
	name      string
	first     string // its original name
	partition string
	state     grid.NodeState
	work      *Run      // that has all of it
	parts     []*Run    // that have slices of it
	unfit     grid.Time // since when it is not up under its name; 0: it is
}

// find returns the node of a name, nil if there is none.
func (s *nodes) find(name string) *node {
	for _, n := range s.list {
		if n.name == name {
			return n
		}
	}
	return nil
}

// begin begins work on the nodes of a job. Work that has begun before, by an earlier
// submission or before a crash of the manager, finds its mark and ends at once.
func (s *nodes) begin(j *job) *Run {
	w := &Run{Job: j.id, Name: j.name, User: j.user, Ours: j.ours, Issued: j.issued, Late: j.late, Nodes: slices.Clone(j.nodes), Begun: s.now, ends: s.now.Add(max(j.run, 1)), status: j.status}
	if first := s.marked(j.name); j.ours && first != nil {
		w.Again, w.ends, w.status = true, s.now.Add(grid.Second), first.Exit
	}
	if f := s.folders[j.name]; j.pilot && f != nil && !w.Again {
		w.Pilot = true
		w.idleUntil(f)
		if f.left {
			w.ends = s.now.Add(grid.Second)
		}
	}
	w.part = j.part
	for _, name := range j.nodes {
		if n := s.find(name); n.room(j.part) {
			n.carry(w)
		} else if x := n.anyOf(); x.Over == 0 {
			s.truth.touch("I1: node %s carries %s and is to carry %s", name, x.Name, w.Name)
		}
	}
	s.truth.runs = append(s.truth.runs, w)
	s.truth.running = append(s.truth.running, w)
	return w
}

// marked is the first of our work that has begun under a name, nil if none has. Its mark lies
// beside the work for days: a crash of the manager does not remove it.
func (s *nodes) marked(name string) *Run {
	for _, r := range s.truth.runs {
		if r.Name == name && r.Ours {
			return r
		}
	}
	return nil
}

// over ends work now, and frees its nodes.
func (s *nodes) over(w *Run, signal int) {
	w.Over, w.Signal, w.Exit = s.now, signal, w.status
	if signal > 0 {
		w.Exit = 128 + signal
	}
	for _, n := range s.list {
		n.drop(w)
	}
	s.truth.running = slices.DeleteFunc(s.truth.running, func(x *Run) bool { return x == w })
}

// room reports whether a node has so much of it free.
func (n *node) room(part grid.LegPart) bool {
	taken := int(part.Slices)
	for _, w := range n.parts {
		taken += int(w.part.Slices)
	}
	return n.work == nil && (len(n.parts) == 0 || part.Some() && taken <= int(part.Of))
}

// carry puts work on a node.
func (n *node) carry(w *Run) {
	if w.part.Some() {
		n.parts = append(n.parts, w)
	} else {
		n.work = w
	}
}

// drop takes work off a node.
func (n *node) drop(w *Run) {
	if n.work == w {
		n.work = nil
	}
	n.parts = slices.DeleteFunc(n.parts, func(x *Run) bool { return x == w })
}

// anyOf is some work on a node, nil if there is none.
func (n *node) anyOf() *Run {
	if n.work == nil && len(n.parts) > 0 {
		return n.parts[0]
	}
	return n.work
}

// all is the work on a node.
func (n *node) all() []*Run {
	if n.work != nil {
		return []*Run{n.work}
	}
	return slices.Clone(n.parts)
}
