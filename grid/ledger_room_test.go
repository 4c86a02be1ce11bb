package grid

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// No sum of an account wraps: a transfer that does not fit is a broken invariant
// and changes nothing.
func TestLedger_NoSumWraps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger[int]
		out, in := new(big.Int), new(big.Int)
		for k := range rapid.IntRange(1, 60).Draw(t, "transfers") {
			tr := Transfer{"vo", "site", Credits(rapid.Int64Range(0, int64(MaxCredits)).Draw(t, "amount"))}
			back := rapid.Bool().Draw(t, "back")
			if back {
				tr.From, tr.To = tr.To, tr.From
			}
			pend := rapid.Bool().Draw(t, "pending")
			before := l.Accounts()
			if panics(func() {
				if pend {
					l.Reserve(k, tr)
				} else {
					l.Pay(tr)
				}
			}) {
				for i, a := range l.Accounts() {
					if i < len(before) && a != before[i] {
						t.Fatalf("%+v became %+v by what was refused", before[i], a)
					}
				}
				continue
			}
			sum := out
			if back {
				sum = in
			}
			sum.Add(sum, big.NewInt(int64(tr.Amount)))
			if pend && rapid.Bool().Draw(t, "post") {
				l.Post(k)
			}
			a := l.Account("vo")
			if got := int64(a.Debit + a.PendingDebit); got != out.Int64() || !out.IsInt64() {
				t.Fatalf("vo has spent %v, by its account %d", out, got)
			}
			if got := int64(a.Credit + a.PendingCredit); got != in.Int64() || !in.IsInt64() {
				t.Fatalf("vo was given %v, by its account %d", in, got)
			}
		}
	})
}

// If new transfers stay within Room, give back no more than was paid, and add to that no
// more than Room allows in the other direction, the invariant never breaks.
func TestLedger_RoomIsEnoughForWhatIsGivenBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger[int]
		l.Pay(Transfer{"treasury", "vo", MaxBudget})
		paid := []Credits{}
		for k := range rapid.IntRange(1, 200).Draw(t, "steps") {
			amount := Credits(rapid.Int64Range(0, 2*int64(MaxBudget)).Draw(t, "amount"))
			switch {
			case rapid.Bool().Draw(t, "pay"):
				if amount = min(amount, l.Room("vo", "user"), l.Room("user", "site")); amount > 0 {
					l.Reserve(2*k, Transfer{"vo", "user", amount})
					l.Reserve(2*k+1, Transfer{"user", "site", amount})
					l.Post(2 * k)
					l.Post(2*k + 1)
					paid = append(paid, amount)
				}
			case len(paid) > 0:
				back := paid[len(paid)-1].Plus(min(amount.Times(10), l.Room("site", "user"), l.Room("user", "vo")))
				paid = paid[:len(paid)-1]
				l.Pay(Transfer{"site", "user", back})
				l.Pay(Transfer{"user", "vo", back})
			}
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
