package web

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/bourse-grid/bourse"
)

// catalogue is an index of the broker's jobs: by identity, by the name that
// users gave them, by batch, in order of submission. It is filled from the
// broker's state when the process starts and follows its facts from then on.
type catalogue struct {
	mu      sync.RWMutex
	list    []*entry // in order of number
	ids     map[string]*entry
	labels  map[string][]*entry
	batches map[batchKey]*batch
	last    uint64
}

// entry is one job.
type entry struct {
	number uint64 // in order of submission, from 1
	id     string // the broker's name for it
	label  string // the name that its user gave it
	user   string
	batch  string
	notify string
	over   bool // its end has been told
}

// batchKey is a batch's identity and one of the users in whose names its jobs
// are.
type batchKey struct{ user, id string }

// batch is the part of a submission that is in one user's name. It is kept while the
// broker keeps one of its jobs.
type batch struct {
	digest string
	suffix string // of its jobs' identities, after their labels
	jobs   int
}

func newCatalogue() *catalogue {
	return &catalogue{ids: map[string]*entry{}, labels: map[string][]*entry{}, batches: map[batchKey]*batch{}}
}

// add notes a job. A job that is known stays as it is, unless only a site had told of
// it so far.
func (c *catalogue) add(j *bourse.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.ids[j.Name]; old != nil {
		if old.batch != "" || j.Origin.Batch == "" {
			return
		}
		c.drop(map[*entry]bool{old: true})
	}
	c.last++
	e := &entry{number: c.last, id: j.Name, label: cmp.Or(j.Origin.Label, j.Name), user: j.User,
		batch: j.Origin.Batch, notify: j.Origin.Notify}
	c.list = append(c.list, e)
	c.ids[e.id] = e
	c.labels[e.label] = append(c.labels[e.label], e)
	if e.batch != "" {
		key := batchKey{e.user, e.batch}
		if c.batches[key] == nil {
			c.batches[key] = &batch{digest: j.Origin.Digest, suffix: strings.TrimPrefix(e.id, e.label+"-")}
		}
		c.batches[key].jobs++
	}
}

// forget drops jobs that the broker no longer keeps.
func (c *catalogue) forget(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := map[*entry]bool{}
	for _, id := range ids {
		if e := c.ids[id]; e != nil {
			gone[e] = true
		}
	}
	c.drop(gone)
}

// drop takes entries out of the index.
func (c *catalogue) drop(gone map[*entry]bool) {
	for e := range gone {
		delete(c.ids, e.id)
		if c.labels[e.label] = slices.DeleteFunc(c.labels[e.label], func(x *entry) bool { return x == e }); len(c.labels[e.label]) == 0 {
			delete(c.labels, e.label)
		}
		key := batchKey{e.user, e.batch}
		if b := c.batches[key]; b != nil {
			if b.jobs--; b.jobs == 0 {
				delete(c.batches, key)
			}
		}
	}
	if len(gone) > 0 {
		c.list = slices.DeleteFunc(c.list, func(e *entry) bool { return gone[e] })
	}
}

// batch returns what is known of a user's batch.
func (c *catalogue) batch(user, id string) (batch, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if b := c.batches[batchKey{user, id}]; b != nil {
		return *b, true
	}
	return batch{}, false
}

// get returns the job of an identity.
func (c *catalogue) get(id string) (entry, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e := c.ids[id]; e != nil {
		return *e, true
	}
	return entry{}, false
}

// named returns the jobs that a caller may see under a word: the one job with that
// identity, else all jobs with that name, newest first.
func (c *catalogue) named(who Caller, word string) []entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if e := c.ids[word]; e != nil && who.sees(e.user) {
		return []entry{*e}
	}
	var list []entry
	for _, e := range slices.Backward(c.labels[word]) {
		if who.sees(e.user) {
			list = append(list, *e)
		}
	}
	return list
}

// filter says which jobs to list: those that a caller may see, of a user and of a
// batch; "" stands for all.
type filter struct {
	who         Caller
	user, batch string
}

// before appends up to n jobs with numbers below number, newest first. It may have to
// look at all of those.
func (c *catalogue) before(list []entry, w filter, number uint64, n int) []entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, _ := slices.BinarySearchFunc(c.list, number, func(e *entry, n uint64) int { return cmp.Compare(e.number, n) })
	for i--; i >= 0 && n > 0; i-- {
		if e := c.list[i]; w.who.sees(e.user) && (w.user == "" || e.user == w.user) && (w.batch == "" || e.batch == w.batch) {
			list = append(list, *e)
			n--
		}
	}
	return list
}

// end notes that a job's end is told, and reports whether this is the first time.
func (c *catalogue) end(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.ids[id]
	if e == nil || e.over {
		return false
	}
	e.over = true
	return true
}
