package broker

import (
	"slices"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// lives are the broker's lives on record.
type lives struct {
	list     []facts.BrokerLife // the last is this one
	fenced   bool               // another process acts for this broker
	fencedBy uint32             // that process's incarnation
	nonce    uint64             // for a life whose runtime draws none
}

// maxLives bounds the lives that are remembered. For transactions of older lives no ABORT
// is presumed; their sites must wait until the doubt ends.
const maxLives = 1000

// current is the present life.
func (l *lives) current() facts.LifeBegun {
	if n := len(l.list); n > 0 {
		return l.list[n-1].LifeBegun
	}
	return facts.LifeBegun{Incarnation: 1, Nonce: l.nonce}
}

// ours reports whether the present life has begun a transaction.
func (l *lives) ours(id grid.TxID) bool {
	now := l.current()
	return id.Incarnation == now.Incarnation && id.Nonce == now.Nonce
}

// count is the number of lives on record.
func (l *lives) count() int { return len(l.list) }

// begin puts a life on record.
func (l *lives) begin(f facts.LifeBegun) {
	if len(l.list) == maxLives {
		l.list = append(l.list[:0], l.list[1:]...)
	}
	l.list, l.fenced, l.fencedBy = append(l.list, facts.BrokerLife{LifeBegun: f}), false, 0
}

// fence ends the present life, because a later one with that incarnation now acts.
func (l *lives) fence(latest uint32) {
	l.fenced, l.fencedBy = true, latest
	if n := len(l.list); n > 0 {
		l.list[n-1].Fenced = true
	}
}

// ended reports whether another process acts for this broker.
func (l *lives) ended() bool { return l.fenced }

// successor is the incarnation that has fenced this life; 0: none.
func (l *lives) successor() uint32 { return l.fencedBy }

// raise notes the last transaction that the present life has begun.
func (l *lives) raise(seq uint64) { l.list[len(l.list)-1].High = seq }

// presumes reports whether ABORT may be presumed of a transaction that is not on record: a
// life on record began it, so its record must have been dropped since.
func (l *lives) presumes(id grid.TxID) bool {
	for i := range l.list {
		if x := &l.list[i]; x.Incarnation == id.Incarnation && x.Nonce == id.Nonce {
			return id.Seq > 0 && id.Seq <= x.High
		}
	}
	return false
}

// named reports whether the life of a transaction is on record.
func (l *lives) named(id grid.TxID) bool {
	return slices.ContainsFunc(l.list, func(x facts.BrokerLife) bool { return x.Incarnation == id.Incarnation && x.Nonce == id.Nonce })
}

// denies reports whether a life of that number is on record with another nonce, has bought
// something and was never fenced. Each site takes the first nonce of a number that it
// hears, and fences all others.
func (l *lives) denies(id grid.TxID) bool {
	return !l.named(id) && slices.ContainsFunc(l.list, func(x facts.BrokerLife) bool { return x.Incarnation == id.Incarnation && x.High > 0 && !x.Fenced })
}

// image adds the lives to an image, and load takes them from one.
func (l *lives) image(f *facts.BrokerImage) {
	f.Fenced, f.Latest, f.Lives = l.fenced, l.fencedBy, slices.Clone(l.list)
}

func (l *lives) load(f *facts.BrokerImage) {
	l.fenced, l.fencedBy, l.list = f.Fenced, f.Latest, slices.Clone(f.Lives)
}
