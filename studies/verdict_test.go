package studies

import "testing"

func TestVerdict_AFigureOutsideTheIntervalDiffersBySoMuch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean, half, paper float64
		want              string
	}{
		{63.3, 0.2, 63.4, "agrees"},
		{50.2, 1.1, 46.8, "differs by +7.3 %"},
		{45.0, 1.0, 50.0, "differs by -10.0 %"},
		{0.5, 0.1, 0, "differs by +0.5"},
	} {
		if got := distance(c.mean, c.half, c.paper); got != c.want {
			t.Errorf("%v ± %v beside %v: %q, want %q", c.mean, c.half, c.paper, got, c.want)
		}
	}
}
