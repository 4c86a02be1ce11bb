package web

import (
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
)

// An identity is its user's: another's batch of the same identity is another
// batch, and neither hears of the other.
func TestSubmit_AnIdentityIsItsUsersOwn(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	anas := submit(t, s, ana, wave("batch-0001"))
	other := wave("batch-0001")
	other.Jobs[0].Nodes = 5
	bens := submit(t, s, ben, other)
	if anas.Jobs[0].ID == bens.Jobs[0].ID || !bens.Jobs[0].Taken {
		t.Fatalf("ana has %+v, ben %+v", anas.Jobs, bens.Jobs)
	}
	submit(t, s, olga, wave("batch-0001"))
	for range 2 {
		if again := submit(t, s, ana, wave("batch-0001")); !slices.Equal(again.Jobs, anas.Jobs) {
			t.Errorf("the same again is %+v, was %+v", again.Jobs, anas.Jobs)
		}
		if again := submit(t, s, ben, other); !slices.Equal(again.Jobs, bens.Jobs) {
			t.Errorf("the same again is %+v, was %+v", again.Jobs, bens.Jobs)
		}
		var p problem
		if code := call(t, s, ana, "POST", "/v1/batches", other, &p); code != http.StatusConflict {
			t.Errorf("other content of ana: %d %q", code, p.Detail)
		}
		if code := call(t, s, ben, "POST", "/v1/batches", wave("batch-0001"), &p); code != http.StatusConflict {
			t.Errorf("other content of ben: %d %q", code, p.Detail)
		}
		s = brokerAPI(t, h) // a process that has begun anew
	}
	if n := len(slices.Collect(h.agents["broker:vo1"].(*broker.Broker).Jobs())); n != 3 {
		t.Errorf("the broker has %d jobs of 3", n)
	}
}

// Each user knows an operator's batch by its identity: the same batch again is the same one,
// and other content under that identity is a conflict.
func TestSubmit_AnOperatorsBatchIsThatOfEachUserInIt(t *testing.T) {
	t.Parallel()
	h := world(t)
	s := brokerAPI(t, h)
	b := api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("a"), job("b"), job("c")}}
	b.Jobs[0].User, b.Jobs[1].User, b.Jobs[2].User = "ana", "ben", "ana"
	b.Jobs[2].After = []string{"a"}
	first := submit(t, s, olga, b)
	if again := submit(t, s, olga, b); !slices.Equal(first.Jobs, again.Jobs) {
		t.Errorf("answered %+v, then %+v", first, again)
	}
	var p problem
	if code := call(t, s, ana, "POST", "/v1/batches", wave("batch-0001"), &p); code != http.StatusConflict {
		t.Errorf("ana's own: %d %q", code, p.Detail)
	}
	if a := submit(t, s, "user:eve", wave("batch-0001")); !a.Jobs[0].Taken {
		t.Errorf("eve's own: %+v", a)
	}
}

// A journal from before identities were users' own has jobs whose names follow
// from the identity alone. They are known by it for as long as they are kept.
func TestSubmit_ABatchOfAnOlderBrokerIsKnown(t *testing.T) {
	t.Parallel()
	for _, forgotten := range []bool{false, true} {
		h := world(t)
		b := api.Batch{ID: "batch-0001", Jobs: []api.JobRequest{job("wave"), job("tide")}}
		b.Jobs[0].User, b.Jobs[1].User = "ana", "ana"
		b.Jobs[1].After = []string{"wave"}
		sum := sha256.Sum256([]byte(b.ID))
		suffix := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
		jobs, err := b.Vocabulary(zero, map[string]string{"ana": suffix})
		if err != nil {
			t.Fatal(err)
		}
		if forgotten { // only its site remembers
			leg := grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 1, Nonce: 7, Seq: 1}}
			h.agents["broker:vo1"].(*broker.Broker).Replay(zero, facts.LegAdopted{Leg: leg, Site: "north", Job: jobs[0].Name, User: "ana",
				What: grid.Leg{Group: "main", Nodes: 4, Start: zero.Add(grid.Hour), End: zero.Add(2 * grid.Hour)}, State: grid.Confirmed})
		} else {
			for _, j := range jobs {
				if _, err := h.Ask(t.Context(), "user:ana", "broker:vo1", agents.Submit{Job: j}); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := brokerAPI(t, h)
		if !forgotten {
			var p problem
			if code := call(t, s, ana, "POST", "/v1/batches", wave("batch-0001"), &p); code != http.StatusConflict {
				t.Errorf("other content: %d %q", code, p.Detail)
			}
			if a := submit(t, s, ben, wave("batch-0001")); a.Jobs[0].ID == jobs[0].Name {
				t.Errorf("ben's own is ana's: %+v", a)
			}
		}
		for i, j := range submit(t, s, ana, b).Jobs {
			if !j.Taken || j.ID != jobs[i].Name {
				t.Errorf("forgotten %t: %+v, want %s", forgotten, j, jobs[i].Name)
			}
		}
	}
}
