package grid

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCurve_ReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := Time(rapid.Int64Range(-int64(MaxTime), int64(MaxTime)).Draw(t, "at"))
		var p Profile
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			p = append(p, Step{at, rapid.IntRange(-5, 1000).Draw(t, "free")})
			at = at.Add(Duration(rapid.Int64Range(1, int64(Day)).Draw(t, "later")))
		}
		q, err := p.Curve().Profile()
		if err != nil || !slices.Equal(p, q) {
			t.Fatalf("%v is %q, and reads back as %v, %v", p, p.Curve(), q, err)
		}
	})
	if c := (Profile{{0, 128}, {3_600_000, 124}, {10_800_000, 128}}).Curve(); c != "0:128 3600000:124 7200000:128" {
		t.Errorf("curve %q", c)
	}
}

func TestCurve_RefusesWhatIsNoProfile(t *testing.T) {
	t.Parallel()
	for _, text := range []Curve{"x", "1", "1:", ":1", "1:2 ", "1:2 0:3", "1:2 -5:3", "9999999999999999999:1", "1:2  3:4"} {
		if p, err := text.Profile(); err == nil {
			t.Errorf("%q is read as %v", text, p)
		}
	}
}

// A curve that was read is in order, and can be read again after it was written.
func FuzzCurve(f *testing.F) {
	for _, text := range []string{"", "0:1", "-5:3 5:4", "1152921504606846976:1 1:2"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Curve(text).Profile()
		if err != nil {
			return
		}
		for i := range p {
			if i > 0 && p[i].At <= p[i-1].At || p[i].At > Never {
				t.Fatalf("%q is read as %v", text, p)
			}
		}
		if q, err := p.Curve().Profile(); err != nil || !slices.Equal(p, q) {
			t.Fatalf("%v reads back as %v, %v", p, q, err)
		}
	})
}
