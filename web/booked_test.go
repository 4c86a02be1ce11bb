package web

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// The refund that a cancellation announces is what the statement books from then on. The amount
// that a job shows as booked is the sum of its lines in the statement, whatever was changed before,
// and however late.
func TestBooked_TheFigureOfAnAnswerIsThatOfTheStatementAndOfTheJob(t *testing.T) {
	t.Parallel()
	flexible, shorter, longer := api.Modification{}, api.Modification{}, api.Modification{}
	flexible.Flexible = &api.Seconds{Duration: 2 * grid.Hour}
	shorter.Length = &api.Seconds{Duration: 30 * grid.Minute}
	longer.Length = &api.Seconds{Duration: 3 * grid.Hour}
	wide, narrow := 24, 2
	larger, smaller, later := api.Modification{Nodes: &wide}, api.Modification{Nodes: &narrow}, api.Modification{Ready: "20h"}
	for name, changes := range map[string][]api.Modification{
		"cancel":                         nil,
		"shorter":                        {shorter},
		"longer":                         {longer},
		"over two sites":                 {larger},
		"smaller, longer":                {smaller, longer},
		"longer, shorter":                {longer, shorter},
		"later, over two sites, smaller": {later, larger, smaller},
		"over two sites, later, shorter": {larger, later, shorter},
		"more choice, less, longer":      {flexible, {Freedom: api.Freedom{Flexible: &api.Seconds{}}}, longer},
	} {
		for _, pause := range []grid.Duration{grid.Second, 4 * grid.Hour} {
			t.Run(fmt.Sprint(name, ", ", pause.Words(), " between"), func(t *testing.T) {
				t.Parallel()
				h, s := moneyed(t, func(c *broker.Config) { c.Quotas = nil })
				b := wave("batch-0001")
				b.Jobs[0].Ready, b.Jobs[0].Deadline, b.Jobs[0].Budget = spelled[api.Moment]("18h"), spelled[api.Moment]("3d"), &api.Credits{Credits: 500 * grid.Credit}
				id := submit(t, s, ana, b).Jobs[0].ID
				h.pass(grid.Minute)
				agree(t, s, id, 0)
				for i, m := range changes {
					h.pass(pause)
					if code := call(t, s, ana, "PATCH", "/v1/jobs/"+id, m, nil); code != 200 {
						t.Fatalf("change %d: %d", i, code)
					}
					agree(t, s, id, 0)
				}
				h.pass(pause)
				before := len(statementOf(t, s))
				var c api.Cancelled
				if code := call(t, s, ana, "DELETE", "/v1/jobs/"+id, nil, &c); code != 200 || c.Refund == nil || c.Back == nil || c.Paid == nil {
					t.Fatalf("cancel: %d %+v", code, c)
				}
				j := agree(t, s, id, before)
				if c.Refund.Credits != j.since || c.Back.Credits != j.back || c.Paid.Credits != j.paid {
					t.Errorf("the answer promises %v, of %v paid %v back; the statement has %v since, of %v paid %v back", c.Refund, c.Paid, c.Back, j.since, j.paid, j.back)
				}
			})
		}
	}
}

type sums struct{ paid, back, since grid.Credits }

// agree compares what a job shows with its statement, and adds up the refunds from a line
// on.
func agree(t *testing.T, s *Server, id string, from int) (x sums) {
	t.Helper()
	lines := statementOf(t, s)
	for i, l := range lines {
		switch {
		case l.Job != id:
		case l.Amount.Credits < 0:
			x.paid -= l.Amount.Credits
		default:
			x.back += l.Amount.Credits
			if i >= from {
				x.since += l.Amount.Credits
			}
		}
	}
	var j api.Job
	call(t, s, ana, "GET", "/v1/jobs/"+id, nil, &j)
	if j.Paid == nil || j.Back == nil || j.Paid.Credits != x.paid || j.Back.Credits != x.back {
		t.Errorf("the job shows %v paid and %v back, the statement %v and %v", j.Paid, j.Back, x.paid, x.back)
	}
	if j.Cost != nil && j.Cost.Credits > x.paid {
		t.Errorf("a window of %v credits, and %v are paid", j.Cost, x.paid)
	}
	var a api.Accounts
	call(t, s, olga, "GET", "/v1/accounts", nil, &a)
	if spent := a.Money.Spent.Credits; spent != x.paid-x.back {
		t.Errorf("%v are spent, the statement says %v", spent, x.paid-x.back)
	}
	return x
}

func statementOf(t *testing.T, s *Server) []api.Move {
	t.Helper()
	var list api.Statement
	if code := call(t, s, olga, "GET", "/v1/accounts/statement", nil, &list); code != 200 || list.More {
		t.Fatalf("%d, more %t", code, list.More)
	}
	return list.Lines
}
