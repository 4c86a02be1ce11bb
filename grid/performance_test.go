package grid

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

func TestRuntime_RoundsUpToTheMillisecond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p      Performance
		length Duration
		want   Duration
	}{{Unit, 80 * Second, 80 * Second}, {2 * Unit, 3, 2}, {3 * Unit, 10, 4}, {Unit / 2, 3, 6}, {1500, 1, 1}, {1001, 1001, 1000}, {1001, 1002, 1001}, {Unit, 0, 0}} {
		if got := c.p.Runtime(c.length); got != c.want {
			t.Errorf("%d ms of work at performance %v take %d ms, want %d", c.length, c.p, got, c.want)
		}
	}
}

// The runtime is the least whole number of milliseconds in which the work is
// done, so a faster node is never slower and no part ends too early.
func TestRuntime_IsTheLeastThatDoesTheWork(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		p := Performance(rapid.Int64Range(1, int64(MaxPerformance)).Draw(t, "p"))
		length := Duration(rapid.Int64Range(1, int64(MaxDuration)).Draw(t, "length"))
		rt := p.Runtime(length)
		done := func(d Duration) bool { return int64(d)*int64(p) >= int64(length)*int64(Unit) }
		// At most 10^16 ms x 10^6: kept in 64 bits by short work on slow nodes.
		if int64(rt) < 1<<43 && (!done(rt) || done(rt-1)) {
			t.Fatalf("%d ms of work at %v take %d ms", length, p, rt)
		}
		if (p + 1).Runtime(length) > rt {
			t.Fatalf("faster than %v takes longer than %d ms", p, rt)
		}
	})
}

func TestPerformance_IsReadWithinItsBounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Performance{"1": Unit, "1.5": 1500, "0.001": 1, "0.0005": 1, "1000": MaxPerformance} {
		if got, err := ParsePerformance(text); err != nil || got != want {
			t.Errorf("ParsePerformance(%q) = %d, %v; want %d", text, got, err, want)
		}
		var back Performance
		b, err := json.Marshal(want)
		if err == nil {
			err = json.Unmarshal(b, &back)
		}
		if err != nil || back != want {
			t.Errorf("%v is written %s and read as %v, %v", want, b, back, err)
		}
	}
	for _, text := range []string{"", "0", "0.0004", "-1", "1000.001", "fast", "NaN"} {
		if got, err := ParsePerformance(text); err == nil {
			t.Errorf("ParsePerformance(%q) = %v, want an error", text, got)
		}
	}
}
