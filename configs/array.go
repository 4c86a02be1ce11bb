package configs

import (
	"fmt"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// indicesKind is the kind of array's key: "7" is the element 7 on a command line, too.
const indicesKind = "indices in a string"

// arrayKey is the key that makes a job an array.
func (j *Job) arrayKey() keys.Key {
	what := keys.About{Kind: indicesKind, Limits: fmt.Sprintf("1..%d elements, such as \"0-99\", \"1,3,5-9\" or \"0-99%%10\"", grid.MaxElements)}
	return keys.Custom("array", what, func(t *keys.Table, key string) {
		if !t.Has(key) {
			return
		}
		text := t.Text(key, "")
		if !t.Clean(key) {
			return
		}
		var err error
		if j.Array, err = grid.ParseArray(text); err != nil {
			t.Wrong(key, "%v", err)
		} else if j.Fails > 0 {
			t.Wrong(key, "stands beside fails, which is drawn once for a job; write the jobs one by one")
		}
	}, "makes it an array of jobs that differ in BOURSE_ARRAY_INDEX alone, and after % how many may be in play at once; the budget is that of each").ByDefault("it is one job")
}

// unlike reports whether one job is no array of the indices of the other.
func unlike(a, b *Job) bool { return !a.Array.Some() || elements(a) != elements(b) }

// elements are a job's indices, in words.
func elements(j *Job) string {
	if !j.Array.Some() {
		return "none"
	}
	return j.Array.Indices.String()
}
