package use

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// A list is in the order of submission, and a batch of more than ten jobs is one row in place of
// its first, with its states counted; the same identity of another user is another batch.
func TestJobs_ALargeBatchIsOneRow(t *testing.T) {
	t.Parallel()
	var newest []api.Job
	for i := range 14 {
		j := api.Job{ID: fmt.Sprint("j", i), User: "ana", Batch: "night-run", State: "done", Nodes: 2, Start: api.Instant(1000 * (20 - i)), End: api.Instant(1000 * (40 - i)),
			Sites: []string{"north"}, Cost: &api.Credits{Credits: grid.Credit}}
		switch {
		case i == 0:
			j.Batch = ""
		case i == 13:
			j.User = "ben"
		case i > 9:
			j.State, j.Sites = "failed", []string{"south"}
		}
		newest = append([]api.Job{j}, newest...)
	}
	rows := folded(inOrder(newest))
	if len(rows) != 3 || rows[0].ID != "j0" || rows[1].ID != "night-run" || rows[2].ID != "j13" {
		t.Fatalf("%+v", rows)
	}
	r := rows[1]
	if r.Nodes != 24 || r.Cost.Credits != 12*grid.Credit || r.Start != 8000 || r.End != 39000 || strings.Join(r.Sites, ",") != "north,south" {
		t.Errorf("%+v", r.Job)
	}
	var out strings.Builder
	printRows(&out, rows, time.UnixMilli(0))
	for _, want := range []string{"9 done", "3 failed", "night-run: a batch of 12 jobs; bourse jobs --batch night-run lists them"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
	if got := eachJob(inOrder(newest)); len(got) != 14 || got[5].ID != "j5" {
		t.Errorf("%+v", got)
	}
	if got, want := countWords(newest), "14 jobs (11 done, 3 failed) of 2 users, ana, ben: j13, j12, j11, j10 and 10 more"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
