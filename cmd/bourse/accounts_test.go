package main

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

func TestAccounts_ADepositIsPaidInOnceAndStandsInTheStatement(t *testing.T) {
	t.Parallel()
	f := newFederation(t)
	f.file(t, "two.toml", twoJobs)
	if out, _, err := f.run("submit", "DIR/two.toml", "--wait"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := accountsOf(t, f)
	for range 2 {
		out, _, err := f.run("accounts", "deposit", "500.25", "--note", "second half-year", "--key", "d-1")
		if err != nil || !strings.Contains(out, "VO vo1") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	if got := accountsOf(t, f).Money.Budget.Credits; got != before.Money.Budget.Credits+500_250_000 {
		t.Errorf("%v credits are paid in, want 500.25 more than %v", got, before.Money.Budget)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"accounts deposit 0", 2, "must be above 0"},
		{"accounts deposit NaN", 2, `amount "NaN"`},
		{"accounts deposit 1000000000001", 2, "outside 0..1000000000000 credits"},
		{"accounts deposit 1000000000000", 2, "all together must be at most 1000000000000"},
		{"accounts deposit 7 --key d-1", 1, "was of 500.25 credits, not of 7"},
		{"accounts statement --from soon", 2, `--from "soon"`},
		{"accounts statement --from 2026-03-02T00:00:00Z --to 2026-03-01T00:00:00Z", 2, "is not after"},
	} {
		if _, _, err := f.run(strings.Fields(c.args)...); exitCode(err) != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: exit %d, %v; want %d, %q", c.args, exitCode(err), err, c.code, c.says)
		}
	}
	out, _, err := f.run("accounts", "statement")
	for _, want := range []string{"budget", "payment", "deposit", "+500.25", "second half-year", "Complete since"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("statement: %v, want %q in\n%s", err, want, out)
		}
	}
	var s api.Statement
	if out, _, err = f.run("accounts", "statement", "--json"); err != nil || json.Unmarshal([]byte(out), &s) != nil || len(s.Lines) < 4 {
		t.Fatalf("statement --json: %v, %s", err, out)
	}
	var sum grid.Credits
	for _, l := range s.Lines {
		if sum += l.Amount.Credits; sum != l.Balance.Credits {
			t.Errorf("the lines add up to %v, not to the balance of %+v", sum, l)
		}
	}
	a := accountsOf(t, f)
	if want := a.Money.Budget.Credits - a.Money.Spent.Credits; sum != want {
		t.Errorf("the statement ends with %v, the account has %v", sum, want)
	}
	out, _, err = f.run("accounts", "statement", "--csv")
	if rows, bad := csv.NewReader(strings.NewReader(out)).ReadAll(); err != nil || bad != nil || len(rows) != len(s.Lines)+1 || rows[0][1] != "what" {
		t.Errorf("statement --csv: %v %v\n%s", err, bad, out)
	}
}

func accountsOf(t *testing.T, f *servedFederation) (a api.Accounts) {
	t.Helper()
	out, _, err := f.run("accounts", "--json")
	if err != nil || json.Unmarshal([]byte(out), &a) != nil {
		t.Fatalf("accounts: %v, %s", err, out)
	}
	return a
}
