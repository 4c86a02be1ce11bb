package simulation

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
)

// A larger share adds failures and moves none; the others keep what they take.
func TestFail_ALargerShareAddsFailuresAndMovesNone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		few := configs.Thousandths(rapid.Int64Range(0, 1000).Draw(t, "few"))
		many := configs.Thousandths(rapid.Int64Range(int64(few), 1000).Draw(t, "many"))
		lo := rapid.Int64Range(0, 1000).Draw(t, "from")
		after := configs.Range[configs.Thousandths]{Lo: configs.Thousandths(lo), Hi: configs.Thousandths(rapid.Int64Range(lo, 1000).Draw(t, "to"))}
		draw := func(share configs.Thousandths) []grid.Job {
			jobs := make([]grid.Job, 200)
			for i := range jobs {
				jobs[i].Length, jobs[i].Run = grid.Hour, grid.Duration(i%3)*20*grid.Minute
			}
			fail(&configs.VOWorkload{Fails: share, FailsAfter: after}, jobs, seed)
			return jobs
		}
		whole, a, b := draw(0), draw(few), draw(many)
		for i := range a {
			takes := whole[i].Run
			if takes == 0 {
				takes = grid.Hour
			}
			switch {
			case a[i].Exit != 0 && (b[i].Exit != a[i].Exit || b[i].Run != a[i].Run):
				t.Fatalf("job %d fails after %v, and with a larger share after %v", i, a[i].Run, b[i].Run)
			case b[i].Exit == 0 && b[i].Run != whole[i].Run:
				t.Fatalf("job %d does not fail, and takes %v", i, b[i].Run)
			case b[i].Exit != 0 && (b[i].Run < max(part(takes, after.Lo), grid.Millisecond) || b[i].Run > max(part(takes, after.Hi), grid.Millisecond)):
				t.Fatalf("job %d of %v fails after %v, outside of %v", i, takes, b[i].Run, after)
			case many == configs.One && b[i].Exit == 0:
				t.Fatalf("job %d does not fail", i)
			}
		}
	})
}
