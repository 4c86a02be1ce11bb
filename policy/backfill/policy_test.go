package backfill

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/policy/formula"
)

func TestParsePolicy_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=7", "easy-sjbf", "easy-fair-sjbf", "fcfs-fair", "reserve=7-fair", "reserve=2-sjbf", "first-fit-sjbf",
		"easy order=wfp3", "fcfs order=estimate * nodes", "reserve=4 order=saf backfill_order=estimate", "first-fit backfill_order=-wait", "easy order=usage backfill_order=nodes", "easy order=wfp3 backfill_order=predicted"} {
		p, err := ParsePolicy(name)
		if err != nil || p.String() != name {
			t.Errorf("ParsePolicy(%q) = %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "EASY", "reserve=", "reserve=-1", "reserve=x", "reserve=99999999999", "conservative-fair", "fcfs-sjbf", "conservative-sjbf", "easy-sjbf-fair", "easy-", "-fair", "easy order=", "easy order=waits", "easy-fair order=wfp3", "conservative order=fcfs", "fcfs backfill_order=nodes", "easy-formula", "easy backfill_order=nodes order=nodes"} {
		if _, err := ParsePolicy(name); err == nil {
			t.Errorf("ParsePolicy(%q) gave no error", name)
		}
	}
}

// Whatever three choices go together have a name of their own, and no others are read or
// served.
func TestPolicy_EveryLegalCombinationHasAName(t *testing.T) {
	t.Parallel()
	legal := map[string]bool{}
	by, err := formula.Parse("estimate * nodes")
	if err != nil {
		t.Fatal(err)
	}
	for order := ByArrival; orders.Known(order); order++ {
		for filling := Nothing; fillings.Known(filling); filling++ {
			for _, reserve := range []int{0, 1, 2, 100, All} {
				p := Policy{Order: order, Reserve: reserve, Filling: filling}
				if orders.Is(order).formula {
					p.By = by
				}
				if fillings.Is(filling).formula {
					p.FillBy = by
				}
				got, err := ParsePolicy(p.String())
				if p.Check() != nil {
					if err == nil && got == p {
						t.Errorf("%+v is read from %q, though %v", p, p, p.Check())
					}
					continue
				}
				if p.By != nil && got.By != nil {
					got.By = by
				}
				if p.FillBy != nil && got.FillBy != nil {
					got.FillBy = by
				}
				if err != nil || got != p || legal[p.String()] {
					t.Errorf("%+v has the name %q, which is read as %+v, %v", p, p, got, err)
				}
				legal[p.String()] = true
			}
		}
	}
	for _, name := range []string{"fcfs", "first-fit", "easy", "reserve=2", "reserve=100", "conservative", "fcfs-fair", "easy-fair", "reserve=100-fair", "easy-sjbf", "easy-fair-sjbf", "reserve=2-sjbf", "first-fit-fair-sjbf", "easy order=estimate * nodes backfill_order=predicted"} {
		if !legal[name] {
			t.Errorf("%s is no legal combination", name)
		}
	}
}

func TestParsePolicy_SaysWhatDoesNotGoTogether(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"conservative-fair": "guarantees must not change with the order of the queue; leave -fair out",
		"fcfs-sjbf":         "under fcfs nothing overtakes; leave -sjbf out",
		"conservative-sjbf": "guarantees must not change with the order of backfilling; leave -sjbf out",
		"esay":              `policy "esay" is unknown; must be fcfs, easy, easy-fair, `,
	} {
		if _, err := ParsePolicy(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestOrdered_SaysWhatDoesNotGoTogether(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ policy, order, fill, want string }{
		{"easy", "nodes+waits", "", `order: column 7: "waits" is unknown; variables are wait, `},
		{"easy", "", "nodes+waits", `backfill_order: column 7: "waits" is unknown; variables are wait, `},
		{"conservative", "fcfs", "", "order: with policy conservative it would change guarantees; use reserve=K"},
		{"conservative", "", "nodes", "backfill_order: with policy conservative it would change guarantees; use reserve=K"},
		{"easy-fair", "wfp3", "", "order: policy easy-fair has an order of its own; use easy"},
		{"easy-sjbf", "wfp3", "", "order: policy easy-sjbf has an order of its own; use easy"},
		{"reserve=3-fair", "", "nodes", "backfill_order: policy reserve=3-fair has an order of its own; use reserve=3"},
		{"fcfs", "", "nodes", "backfill_order: under policy fcfs nothing overtakes; use easy"},
	} {
		p, err := ParsePolicy(x.policy)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Ordered(x.order, x.fill); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

// A formula equal to a named policy is that policy.
func TestOrdered_KnowsItsTwins(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		order, fill string
		want        Policy
	}{{"fcfs", "", EASY}, {"submit", "", EASY}, {"usage", "", EASYFair}, {"", "predicted", EASYShortest}, {"", "", EASY}} {
		if got, err := EASY.Ordered(x.order, x.fill); err != nil || got != x.want {
			t.Errorf("%+v: %v, %v", x, got, err)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=1", "reserve=+2", "reserve=1073741824", "easy-sjbf", "easy-fair-sjbf", "easy order=wfp3", "first-fit order=nodes backfill_order=-wait"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePolicy(s)
		if err != nil {
			return
		}
		if again, err := ParsePolicy(p.String()); err != nil || again.String() != p.String() || again.plain() != p.plain() {
			t.Errorf("%q reads as %+v, its name %q as %+v, %v", s, p, p, again, err)
		}
	})
}
