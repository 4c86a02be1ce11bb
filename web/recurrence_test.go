package web

import (
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

func TestRecurrence_IsAskedForByItsCountOrItsEnd(t *testing.T) {
	t.Parallel()
	const job = `{"name": "nightly", "nodes": 1, "length": 60, "maxPrice": 1, `
	for text, want := range map[string]string{
		`"every": 86400, "count": 10}`:                            "0-9",
		`"every": 86400, "until": "10d"}`:                         "0-9",
		`"every": 86400, "ready": "1d", "until": "10d"}`:          "0-8",
		`"every": 3600, "until": "1970-01-01T02:00:00.001Z"}`:     "0-2",
		`"every": 86400, "count": 3, "allOrNothing": true}`:       "",
		`"every": 86400, "count": 3, "minPerformance": 0.5}`:      "0-2",
		`"every": 86400, "count": 3, "after": ["prep-abcdefgh"]}`: "0-2",
	} {
		j, key, err := requested(t, job+text).Job(0)
		if err != nil || j.Array.String() != want || j.Composed() != (want == "") {
			t.Errorf("%s: %s: %v: %v", text, key, err, j.Array)
		}
		if j.Composed() && j.MinPerformance != grid.Unit {
			t.Errorf("%s: performance %v", text, j.MinPerformance)
		}
	}
	for text, want := range map[string]string{
		`"every": 86400}`:       "every: needs count",
		`"count": 3}`:           "count: needs every",
		`"until": "3d"}`:        "until: needs every",
		`"allOrNothing": true}`: "allOrNothing: needs every",
		`"every": 86400, "count": 3, "until": "3d"}`:        "until: stands beside count",
		`"every": 86400, "until": "1d"}`:                    "until: 1 windows; must be 2 to 1000",
		`"every": 60, "until": "30d"}`:                      "until: more than 1000 windows",
		`"every": 86400, "until": "soon"}`:                  "until: \"soon\"",
		`"every": 30, "count": 3}`:                          "every: 30s: must be 1m to 366d",
		`"every": 86400, "count": 3, "array": "0-3"}`:       "every: stands beside array",
		`"every": 86400, "count": 9, "allOrNothing": true}`: "count: 9 windows, and all or nothing is for at most 8",
	} {
		if _, key, err := requested(t, job+text).Job(0); err == nil || !strings.HasPrefix(key+": "+err.Error(), want) {
			t.Errorf("%s: %s: %v; want %s", text, key, err, want)
		}
	}
}
