package web

import (
	"context"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// moneyed is a broker's API with statements from what the broker has recorded.
func moneyed(t *testing.T, change ...func(*broker.Config)) (*worldHost, *Server) {
	var cfg broker.Config
	h := world(t, append(change, func(c *broker.Config) { cfg = *c })...)
	return h, brokerAPI(t, h, func(o *Options) {
		o.Statements = func(_ context.Context, each func(broker.Move)) error {
			s := broker.NewStatement(cfg, each)
			for _, r := range h.journal {
				s.Replay(r.at, r.fact)
			}
			return nil
		}
	})
}

func TestDeposit_OperatorsPayInOnceForEachKey(t *testing.T) {
	t.Parallel()
	_, s := moneyed(t)
	d := api.Deposit{Key: "d-1", Credits: api.Credits{Credits: 500 * grid.Credit}, Note: "second half-year"}
	other := d
	other.Credits.Credits++
	for _, c := range []struct {
		who  string
		body any
		want int
		says string
	}{
		{ana, d, 403, "only an operator"},
		{olga, d, 200, ""},
		{olga, d, 200, ""},
		{olga, other, 409, "was of 500 credits, not of 500.000001"},
		{olga, api.Deposit{Key: "d-2"}, 422, "must be above 0"},
		{olga, api.Deposit{Key: "d-2", Credits: api.Credits{Credits: grid.MaxBudget}}, 422, "10500 were paid in so far, and all together must be at most 1000000000000"},
		{olga, `{"key": "d-2", "credits": -5}`, 422, ""},
		{olga, `{"key": "d-2", "credits": "NaN"}`, 422, ""},
		{olga, `{"key": "", "credits": 5}`, 422, ""},
	} {
		var p struct{ Detail string }
		if code := call(t, s, c.who, "POST", "/v1/accounts/deposits", c.body, &p); code != c.want || !strings.Contains(p.Detail, c.says) {
			t.Errorf("%s %+v: %d %s, want %d %q", c.who, c.body, code, p.Detail, c.want, c.says)
		}
	}
	var a api.Accounts
	if call(t, s, olga, "GET", "/v1/accounts", nil, &a); a.Money.Budget.Credits != 10_500*grid.Credit || a.Money.Left.Credits != 10_500*grid.Credit {
		t.Errorf("%+v", a.Money)
	}
	if a.Money.Pace != nil {
		t.Errorf("a broker that minimises the finish has a pace: %+v", a.Money.Pace)
	}
}

func TestAccounts_SayWhatACreditWeighsAndWhy(t *testing.T) {
	t.Parallel()
	h, s := moneyed(t, func(c *broker.Config) {
		c.Minimize, c.BudgetUntil, c.Budget = grid.GoalValue, 100*grid.Minute, 5*grid.Credit
	})
	submit(t, s, ben, wave("batch-0001"))
	h.pass(2 * grid.Minute)
	b := wave("batch-0002")
	b.Jobs[0].Name = "tide"
	submit(t, s, ben, b) // a cycle closes when most of the budget is used
	h.pass(grid.Minute)
	var a api.Accounts
	call(t, s, olga, "GET", "/v1/accounts", nil, &a)
	if p := a.Money.Pace; p == nil || p.For.Credits != 5*grid.Credit || p.Used.Credits != 4*grid.Credit || p.Foreseen == nil ||
		p.Weight.Credits <= grid.Credit || !strings.Contains(p.Words, " of 5 credits by 2027-01-15T09:40:00Z: a credit weighs ") {
		t.Errorf("%+v", a.Money.Pace)
	}
	a = api.Accounts{}
	if call(t, s, ben, "GET", "/v1/accounts", nil, &a); a.Money != nil {
		t.Error("a user sees the VO's money")
	}
}

func TestStatement_ListsWhatMovedMoneyInOrder(t *testing.T) {
	t.Parallel()
	h, s := moneyed(t)
	h.pass(grid.Second)
	submit(t, s, ana, wave("batch-0001"))
	submit(t, s, ben, wave("batch-0001"))
	h.pass(grid.Second)
	call(t, s, olga, "POST", "/v1/accounts/deposits", api.Deposit{Key: "d", Credits: api.Credits{Credits: 500 * grid.Credit}, Note: "more"}, nil)
	h.pass(grid.Second)
	var jobs api.JobList
	call(t, s, ana, "GET", "/v1/jobs", nil, &jobs)
	if code := call(t, s, ana, "DELETE", "/v1/jobs/"+jobs.Jobs[0].ID, nil, nil); code != 200 && code != 202 {
		t.Fatalf("to give it up: %d", code)
	}
	h.pass(grid.Minute)
	list := func(who, query string) (st api.Statement) {
		if code := call(t, s, who, "GET", "/v1/accounts/statement"+query, nil, &st); code != 200 {
			t.Fatalf("%s %s: %d", who, query, code)
		}
		return st
	}
	text := func(st api.Statement) string {
		var b strings.Builder
		for _, l := range st.Lines {
			b.WriteString(strings.Join([]string{l.What, l.User, l.Site, l.Amount.String(), l.Balance.String(), l.Note}, " ") + "\n")
		}
		return b.String()
	}
	all := list(olga, "")
	if all.Since.Time().UnixMilli() != int64(zero) || all.More {
		t.Errorf("complete since %v, more %t", all.Since, all.More)
	}
	want := "budget   10000 10000 \npayment ana north -4 9996 \npayment ben south -4 9992 \ndeposit   500 10492 more\nrefund ana north 4 10496 \n"
	if got := text(all); strings.NewReplacer("south", "x", "north", "x").Replace(got) != strings.NewReplacer("south", "x", "north", "x").Replace(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	var a api.Accounts
	if call(t, s, olga, "GET", "/v1/accounts", nil, &a); a.Money.Left.Credits != all.Lines[len(all.Lines)-1].Balance.Credits {
		t.Errorf("the last balance is not what is left, %v", a.Money.Left)
	}
	if own := list(ana, ""); len(own.Lines) != 2 || own.User != "ana" || own.Lines[0].Balance.Credits != -4*grid.Credit || own.Lines[1].Balance.Credits != 0 {
		t.Errorf("ana's own:\n%s", text(own))
	}
	at := all.Lines[3].At.String()
	if got := text(list(olga, "?from="+at)); !strings.HasPrefix(got, "deposit   500 10492 more\n") {
		t.Errorf("from the deposit on:\n%s", got)
	}
	if got := list(olga, "?user=ben&to="+at); len(got.Lines) != 1 {
		t.Errorf("ben's before the deposit:\n%s", text(got))
	}
	for query, code := range map[string]int{"?user=ben": 403, "?from=soon": 422} {
		if got := call(t, s, ana, "GET", "/v1/accounts/statement"+query, nil, nil); got != code {
			t.Errorf("%s: %d, want %d", query, got, code)
		}
	}
	if code := call(t, brokerAPI(t, h), olga, "GET", "/v1/accounts/statement", nil, nil); code != 501 {
		t.Errorf("without a journal: %d", code)
	}
}
