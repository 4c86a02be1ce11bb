package supervisor

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// A supervisor and its site read each other's times, and those of sites of earlier builds.
func TestTime_IsWrittenAndReadAsTheSiteDoes(t *testing.T) {
	t.Parallel()
	for _, ms := range []int64{0, 1, 999, 1000, 1500, -1, -1500, 1795788918943} {
		mine, err := json.Marshal(Time(ms))
		if err != nil {
			t.Fatal(err)
		}
		sites, err := json.Marshal(grid.Time(ms))
		if err != nil {
			t.Fatal(err)
		}
		var a Time
		var b grid.Time
		if err := json.Unmarshal(sites, &a); err != nil || int64(a) != ms {
			t.Errorf("%s is read as %d: %v", sites, a, err)
		}
		if err := json.Unmarshal(mine, &b); err != nil || int64(b) != ms {
			t.Errorf("%s is read by a site as %d: %v", mine, b, err)
		}
	}
	var a Time
	if err := json.Unmarshal([]byte("null"), &a); err != nil || a != math.MaxInt64 {
		t.Errorf("null is read as %d: %v", a, err)
	}
	for _, bad := range []string{`"1"`, "1.2345", "1e3", "1.-5", "99999999999999999"} {
		if err := json.Unmarshal([]byte(bad), &a); err == nil {
			t.Errorf("%s is read as %d", bad, a)
		}
	}
}
