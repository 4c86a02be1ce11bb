package use

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/web/api"
)

// A part's name stands for the legs that carry it, a number for a leg.
func TestLegChoice_APartIsItsLegs(t *testing.T) {
	t.Parallel()
	hybrid := api.Job{ID: "hybrid-1", Legs: []api.Leg{{Part: "qpu"}, {Part: "gpu"}, {Part: "gpu"}}}
	plain := api.Job{ID: "wave-1", Legs: []api.Leg{{}, {}}}
	for _, c := range []struct {
		args string
		job  *api.Job
		want []int
		says string
	}{
		{"", &hybrid, []int{0, 1, 2}, ""},
		{"--part gpu", &hybrid, []int{1, 2}, ""},
		{"--part 1", &hybrid, []int{1}, ""},
		{"--leg 2", &hybrid, []int{2}, ""},
		{"--part cpu", &hybrid, nil, "has no such part; it has qpu, gpu"},
		{"--part gpu", &plain, nil, "has no parts; choose a leg by --leg 0 to --leg 1"},
		{"--part gpu", &api.Job{ID: "new-1"}, []int{0}, ""},
		{"--part -1", &plain, nil, "must be 0 to 10,000"},
	} {
		var l legChoice
		cmd := &cobra.Command{}
		l.addFlags(cmd)
		if err := cmd.ParseFlags(strings.Fields(c.args)); err != nil {
			t.Fatal(err)
		}
		err := l.check(cmd)
		var got []int
		if err == nil {
			got, err = l.legs(c.job)
		}
		if !slices.Equal(got, c.want) || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q of %s: %v, %v", c.args, c.job.ID, got, err)
		}
	}
}
