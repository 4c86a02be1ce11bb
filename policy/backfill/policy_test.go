package backfill

import "testing"

func TestParsePolicy_ReadsWhatStringWrites(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=7"} {
		p, err := ParsePolicy(name)
		if err != nil || p.String() != name {
			t.Errorf("ParsePolicy(%q) = %v, %v", name, p, err)
		}
	}
	for _, name := range []string{"", "EASY", "reserve=", "reserve=-1", "reserve=x", "reserve=99999999999"} {
		if _, err := ParsePolicy(name); err == nil {
			t.Errorf("ParsePolicy(%q) gave no error", name)
		}
	}
}

func FuzzParsePolicy(f *testing.F) {
	for _, s := range []string{"fcfs", "first-fit", "easy", "easy-fair", "conservative", "reserve=1", "reserve=+2", "reserve=1073741824"} {
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
