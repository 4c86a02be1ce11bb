package backfill

import (
	"strings"
	"testing"
)

func TestParsePolicy_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=7", "easy-sjbf", "easy-fair-sjbf", "fcfs-fair", "reserve=7-fair"} {
		p, err := ParsePolicy(name)
		if err != nil || p.String() != name {
			t.Errorf("ParsePolicy(%q) = %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "EASY", "reserve=", "reserve=-1", "reserve=x", "reserve=99999999999", "conservative-fair", "fcfs-sjbf", "reserve=2-sjbf", "easy-sjbf-fair", "easy-", "-fair"} {
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
	for order := ByArrival; orders.Known(order); order++ {
		for filling := Nothing; fillings.Known(filling); filling++ {
			for _, reserve := range []int{0, 1, 2, 100, All} {
				p := Policy{order, reserve, filling}
				got, err := ParsePolicy(p.String())
				if p.Check() != nil {
					if err == nil && got == p {
						t.Errorf("%+v is read from %q, though %v", p, p, p.Check())
					}
					continue
				}
				if err != nil || got != p || legal[p.String()] {
					t.Errorf("%+v has the name %q, which is read as %+v, %v", p, p, got, err)
				}
				legal[p.String()] = true
			}
		}
	}
	for _, name := range []string{"fcfs", "first-fit", "easy", "reserve=2", "reserve=100", "conservative", "fcfs-fair", "easy-fair", "reserve=100-fair", "easy-sjbf", "easy-fair-sjbf"} {
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
		"reserve=2-sjbf":    "must be easy-sjbf",
		"esay":              `policy "esay" is unknown; must be fcfs, easy, easy-fair, `,
	} {
		if _, err := ParsePolicy(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if _, err := ParsePriced("easy-sjbf"); err == nil || !strings.Contains(err.Error(), "is for replays alone") {
		t.Errorf("a site may have easy-sjbf, which its prices do not know: %v", err)
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=1", "reserve=+2", "reserve=1073741824", "easy-sjbf", "easy-fair-sjbf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePolicy(s)
		if err != nil {
			return
		}
		if again, err := ParsePolicy(p.String()); err != nil || again != p {
			t.Errorf("%q reads as %+v, its name %q as %+v, %v", s, p, p, again, err)
		}
	})
}
