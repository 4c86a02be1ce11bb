package web

import (
	"testing"

	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// Only a job's own user sees and answers the offers for its place; an
// offer that is not there is not found, and a number below 1 is bad input.
func TestShifts_AreTheUsersOwn(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	id := submit(t, s, ana, wave("batch-ana1")).Jobs[0].ID
	h.pass(grid.Second)
	var list api.ShiftOffers
	if code := call(t, s, ana, "GET", "/v1/jobs/"+id+"/offers", nil, &list); code != 200 || len(list.Offers) != 0 {
		t.Errorf("%d %+v", code, list)
	}
	if code := call(t, s, ben, "GET", "/v1/jobs/"+id+"/offers", nil, nil); code != 404 {
		t.Errorf("ben sees ana's offers: %d", code)
	}
	for _, c := range []struct {
		who  string
		body any
		want int
	}{
		{ana, api.ShiftAnswer{N: 1, Accept: true}, 404},
		{ana, api.ShiftAnswer{N: 1}, 404},
		{ben, api.ShiftAnswer{N: 1, Accept: true}, 404},
		{ana, api.ShiftAnswer{N: 0, Accept: true}, 422},
	} {
		if code := call(t, s, c.who, "POST", "/v1/jobs/"+id+"/offers", c.body, nil); code != c.want {
			t.Errorf("%s %+v: %d, want %d", c.who, c.body, code, c.want)
		}
	}
}
