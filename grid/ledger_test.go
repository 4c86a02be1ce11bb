package grid

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// books is a ledger as a list of what has happened: the naive twin.
type books struct {
	posted  []Transfer
	pending map[int]Transfer
}

func (b books) account(name string) Account {
	a := Account{Name: name}
	for _, t := range b.posted {
		if t.From == name {
			a.Debit += t.Amount
		}
		if t.To == name {
			a.Credit += t.Amount
		}
	}
	for _, t := range b.pending {
		if t.From == name {
			a.PendingDebit += t.Amount
		}
		if t.To == name {
			a.PendingCredit += t.Amount
		}
	}
	return a
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

func TestLedger_BalancesUnderEveryOrderOfSteps(t *testing.T) {
	t.Parallel()
	names := []string{"vo", "site:a", "site:b", "user:ana"}
	rapid.Check(t, func(t *rapid.T) {
		var l Ledger[int]
		twin := books{pending: map[int]Transfer{}}
		key := rapid.IntRange(0, 5)
		sum := rapid.Int64Range(0, 1000)
		transfer := func(t *rapid.T) Transfer {
			return Transfer{rapid.SampledFrom(names).Draw(t, "from"), rapid.SampledFrom(names).Draw(t, "to"), Credits(sum.Draw(t, "amount"))}
		}
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				k, tr := key.Draw(t, "key"), transfer(t)
				_, used := twin.pending[k]
				if panics(func() { l.Reserve(k, tr) }) != used {
					t.Fatalf("reserving under key %d, in use %t", k, used)
				}
				if !used {
					twin.pending[k] = tr
				}
			},
			"shrink": func(t *rapid.T) {
				k, amount := key.Draw(t, "key"), Credits(sum.Draw(t, "amount"))
				tr, ok := twin.pending[k]
				ok = ok && amount <= tr.Amount
				if panics(func() { l.Shrink(k, amount) }) == ok {
					t.Fatalf("shrinking %v to %v", tr, amount)
				}
				if ok {
					tr.Amount = amount
					twin.pending[k] = tr
				}
			},
			"post": func(t *rapid.T) {
				k := key.Draw(t, "key")
				tr, ok := twin.pending[k]
				var got Transfer
				if panics(func() { got = l.Post(k) }) == ok || got != tr {
					t.Fatalf("posting %d gave %v, want %v", k, got, tr)
				}
				if ok {
					delete(twin.pending, k)
					twin.posted = append(twin.posted, tr)
				}
			},
			"void": func(t *rapid.T) {
				k := key.Draw(t, "key")
				tr, ok := twin.pending[k]
				var got Transfer
				if panics(func() { got = l.Void(k) }) == ok || got != tr {
					t.Fatalf("voiding %d gave %v, want %v", k, got, tr)
				}
				delete(twin.pending, k)
			},
			"pay": func(t *rapid.T) {
				tr := transfer(t)
				l.Pay(tr)
				twin.posted = append(twin.posted, tr)
			},
			"": func(t *rapid.T) {
				if err := l.Check(); err != nil {
					t.Fatal(err)
				}
				for _, name := range names {
					got, want := l.Account(name), twin.account(name)
					if got != want || got.Available() != want.Credit-want.Debit-want.PendingDebit {
						t.Fatalf("account %+v, want %+v", got, want)
					}
				}
				for k := range 6 {
					got, ok := l.Pending(k)
					if want, pending := twin.pending[k]; ok != pending || got != want {
						t.Fatalf("pending under %d is %v, %t; want %v, %t", k, got, ok, want, pending)
					}
				}
			},
		})
	})
}

func TestLedger_NothingIsPostedTwice(t *testing.T) {
	t.Parallel()
	var l Ledger[LegID]
	leg := LegID{Tx: TxID{Broker: "vo1", Seq: 7}}
	l.Pay(Transfer{"owner", "vo1", 100 * Credit})
	l.Reserve(leg, Transfer{"vo1", "site", 30 * Credit})
	if a := l.Account("vo1"); a.Balance() != 100*Credit || a.Available() != 70*Credit {
		t.Errorf("with a limit reserved the account is %+v", a)
	}
	l.Shrink(leg, 20*Credit)
	l.Post(leg)
	if a := l.Account("vo1"); a.Balance() != 80*Credit || a.Available() != 80*Credit {
		t.Errorf("after posting the account is %+v", a)
	}
	for what, again := range map[string]func(){
		"post": func() { l.Post(leg) }, "void": func() { l.Void(leg) }, "shrink": func() { l.Shrink(leg, 0) },
	} {
		if !panics(again) {
			t.Errorf("%s after posting went through", what)
		}
	}
}

func TestLedger_TakesNoAmountThatIsNone(t *testing.T) {
	t.Parallel()
	for _, amount := range []Credits{-1, MaxCredits} {
		var l Ledger[int]
		if !panics(func() { l.Reserve(1, Transfer{"a", "b", amount}) }) || !panics(func() { l.Pay(Transfer{"a", "b", amount}) }) {
			t.Errorf("an amount of %d went through", amount)
		}
		if err := l.Check(); err != nil || len(l.Accounts()) != 0 {
			t.Errorf("a refusal left a trace: %v, %v", l.Accounts(), err)
		}
	}
	var l Ledger[int]
	l.Reserve(1, Transfer{"a", "b", 5})
	if !panics(func() { l.Shrink(1, 6) }) || !panics(func() { l.Shrink(1, -1) }) {
		t.Error("a pending amount was raised or made negative")
	}
}

func TestLedger_CheckSeesAForgedAccount(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*Ledger[int]){
		"posted":  func(l *Ledger[int]) { l.accounts[0].Debit++ },
		"pending": func(l *Ledger[int]) { l.accounts[0].PendingDebit++; l.accounts[1].PendingCredit++ },
		"lost":    func(l *Ledger[int]) { delete(l.pending, 1) },
	} {
		var l Ledger[int]
		l.Pay(Transfer{"a", "b", 5})
		l.Reserve(1, Transfer{"a", "b", 5})
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		forge(&l)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), "does not balance") {
			t.Errorf("%s: Check says %v", name, err)
		}
	}
}

// A list of accounts shows what the ledger itself would, and an account what it has
// not.
func TestCheckAccounts_SeesAForgedList(t *testing.T) {
	t.Parallel()
	for name, forge := range map[string]func(*Account){
		"posted": func(a *Account) { a.Debit++ }, "given": func(a *Account) { a.Credit++ },
		"pending": func(a *Account) { a.PendingDebit++ }, "awaited": func(a *Account) { a.PendingCredit++ },
	} {
		var l Ledger[int]
		l.Pay(Transfer{"treasury", VOAccount("vo1"), 9})
		l.Reserve(1, Transfer{VOAccount("vo1"), "users", 5})
		list := l.Accounts()
		if err := CheckAccounts(list); err != nil || list[0].OfVO() || !list[2].OfVO() || list[2].Covered() != nil {
			t.Fatalf("%v of %+v", err, list)
		}
		forge(&list[2])
		if err := CheckAccounts(list); err == nil || !strings.Contains(err.Error(), "do not balance") {
			t.Errorf("%s: CheckAccounts says %v", name, err)
		}
		list[2].PendingDebit = 10
		if err := list[2].Covered(); (err == nil) != (name == "given") {
			t.Errorf("%s: with 10 promised Covered says %v", name, err)
		}
	}
}

func TestLedger_AccountsAreInOrderOfName(t *testing.T) {
	t.Parallel()
	var l Ledger[int]
	for _, name := range []string{"c", "a", "b", "a"} {
		l.Open(name)
	}
	got := l.Accounts()
	if len(got) != 3 || got[0].Name != "a" || got[1].Name != "b" || got[2].Name != "c" {
		t.Errorf("accounts %v", got)
	}
	got[0].Debit = 7
	if l.Account("a").Debit != 0 {
		t.Error("a copy of an account reaches the ledger")
	}
}
