package explain

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Sieve finds the facts of a broker's journal that an explanation of a job needs, by
// their text. Explain says the same of these as of all facts, except for offers from
// before the cycles that were kept. A sieve keeps eight bytes for each of the job's own
// facts, and a bounded number of cycles.
//
// A fact is the job's own if it names the job, an element of it, or a transaction of these. Of the
// cycles that the job took part in, it takes the detail of the latest and of those
// that have placed it; of the others that of the latest few, for what sites have
// offered since.
type Sieve struct {
	job    string
	name   []byte          // the job's, as facts have it
	array  []byte          // likewise, that of the array whose element it is; nil: none
	inside []byte          // how facts begin the name of an element of the job, if that is an array
	txs    map[string]*lap // transactions of the job, as facts have them, and the cycle they began in
	found  []uint64
	ends   [2]uint64 // the first record and the last
	any    bool
	now    *lap
	own    []*lap
	others []*lap
}

// lap is where the records of one cycle stand, 0 for none: no fact stands at the
// beginning of a file.
type lap struct {
	seen, planned, closed uint64
	own                   bool // the job took part in it
	placed                bool // and was placed
}

// Bounds on the cycles whose detail is taken.
const (
	ownLaps   = 10 // as many as are listed
	otherLaps = 16
)

// NewSieve returns a sieve for the facts of a job.
func NewSieve(job string) *Sieve {
	s := &Sieve{job: job, name: asText(job), txs: map[string]*lap{}, now: &lap{}}
	s.inside = append(slices.Clone(s.name[:len(s.name)-1]), '[')
	if array, _, ok := grid.ElementOf(job); ok {
		s.array = asText(array)
	}
	return s
}

// asText is a value as facts have it.
func asText(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // a name or an identity
	}
	return bytes.TrimSpace(b.Bytes())
}

// role is what a kind of facts is to a sieve, beyond what a fact about the job or about a
// transaction of it is.
type role int

const (
	trying role = iota + 1 // a cycle has looked at the job
	begins                 // likewise, and it has a transaction from then on
	adopts                 // it has a transaction from then on
	decides
	seen // the parts of a cycle
	planned
	closed
	image
)

var roles = map[string]role{
	facts.JobPostponed{}.Kind(): trying, facts.TxBegun{}.Kind(): begins, facts.LegAdopted{}.Kind(): adopts, facts.TxDecided{}.Kind(): decides,
	facts.CycleSeen{}.Kind(): seen, facts.CyclePlanned{}.Kind(): planned, facts.CycleClosed{}.Kind(): closed,
	facts.BrokerImage{}.Kind(): image,
}

// ofArrays are the kinds of facts of an array that an element of it needs.
var ofArrays = map[string]bool{facts.JobSubmitted{}.Kind(): true, facts.ElementsBegun{}.Kind(): true, facts.BrokerImage{}.Kind(): true}

// Look is given the text of every fact, in order, and its place. If it returns true,
// Learn must be given the fact itself.
func (s *Sieve) Look(place uint64, kind string, text []byte) (learn bool) {
	if !s.any {
		s.any, s.ends[0] = true, place
	}
	s.ends[1] = place
	what := roles[kind]
	switch what {
	case closed:
		s.now.closed = place
		s.close()
		return false
	case seen:
		if s.now.seen != 0 {
			s.close()
		}
		s.now.seen = place
		s.now.own = s.now.own || bytes.Contains(text, s.name)
		return false
	case planned:
		s.now.planned = place
		s.now.own = s.now.own || bytes.Contains(text, s.name)
		return false
	}
	own := bytes.Contains(text, s.name) || s.array != nil && ofArrays[kind] && bytes.Contains(text, s.array)
	if !own && s.txs[string(txIn(text))] == nil && !bytes.Contains(text, s.inside) {
		return false
	}
	s.found = append(s.found, place)
	s.now.own = s.now.own || own && (what == trying || what == begins)
	return what == begins || what == adopts || what == decides || what == image
}

// Learn is given the facts that name the job's transactions.
func (s *Sieve) Learn(_ uint64, f agents.Fact) {
	switch f := f.(type) {
	case facts.TxBegun:
		switch key := string(asText(f.Tx)); {
		case f.Job == s.job:
			s.txs[key] = s.now
		case within(f.Job, s.job):
			s.txs[key] = &lap{}
		}
	case facts.LegAdopted:
		s.learn(f.Job, f.Leg.Tx)
	case facts.BrokerImage:
		for i := range f.Txs {
			s.learn(f.Txs[i].Job, f.Txs[i].Tx)
		}
	case facts.TxDecided:
		if l := s.txs[string(asText(f.Tx))]; l != nil && f.Commit {
			l.placed = true
		}
	}
}

// learn notes a transaction that is the job's, or an element's of it, from before its cycle.
func (s *Sieve) learn(job string, tx grid.TxID) {
	if key := string(asText(tx)); s.txs[key] == nil && (job == s.job || within(job, s.job)) {
		s.txs[key] = &lap{}
	}
}

// txIn is the first transaction that a fact names, nil if it names none.
func txIn(text []byte) []byte {
	const before = `"tx":`
	at := bytes.Index(text, []byte(before))
	if at < 0 {
		return nil
	}
	text = text[at+len(before):]
	end := bytes.Index(text, []byte(`"seq":`)) // the last of it
	if end < 0 {
		return nil
	}
	return text[:end+bytes.IndexByte(text[end:], '}')+1]
}

// close ends the cycle under way.
func (s *Sieve) close() {
	l := s.now
	s.now = &lap{}
	if !l.own {
		if s.others = append(s.others, l); len(s.others) > otherLaps {
			s.others = slices.Delete(s.others, 0, 1)
		}
		return
	}
	s.own = append(s.own, l)
	for i := 0; len(s.own) > ownLaps && i < len(s.own)-ownLaps; i++ {
		if old := s.own[i]; !old.placed {
			s.found = append(s.found, old.closed) // what it has come to stays, without the detail
			s.own = slices.Delete(s.own, i, i+1)
			break
		}
	}
}

// Places returns the places of the facts that an explanation follows from,
// ascending.
func (s *Sieve) Places() []uint64 {
	all := append(slices.Clone(s.found), s.ends[:]...)
	for _, laps := range [][]*lap{s.own, s.others, {s.now}} {
		for _, l := range laps {
			all = append(all, l.seen, l.planned, l.closed)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	return slices.DeleteFunc(all, func(place uint64) bool { return place == 0 })
}
