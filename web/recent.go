package web

import (
	"crypto/rand"
	"fmt"
	"github.com/bourse-grid/bourse/web/api"
	"strconv"
	"strings"
)

// Bounds of the turns that are kept for readers whose streams broke. A turn has the whole job:
// some 600 bytes, and 250 for each leg.
const (
	recentTurns = 4096
	recentLegs  = 20_000
)

// recent numbers the turns that a feed tells and keeps the last ones, so that a reader whose
// stream broke is told those between.
//
// A place in the sequence is "SERIES-NUMBER". The series is drawn at random when the feed begins:
// at each start of the process, and at each leadership. Turns of another series are not known
// here, so its places are refused and never taken for places of this one, whatever their numbers.
// A gap, where the feed has missed facts, is numbered like a turn, so that no place before it is
// good any more.
type recent struct {
	series string
	last   uint64      // number of the last turn or gap; 0: none yet
	list   []*api.Turn // the last turns since the last gap, up to number last
	legs   int         // in the list
	gap    bool        // the last one told was a gap
}

func newRecent() recent { return recent{series: strings.ToLower(rand.Text()[:13])} }

// numbered is a turn with its number; without a turn, a gap.
type numbered struct {
	number uint64
	turn   *api.Turn
}

// add numbers a turn and keeps a copy, so that the turns that were told with it need not be
// kept. What it returns must not be changed.
func (r *recent) add(t *api.Turn) numbered {
	kept := *t
	r.last++
	r.list, r.legs, r.gap = append(r.list, &kept), r.legs+len(t.Job.Legs), false
	for len(r.list) > recentTurns || r.legs > recentLegs {
		r.legs -= len(r.list[0].Job.Legs)
		r.list[0] = nil // for the collector
		r.list = r.list[1:]
	}
	return numbered{r.last, &kept}
}

// miss numbers a gap: what came before it cannot be told from here on. It reports false
// if the last one was a gap already.
func (r *recent) miss() (numbered, bool) {
	if r.gap {
		return numbered{}, false
	}
	r.last++
	r.list, r.legs, r.gap = nil, 0, true
	return numbered{number: r.last}, true
}

// place is the place of a number, as the id of an event.
func (r *recent) place(number uint64) string { return r.series + "-" + strconv.FormatUint(number, 10) }

// since returns the turns after a place, the oldest first, or why they are not known.
func (r *recent) since(place string) ([]numbered, error) {
	series, digits, _ := strings.Cut(place, "-")
	at, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || len(series) != len(r.series) {
		return nil, fmt.Errorf("%.40q is no id of an event of this stream", place)
	}
	if series != r.series {
		return nil, fmt.Errorf("the broker's process has begun anew since, or another one leads now")
	}
	oldest := r.last - uint64(len(r.list)) // the number before that of the oldest
	switch {
	case at > r.last:
		return nil, fmt.Errorf("%q is no id of an event yet", place)
	case at < oldest:
		return nil, fmt.Errorf("events after number %d are kept, of %d", oldest, r.last)
	}
	list := make([]numbered, 0, r.last-at)
	for n := at; n < r.last; n++ {
		list = append(list, numbered{n + 1, r.list[n-oldest]})
	}
	return list, nil
}
