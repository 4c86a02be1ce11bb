package web

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/bourse-grid/bourse/grid"
)

// catalogue is an index of the broker's jobs: by identity, by the users' names for them, by
// batch, and in order of submission. It is filled from the broker's state when the process
// starts, and follows the broker's facts from then on.
type catalogue struct {
	mu      sync.RWMutex
	list    []listed // in order of number
	ids     index
	labels  index // the newest entry of each label
	batches index // one entry of each user's batch
	last    uint64
	came    *submission // of the last job

	ended map[string]grid.Ranges // by array: the elements whose end has been reported
}

// entry is one job.
type entry struct {
	number uint64 // in order of submission, from 1
	id     string // the broker's name for it
	label  string // the name that its user gave it
	user   string
	batch  string
	notify string
	over   bool // its end has been reported
}

// listed is the compact form of an entry: a broker may have 100,000.
type listed struct {
	number          uint64
	id, label, user string
	from            *submission
	older           uint32 // place in the list, from 1, of the next older entry with this label; 0: none
	over            bool
	gone            bool // another entry has its identity now
}

// submission is what the jobs of a submission have in common.
type submission struct{ batch, digest, notify string }

// batch is the part of a submission in one user's name. It is known as long as the broker
// keeps one of its jobs.
type batch struct {
	digest string
	suffix string // of its jobs' identities, after their labels
}

func newCatalogue() *catalogue {
	c := &catalogue{came: &submission{}}
	c.index()
	return c
}

// index rebuilds the indices.
func (c *catalogue) index() {
	n := len(c.list)
	c.ids = newIndex(n, func(place uint32) (string, string) { return c.list[place-1].id, "" })
	c.labels = newIndex(n, func(place uint32) (string, string) { return c.list[place-1].label, "" })
	c.batches = newIndex(0, func(place uint32) (string, string) { return c.list[place-1].user, c.list[place-1].from.batch })
	for i := range c.list {
		c.find(uint32(i + 1))
	}
}

// find adds the entry at a place to the indices.
func (c *catalogue) find(place uint32) {
	e := &c.list[place-1]
	c.ids.put(place)
	e.older = c.labels.put(place)
	if e.from.batch != "" {
		c.batches.put(place)
	}
}

// entry returns the entry at a place of the list.
func (c *catalogue) entry(place uint32) entry {
	e := &c.list[place-1]
	return entry{e.number, e.id, e.label, e.user, e.from.batch, e.from.notify, e.over}
}

// add adds a job. A known job stays as it is, unless so far only a site has reported it.
func (c *catalogue) add(j *grid.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if array, _, ok := grid.ElementOf(j.Name); ok && c.ids.get(array, "") > 0 {
		return // the array stands for it
	}
	if place := c.ids.get(j.Name, ""); place > 0 {
		old := &c.list[place-1]
		if old.from.batch != "" || j.Origin.Batch == "" {
			return
		}
		old.gone = true
	}
	o := &j.Origin
	if from := (submission{o.Batch, o.Digest, o.Notify}); from != *c.came {
		c.came = &from
	}
	c.last++
	c.list = append(c.list, listed{number: c.last, id: j.Name, label: cmp.Or(o.Label, j.Name), user: j.User, from: c.came})
	c.find(uint32(len(c.list)))
}

// forget drops jobs that the broker no longer keeps.
func (c *catalogue) forget(ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	some := false
	for _, id := range ids {
		delete(c.ended, id)
		if place := c.ids.get(id, ""); place > 0 {
			c.list[place-1].gone, some = true, true
		}
	}
	if some {
		c.list = slices.DeleteFunc(c.list, func(e listed) bool { return e.gone })
		c.index()
	}
}

// batch returns what is known of a user's batch.
func (c *catalogue) batch(user, id string) (batch, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if place := c.batches.get(user, id); place > 0 {
		e := &c.list[place-1]
		return batch{e.from.digest, strings.TrimPrefix(e.id, e.label+"-")}, true
	}
	return batch{}, false
}

// get returns the job of an identity.
func (c *catalogue) get(id string) (entry, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if place := c.ids.get(id, ""); place > 0 {
		return c.entry(place), true
	}
	return entry{}, false
}

// named returns the jobs that a caller may see under a word: the one job with that
// identity, else all jobs with that name, newest first.
func (c *catalogue) named(who Caller, word string) []entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if place := c.ids.get(word, ""); place > 0 && who.sees(c.list[place-1].user) {
		return []entry{c.entry(place)}
	}
	var list []entry
	for place := c.labels.get(word, ""); place > 0; place = c.list[place-1].older {
		if e := &c.list[place-1]; !e.gone && who.sees(e.user) {
			list = append(list, c.entry(place))
		}
	}
	return list
}

// meant is named, and for a word such as "wave[3-7]" those elements of the arrays under the
// word before the brackets.
func (c *catalogue) meant(who Caller, word string) []entry {
	list := c.named(who, word)
	array, some, ok := cutElements(word)
	if len(list) > 0 || !ok {
		return list
	}
	list = c.named(who, array)
	for i := range list {
		list[i] = list[i].elements(some)
	}
	return list
}

// filter selects the jobs to list: those that a caller may see, of a user and of a batch; "":
// of all.
type filter struct {
	who         Caller
	user, batch string
}

// before appends up to n jobs with numbers below number, newest first. It may have to scan
// all of them.
func (c *catalogue) before(list []entry, w filter, number uint64, n int) []entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	i, _ := slices.BinarySearchFunc(c.list, number, func(e listed, n uint64) int { return cmp.Compare(e.number, n) })
	for i--; i >= 0 && n > 0; i-- {
		if e := &c.list[i]; !e.gone && w.who.sees(e.user) && (w.user == "" || e.user == w.user) && (w.batch == "" || e.from.batch == w.batch) {
			list = append(list, c.entry(uint32(i+1)))
			n--
		}
	}
	return list
}

// end records that a job's end is reported, and returns whether this is the first time.
func (c *catalogue) end(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	place := c.ids.get(id, "")
	if place == 0 {
		return c.endElement(id)
	}
	if c.list[place-1].over {
		return false
	}
	c.list[place-1].over = true
	return true
}
