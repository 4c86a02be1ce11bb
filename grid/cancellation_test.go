package grid

import (
	"testing"

	"pgregory.net/rapid"
)

// The default: the base in full until half of the notice has passed, then less
// and less, nothing from the start on; the additive part never.
func TestCancellation_FullUntilHalfTimeThenFalling(t *testing.T) {
	t.Parallel()
	fare := Fare{Base: 8 * Credit, Additive: 5 * Credit}
	for _, c := range []struct {
		now  Time
		want Credits
	}{{1000, 8 * Credit}, {2000, 8 * Credit}, {2250, 6 * Credit}, {2500, 4 * Credit}, {2999, 8_000}, {3000, 0}, {9000, 0}} {
		if got := HalfTime.Refund(fare, 1000, 3000, c.now); got != c.want {
			t.Errorf("at %v %v are refunded, want %v", c.now, got, c.want)
		}
	}
	if got := HalfTime.Refund(fare, 3000, 3000, 2000); got != 0 {
		t.Errorf("without notice %v are refunded", got)
	}
}

func TestCancellation_NeverMoreThanTheBaseAndNeverRising(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := Cancellation{Full: rapid.IntRange(0, 1000).Draw(t, "full"), Holding: rapid.IntRange(0, 1000).Draw(t, "holding")}
		fare := Fare{Base: Credits(rapid.Int64Range(0, int64(MaxBudget)).Draw(t, "base")), Additive: Credits(rapid.Int64Range(0, 1_000_000).Draw(t, "additive"))}
		held := Time(rapid.Int64Range(0, 1_000_000).Draw(t, "held"))
		start := Time(rapid.Int64Range(0, 2_000_000).Draw(t, "start"))
		a := Time(rapid.Int64Range(0, 2_000_000).Draw(t, "now"))
		b := a + Time(rapid.Int64Range(0, 1_000_000).Draw(t, "later"))
		first, second := c.Refund(fare, held, start, a), c.Refund(fare, held, start, b)
		if first < 0 || first > fare.Base || second > first {
			t.Fatalf("%v at %v, %v at %v of %v", first, a, second, b, fare)
		}
	})
}

// A fee for holding nodes falls due from the first moment on: 10 % of the base part for
// each hour, also while the rest is refunded in full.
func TestCancellation_HoldingCostsItsFee(t *testing.T) {
	t.Parallel()
	fare := Fare{Base: 10 * Credit, Additive: 5 * Credit}
	c := Cancellation{Full: 500, Holding: 100}
	held, start := Time(Hour), Time(21*Hour)
	for _, x := range []struct {
		after Duration
		want  Credits
	}{{0, 10 * Credit}, {Hour / 2, 9_500_000}, {Hour, 9 * Credit}, {5 * Hour, 5 * Credit}, {10 * Hour, 0}, {15 * Hour, 0}, {20 * Hour, 0}} {
		if got := c.Refund(fare, held, start, held.Add(x.after)); got != x.want {
			t.Errorf("after %v s %v are refunded, want %v", x.after, got, x.want)
		}
	}
	c.Holding = 10 // 1 %: what falls after half of the notice falls beside it
	if got, want := c.Refund(fare, held, start, held.Add(15*Hour)), Credits(5_000_000-1_500_000); got != want {
		t.Errorf("after 15 hours %v are refunded, want %v", got, want)
	}
}

// A ledger that begins anew has the balances of the one before it, and what is
// pending once it is reserved again.
func TestLedger_BeginsAnewFromItsAccounts(t *testing.T) {
	t.Parallel()
	var l, again Ledger[int]
	l.Pay(Transfer{"a", "b", 5})
	l.Reserve(1, Transfer{"a", "b", 3})
	again.Load(l.Accounts())
	again.Reserve(1, Transfer{"a", "b", 3})
	if err := again.Check(); err != nil {
		t.Fatal(err)
	}
	for _, a := range l.Accounts() {
		if again.Account(a.Name) != a {
			t.Errorf("%v has become %v", a, again.Account(a.Name))
		}
	}
}
