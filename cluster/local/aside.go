package local

import (
	"maps"
	"os"
	"slices"
	"sync"
	"time"
)

// asideFor is how long looks show work after its folder was put aside: longer than any look
// takes to reach whoever asked for it, and to be asked for again.
const asideFor = 10 * time.Minute

// aside has the work that was put aside lately, and when. Looks and commands use it at the
// same time.
type aside struct {
	mu sync.Mutex
	at map[string]time.Time
}

// find adds what an earlier life has put aside. A folder was last changed when the result of
// its work was written.
func (a *aside) find(folder string, now time.Time) {
	list, _ := os.ReadDir(folder)
	for _, e := range list {
		if info, err := e.Info(); err == nil && properName(e.Name()) && now.Sub(info.ModTime()) < asideFor {
			a.put(e.Name(), info.ModTime())
		}
	}
}

// put adds a piece of work.
func (a *aside) put(name string, at time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = map[string]time.Time{}
	}
	a.at[name] = at
}

// list returns the names of what was put aside lately, in order, and drops the others.
func (a *aside) list(now time.Time) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.at, func(_ string, at time.Time) bool { return now.Sub(at) >= asideFor })
	return slices.Sorted(maps.Keys(a.at))
}
