package live

import (
	"container/heap"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// alarms are the alarms that an agent has set: the earliest first, and those of one instant
// in the order in which they were set.
type alarms []alarm

type alarm struct {
	at  grid.Time
	seq uint64 // counts the alarms of a life
	m   agents.Message
}

// The methods of heap.Interface.
func (a alarms) Len() int { return len(a) }
func (a alarms) Less(i, j int) bool {
	return a[i].at < a[j].at || a[i].at == a[j].at && a[i].seq < a[j].seq
}
func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *alarms) Push(x any)   { *a = append(*a, x.(alarm)) }
func (a *alarms) Pop() any {
	last := len(*a) - 1
	x := (*a)[last]
	(*a)[last] = alarm{}
	*a = (*a)[:last]
	return x
}

// set adds an alarm.
func (a *alarms) set(x alarm) { heap.Push(a, x) }

// due removes and returns, in order, the alarms that are due at now and are among the first
// upto ever set.
func (a *alarms) due(now grid.Time, upto uint64) []alarm {
	var due, later []alarm
	for len(*a) > 0 && (*a)[0].at <= now {
		x := heap.Pop(a).(alarm)
		if x.seq <= upto {
			due = append(due, x)
		} else {
			later = append(later, x)
		}
	}
	for _, x := range later {
		heap.Push(a, x)
	}
	return due
}
