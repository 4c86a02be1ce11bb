package use

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// waitFor waits for the jobs a and b at a broker of this test.
func waitFor(t *testing.T, h http.HandlerFunc) ([]api.Job, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	name := filepath.Join(t.TempDir(), "context.json")
	if err := (&client.Context{Broker: server.URL}).Write(name); err != nil {
		t.Fatal(err)
	}
	c := submitting{wait: "placed"}
	c.Context = name
	at, err := c.Broker()
	if err != nil {
		t.Fatal(err)
	}
	answer := api.BatchAnswer{ID: "x", Jobs: []api.JobTaken{{ID: "a", Taken: true}, {ID: "b", Taken: true}, {ID: "c"}}}
	return c.settle(t.Context(), at, answer, io.Discard)
}

func answerJobs(w http.ResponseWriter, state string) {
	_ = json.NewEncoder(w).Encode(api.JobList{Jobs: []api.Job{{ID: "a", State: "placed"}, {ID: "b", State: state}, {ID: "c", State: "waiting"}}})
}

// While a job waits, hundreds of events that leave it in its state, and those of others,
// cost no call.
func TestSubmitWait_AsksWhenAJobOfTheBatchHasAnotherState(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	var placed atomic.Bool
	list, err := waitFor(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/jobs" {
			asked.Add(1)
			answerJobs(w, map[bool]string{false: "waiting", true: "placed"}[placed.Load()])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		turn := func(id, state string) {
			fmt.Fprintf(w, "event: turn\ndata: {\"turn\":\"postponed\",\"job\":{\"id\":%q,\"state\":%q}}\n\n", id, state)
		}
		for range 500 {
			turn("b", "waiting")
			turn("c", "placed")
			turn("elsewhere", "running")
		}
		w.(http.Flusher).Flush()
		placed.Store(true)
		turn("b", "placed")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if err != nil || len(list) != 2 || list[1].State != "placed" {
		t.Errorf("%+v, %v", list, err)
	}
	if n := asked.Load(); n > 4 { // at first, when the stream is open, and for two states
		t.Errorf("asked %d times", n)
	}
}

// A broker, or what stands before it, may have no stream for this caller.
func TestSubmitWait_AsksAgainAndAgainWithoutAStream(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	list, err := waitFor(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path != "/v1/jobs":
			http.NotFound(w, r)
		case asked.Add(1) < 6:
			answerJobs(w, "waiting")
		default:
			answerJobs(w, "abandoned")
		}
	})
	if err != nil || len(list) != 2 || list[1].State != "abandoned" || asked.Load() != 6 {
		t.Errorf("%+v, %v after %d calls", list, err, asked.Load())
	}
}
