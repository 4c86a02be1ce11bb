package grid

import "testing"

func TestCount(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"0 jobs": Count(0, "job"), "1 job": Count(1, "job"), "2 jobs": Count(2, "job"), "-1 jobs": Count(-1, "job"),
		"1 more leg": Count(1, "more leg"), "1 job was": Count(1, "job was", "jobs were"), "3 jobs were": Count(3, "job was", "jobs were"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
