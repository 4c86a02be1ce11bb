package grid

import (
	"strings"
	"testing"
)

func TestUrgency_ReadsCreditsAnHourAndSharesOfTheBudget(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		text string
		want Credits // of a budget of 200
	}{
		{"10", 10 * Credit}, {"10.5", 10_500_000}, {"0", 0}, {"0%", 0}, {"5%", 10 * Credit}, {"0.0001%", 200},
		{"1000%", 2000 * Credit}, {"1e9", MaxUrgency},
	} {
		u, err := ParseUrgency(x.text)
		if err != nil || u.Of(200*Credit) != x.want || u == 0 {
			t.Errorf("%s: %v of a budget of 200, %v; want %v", x.text, u.Of(200*Credit), err, x.want)
		}
		if again, err := ParseUrgency(u.String()); err != nil || again != u {
			t.Errorf("%s is written %q and read as %v, %v", x.text, u, again, err)
		}
	}
	for _, bad := range []string{"-1", "1000000001", "1e300", "NaN", "", "soon", "-1%", "1001%", "%", "Inf"} {
		if u, err := ParseUrgency(bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%q is read as %v, %v", bad, u, err)
		}
	}
	for u, sound := range map[Urgency]bool{0: true, Hourly(MaxUrgency): true, Hourly(MaxUrgency) + 1: false, -10_000_001: true, -10_000_002: false} {
		if u.Sound() != sound {
			t.Errorf("%d is sound: %t", int64(u), !sound)
		}
	}
	if got := Urgency(0).Else(Hourly(3 * Credit)).Of(0); got != 3*Credit {
		t.Errorf("what is not given is %v", got)
	}
	if got := Hourly(0).Else(Hourly(3 * Credit)).Of(0); got != 0 {
		t.Errorf("0 given is %v", got)
	}
	if got := ParseMust(t, "1000%").Of(MaxBudget); got != MaxUrgency {
		t.Errorf("ten times the greatest budget is %v an hour, want the bound", got)
	}
}

// ParseMust reads an urgency that is right.
func ParseMust(t *testing.T, s string) Urgency {
	u, err := ParseUrgency(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}
