package lives

import (
	"testing"

	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A transaction that a life has begun and the record has dropped was aborted or is over. Nothing is
// presumed of one that no life has begun. A number with another nonce is denied once the life on
// record has bought something.
func TestLives_TellTheirTransactionsFromOthers(t *testing.T) {
	t.Parallel()
	l := New(7)
	if now := l.Current(); now.Incarnation != 1 || now.Nonce != 7 {
		t.Errorf("before its first life it is %+v", now)
	}
	l.ApplyBegun(facts.LifeBegun{Incarnation: 1, Nonce: 10})
	l.Raise(3)
	l.ApplyBegun(facts.LifeBegun{Incarnation: 2, Nonce: 20})
	for _, c := range []struct {
		id                            grid.TxID
		ours, presumed, named, denied bool
	}{
		{grid.TxID{Incarnation: 1, Nonce: 10, Seq: 3}, false, true, true, false},
		{grid.TxID{Incarnation: 1, Nonce: 10, Seq: 4}, false, false, true, false},
		{grid.TxID{Incarnation: 1, Nonce: 11, Seq: 3}, false, false, false, true},
		{grid.TxID{Incarnation: 2, Nonce: 20, Seq: 1}, true, false, true, false},
		{grid.TxID{Incarnation: 2, Nonce: 21, Seq: 1}, false, false, false, false}, // this life has bought nothing yet
		{grid.TxID{Incarnation: 3, Nonce: 30, Seq: 1}, false, false, false, false},
	} {
		if l.Ours(c.id) != c.ours || l.Presumes(c.id) != c.presumed || l.Named(c.id) != c.named || l.Denies(c.id) != c.denied {
			t.Errorf("%v: ours %t, presumed %t, named %t, denied %t; want %+v", c.id, l.Ours(c.id), l.Presumes(c.id), l.Named(c.id), l.Denies(c.id), c)
		}
	}
}

// A life ends when another process is known to act, and only a new life begins again. An
// image tells the same, and keeps a bound of lives.
func TestLives_AreFencedAndPassOnByImages(t *testing.T) {
	t.Parallel()
	var l Lives
	for i := range uint32(maxLives + 5) {
		l.ApplyBegun(facts.LifeBegun{Incarnation: i + 1, Nonce: 1})
	}
	l.Raise(1)
	l.ApplyFenced(facts.LifeFenced{Latest: 5000})
	var f facts.BrokerImage
	l.Image(&f)
	var again Lives
	again.Load(&f)
	stranger := grid.TxID{Incarnation: maxLives + 5, Nonce: 2}
	for _, x := range []*Lives{&l, &again} {
		if !x.Ended() || x.Successor() != 5000 || x.Count() != maxLives || x.Denies(stranger) {
			t.Errorf("ended %t by %d, %d lives, denies %t", x.Ended(), x.Successor(), x.Count(), x.Denies(stranger))
		}
	}
	if again.ApplyBegun(facts.LifeBegun{Incarnation: 5001}); again.Ended() {
		t.Error("the next life is over before it begins")
	}
}
