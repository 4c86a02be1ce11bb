// Package lives keeps which processes have acted for a broker, one after the other, and
// whether another one acts for it now. That follows from the facts of the broker's journal,
// and is a part of its image. The package sends nothing, and decides about no transaction.
package lives

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// Lives are the lives of a broker.
type Lives struct {
	list     []facts.BrokerLife // the last is this one
	fenced   bool               // another process acts for this broker
	fencedBy uint32             // that process's incarnation
	nonce    uint64             // for a life whose runtime draws none
}

// New is a broker that has not lived yet. The nonce is for a life whose runtime draws
// none.
func New(nonce uint64) Lives { return Lives{nonce: nonce} }

// maxLives bounds the lives that are remembered. For transactions of older lives no ABORT
// is presumed; their sites must wait until the doubt ends.
const maxLives = 1000

// Current is the present life.
func (l *Lives) Current() facts.LifeBegun {
	if n := len(l.list); n > 0 {
		return l.list[n-1].LifeBegun
	}
	return facts.LifeBegun{Incarnation: 1, Nonce: l.nonce}
}

// Ours reports whether the present life has begun a transaction.
func (l *Lives) Ours(id grid.TxID) bool {
	now := l.Current()
	return id.Incarnation == now.Incarnation && id.Nonce == now.Nonce
}

// Count is the number of lives on record.
func (l *Lives) Count() int { return len(l.list) }

// ApplyBegun puts a life on record.
func (l *Lives) ApplyBegun(f facts.LifeBegun) {
	if len(l.list) == maxLives {
		l.list = append(l.list[:0], l.list[1:]...)
	}
	l.list, l.fenced, l.fencedBy = append(l.list, facts.BrokerLife{LifeBegun: f}), false, 0
}

// ApplyFenced ends the present life, because a later one now acts.
func (l *Lives) ApplyFenced(f facts.LifeFenced) {
	l.fenced, l.fencedBy = true, f.Latest
	if n := len(l.list); n > 0 {
		l.list[n-1].Fenced = true
	}
}

// Ended reports whether another process acts for this broker.
func (l *Lives) Ended() bool { return l.fenced }

// Successor is the incarnation that has fenced this life; 0: none.
func (l *Lives) Successor() uint32 { return l.fencedBy }

// Raise notes the last transaction that the present life has begun.
func (l *Lives) Raise(seq uint64) { l.list[len(l.list)-1].High = seq }

// Presumes reports whether ABORT may be presumed of a transaction that is not on record: a
// life on record began it, so its record must have been dropped since.
func (l *Lives) Presumes(id grid.TxID) bool {
	for i := range l.list {
		if x := &l.list[i]; x.Incarnation == id.Incarnation && x.Nonce == id.Nonce {
			return id.Seq > 0 && id.Seq <= x.High
		}
	}
	return false
}

// Named reports whether the life of a transaction is on record.
func (l *Lives) Named(id grid.TxID) bool {
	return slices.ContainsFunc(l.list, func(x facts.BrokerLife) bool { return x.Incarnation == id.Incarnation && x.Nonce == id.Nonce })
}

// Denies reports whether a life of that number is on record with another nonce, has bought
// something and was never fenced. Each site takes the first nonce of a number that it
// hears, and fences all others.
func (l *Lives) Denies(id grid.TxID) bool {
	return !l.Named(id) && slices.ContainsFunc(l.list, func(x facts.BrokerLife) bool { return x.Incarnation == id.Incarnation && x.High > 0 && !x.Fenced })
}

// Image writes the lives' part of an image.
func (l *Lives) Image(f *facts.BrokerImage) {
	f.Fenced, f.Latest, f.Lives = l.fenced, l.fencedBy, slices.Clone(l.list)
}

// Load replaces the lives by those of an image.
func (l *Lives) Load(f *facts.BrokerImage) {
	l.fenced, l.fencedBy, l.list = f.Fenced, f.Latest, slices.Clone(f.Lives)
}
