package grid

import (
	"fmt"
	"slices"
	"strings"
)

// Account is one side of a ledger. Every transfer debits one account and
// credits another by the same amount, so the sums over all accounts are equal.
type Account struct {
	Name          string  `json:"name"`
	Debit         Credits `json:"debit"`  // posted, paid out
	Credit        Credits `json:"credit"` // posted, paid in
	PendingDebit  Credits `json:"pendingDebit"`
	PendingCredit Credits `json:"pendingCredit"`
}

// VOAccount is the name of a VO's account with its broker. The account's debit is all that
// was spent.
func VOAccount(broker string) string { return "vo:" + broker }

// OfVO reports whether the account is a VO's.
func (a *Account) OfVO() bool { return strings.HasPrefix(a.Name, VOAccount("")) }

// Balance is what was paid in less what was paid out, counting only what is posted.
func (a *Account) Balance() Credits { return a.Credit - a.Debit }

// Available is the balance less what is reserved to be paid out.
func (a *Account) Available() Credits { return a.Balance() - a.PendingDebit }

// Covered returns an error if more was paid out of the account, or is reserved to be, than
// was paid in. For a VO's account that means spent + pending > budget.
func (a *Account) Covered() error {
	if a.Available() < 0 {
		return fmt.Errorf("%s has spent %v and promised %v credits of %v", a.Name, a.Debit, a.PendingDebit, a.Credit)
	}
	return nil
}

// Total adds up the accounts of a ledger, side by side.
func Total(accounts []Account) (sum Account) {
	for i := range accounts {
		a := &accounts[i]
		sum.Debit += a.Debit
		sum.Credit += a.Credit
		sum.PendingDebit += a.PendingDebit
		sum.PendingCredit += a.PendingCredit
	}
	return sum
}

// CheckAccounts returns an error unless the accounts are those of a ledger that balances:
// debits equal credits, posted and pending. Use it if there is only a list of accounts, from
// an image or a report. Ledger.Check also checks the pending transfers.
func CheckAccounts(accounts []Account) error {
	sum := Total(accounts)
	if sum.Debit != sum.Credit || sum.PendingDebit != sum.PendingCredit {
		return fmt.Errorf("accounts do not balance: posted %v against %v, pending %v against %v",
			sum.Debit, sum.Credit, sum.PendingDebit, sum.PendingCredit)
	}
	return nil
}

// Transfer is an amount on its way from one account to another: pending until
// it is posted or voided, once.
type Transfer struct {
	From, To string
	Amount   Credits
}

// Ledger is a double-entry ledger. The caller identifies pending transfers by keys. What is
// posted is final, and is only given back by a new transfer the other way. The zero Ledger
// is empty and ready to use. It is not safe for concurrent use.
type Ledger[K comparable] struct {
	accounts []Account
	index    map[string]int
	pending  map[K]Transfer
}

// Open makes sure that there is an account of that name.
func (l *Ledger[K]) Open(name string) { l.account(name) }

func (l *Ledger[K]) account(name string) *Account {
	i, ok := l.index[name]
	if !ok {
		if l.index == nil {
			l.index = map[string]int{}
		}
		i = len(l.accounts)
		l.index[name] = i
		l.accounts = append(l.accounts, Account{Name: name})
	}
	return &l.accounts[i]
}

// Account returns a copy of the account, which is empty if there is none.
func (l *Ledger[K]) Account(name string) Account {
	if i, ok := l.index[name]; ok {
		return l.accounts[i]
	}
	return Account{Name: name}
}

// Accounts returns copies of all accounts in order of name.
func (l *Ledger[K]) Accounts() []Account {
	list := slices.Clone(l.accounts)
	slices.SortFunc(list, func(a, b Account) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

// MaxTurnover is the largest sum to which new transfers may bring one side of an account,
// pending ones included: a quarter of what its sums can hold. The rest is room for refunds,
// which never exceed the payments, and for what is paid on top of refunds, which must keep
// within Room too.
const MaxTurnover = MaxCredits / 4

// Room is the largest new transfer between two accounts that keeps both within MaxTurnover.
// Callers must check amounts from outside against Room and refuse any that exceed it.
func (l *Ledger[K]) Room(from, to string) Credits {
	a, b := l.Account(from), l.Account(to)
	return max(0, MaxTurnover-max(a.Debit.Plus(a.PendingDebit), b.Credit.Plus(b.PendingCredit)))
}

// fits reports whether the sums of both accounts can hold a transfer.
func (l *Ledger[K]) fits(t Transfer) bool {
	a, b := l.Account(t.From), l.Account(t.To)
	return t.Amount >= 0 && a.Debit.Plus(a.PendingDebit).Plus(t.Amount) < MaxCredits && b.Credit.Plus(b.PendingCredit).Plus(t.Amount) < MaxCredits
}

// Reserve makes a transfer pending under key. The caller must have checked that the amount
// is available and that there is Room. Reserve panics if the key is in use, the amount is
// negative, or a sum does not fit.
func (l *Ledger[K]) Reserve(key K, t Transfer) {
	if _, dup := l.pending[key]; dup || !l.fits(t) {
		panic(fmt.Sprintf("ledger: cannot reserve %v as %v: key in use %t", t, key, dup))
	}
	if l.pending == nil {
		l.pending = map[K]Transfer{}
	}
	l.pending[key] = t
	l.account(t.From).PendingDebit += t.Amount
	l.account(t.To).PendingCredit += t.Amount
}

// Shrink lowers a pending amount. It panics if that would raise it.
func (l *Ledger[K]) Shrink(key K, amount Credits) {
	t, ok := l.pending[key]
	if !ok || amount < 0 || amount > t.Amount {
		panic(fmt.Sprintf("ledger: cannot shrink %v (%v) to %v", key, t, amount))
	}
	l.account(t.From).PendingDebit -= t.Amount - amount
	l.account(t.To).PendingCredit -= t.Amount - amount
	t.Amount = amount
	l.pending[key] = t
}

// Post makes a pending transfer final and returns it.
func (l *Ledger[K]) Post(key K) Transfer {
	t := l.Void(key)
	l.Pay(t)
	return t
}

// Void drops a pending transfer and returns it. It panics if key is not pending: nothing is
// posted or voided twice.
func (l *Ledger[K]) Void(key K) Transfer {
	t, ok := l.pending[key]
	if !ok {
		panic(fmt.Sprintf("ledger: nothing pending as %v", key))
	}
	delete(l.pending, key)
	l.account(t.From).PendingDebit -= t.Amount
	l.account(t.To).PendingCredit -= t.Amount
	return t
}

// Pay posts a transfer at once. The caller must have checked that there is Room, unless it
// gives back what was paid.
func (l *Ledger[K]) Pay(t Transfer) {
	if !l.fits(t) {
		panic(fmt.Sprintf("ledger: cannot post %v", t))
	}
	l.account(t.From).Debit += t.Amount
	l.account(t.To).Credit += t.Amount
}

// Pending returns the transfer that is pending under key.
func (l *Ledger[K]) Pending(key K) (Transfer, bool) {
	t, ok := l.pending[key]
	return t, ok
}

// Load sets the posted sums to those of a list of accounts, and opens accounts that do not
// exist. A ledger can so continue an earlier one. The caller must reserve again what was
// pending.
func (l *Ledger[K]) Load(list []Account) {
	for _, a := range list {
		x := l.account(a.Name)
		x.Debit, x.Credit = a.Debit, a.Credit
	}
}

// Check returns an error unless the ledger balances: debits equal credits,
// posted and pending, and the pending transfers explain the pending sums.
func (l *Ledger[K]) Check() error {
	sum := Total(l.accounts)
	var open Credits
	for _, t := range l.pending {
		open += t.Amount
	}
	if sum.Debit != sum.Credit || sum.PendingDebit != open || sum.PendingCredit != open {
		return fmt.Errorf("ledger does not balance: posted %v against %v, pending %v against %v, open transfers %v",
			sum.Debit, sum.Credit, sum.PendingDebit, sum.PendingCredit, open)
	}
	return nil
}
