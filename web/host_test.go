package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web/api"
)

// worldHost hosts a broker, sites and their clusters in virtual time behind the
// Host of the API: a message is carried out as far as no time has to pass.
type worldHost struct {
	mu      sync.Mutex
	w       *sim.World
	agents  map[agents.ID]agents.Agent
	watches map[int]watch
	asked   int
	down    error                        // what every call is answered
	before  func(m agents.Message) error // may fail an Ask
	facts   []agents.Fact                // of all agents
	journal []record                     // of the broker
}

type record struct {
	at   grid.Time
	fact agents.Fact
}

type watch struct {
	id  agents.ID
	see func(grid.Time, agents.Fact)
}

// portal is an asker: it passes a message on and keeps the first answer.
type portal struct {
	answer agents.Message
}

type errand struct {
	to agents.ID
	m  agents.Message
}

func (errand) Kind() string { return "errand" }

func (p *portal) Step(_ grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m := m.(type) {
	case agents.Started:
	case errand:
		out.Send(m.to, m.m)
	default:
		p.answer = m
	}
}

// zero is the instant at which test worlds begin.
const zero grid.Time = 1_800_000_000_000

func newWorldHost() *worldHost {
	h := &worldHost{w: sim.New(), agents: map[agents.ID]agents.Agent{}, watches: map[int]watch{}}
	h.w.Run(zero)
	h.w.After(func(now grid.Time, id agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			h.facts = append(h.facts, f)
			if id == "broker:vo1" {
				h.journal = append(h.journal, record{now, f})
			}
			for _, x := range h.watches {
				if x.id == id {
					x.see(now, f)
				}
			}
		}
	})
	return h
}

func (h *worldHost) add(id agents.ID, a agents.Agent) {
	h.agents[id] = a
	h.w.Add(id, a)
}

// pass lets virtual time pass.
func (h *worldHost) pass(d grid.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.w.Run(h.w.Now().Add(d))
}

func (h *worldHost) Ask(ctx context.Context, from, to agents.ID, m agents.Message) (agents.Message, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down != nil {
		return nil, h.down
	}
	if h.before != nil {
		if err := h.before(m); err != nil {
			return nil, err
		}
	}
	h.asked++
	p := &portal{}
	id := agents.ID(fmt.Sprintf("%s#%d", from, h.asked))
	h.w.Add(id, p)
	h.w.Post(h.w.Now(), id, errand{to, m})
	h.w.Run(h.w.Now())
	if p.answer == nil {
		return nil, context.DeadlineExceeded
	}
	return p.answer, nil
}

// Hand has the answer at once.
func (h *worldHost) Hand(from, to agents.ID, m agents.Message) (func(context.Context) (agents.Message, error), error) {
	r, err := h.Ask(context.Background(), from, to, m)
	return func(context.Context) (agents.Message, error) { return r, err }, nil
}

func (h *worldHost) View(_ context.Context, id agents.ID, f func(grid.Time, agents.Agent)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.down != nil {
		return h.down
	}
	if h.agents[id] == nil {
		return errors.New("no such agent")
	}
	f(h.w.Now(), h.agents[id])
	return nil
}

func (h *worldHost) Watch(id agents.ID, see func(grid.Time, agents.Fact)) func() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked++
	key := h.asked
	h.watches[key] = watch{id, see}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.watches, key)
	}
}

// world is a VO of two sites with 16 nodes each, a price of 1 and a broker whose
// cycle is due at once; ana has a quota of 100 credits.
func world(t *testing.T, change ...func(*broker.Config)) *worldHost {
	t.Helper()
	h := newWorldHost()
	cfg := broker.ServiceDefaults("vo1")
	cfg.Cycle, cfg.Phase, cfg.Lead = grid.Minute, 0, 5*grid.Second
	cfg.BatchSize, cfg.Budget, cfg.Minimize = 1, 10_000*grid.Credit, grid.GoalFinish
	cfg.Quotas = map[string]grid.Credits{"ana": 100 * grid.Credit}
	for _, name := range []string{"north", "south"} {
		groups := []grid.Group{{Site: name, Name: "main", Nodes: 16, Performance: grid.Unit, Price: grid.Price(grid.Credit)}}
		id, clusterID := agents.ID("site:"+name), agents.ID("cluster:"+name)
		h.add(clusterID, cluster.New(cluster.Config{Site: id, Volatile: true}, queue.NewBackend(groups, []queue.Options{{Nodes: 16}}, nil)))
		h.add(id, sites.New(sites.Config{Name: name, Cluster: clusterID, Groups: groups, VOShare: 1000,
			Span: grid.Day, Hold: grid.Minute, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: 5 * grid.Second}))
		cfg.Sites = append(cfg.Sites, id)
	}
	for _, c := range change {
		c(&cfg)
	}
	h.add("broker:vo1", broker.New(cfg))
	h.w.Run(h.w.Now())
	return h
}

// byHeader takes a test's word for who is asking.
func byHeader(r *http.Request) (Caller, error) {
	role, name, ok := strings.Cut(r.Header.Get("Test-Caller"), ":")
	if !ok {
		return Caller{}, errors.New("no certificate")
	}
	return Caller{Role(role), name}, nil
}

// brokerAPI is the API of a world's broker.
func brokerAPI(t *testing.T, h *worldHost, change ...func(*Options)) *Server {
	t.Helper()
	opt := Options{Host: h, Agent: "broker:vo1", Identify: byHeader}
	for _, c := range change {
		c(&opt)
	}
	s, err := NewBroker(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// call makes a request as somebody and decodes the answer into out.
func call(t *testing.T, s *Server, who, method, path string, body, out any) int {
	t.Helper()
	var in io.Reader
	if text, ok := body.(string); ok {
		in = strings.NewReader(text)
	} else if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		in = strings.NewReader(string(b))
	}
	r := httptest.NewRequest(method, path, in)
	r.Header.Set("Test-Caller", who)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	if out != nil {
		if err := json.Unmarshal(w.Body.Bytes(), out); err != nil {
			t.Fatalf("%s %s: %d, %v in %s", method, path, w.Code, err, w.Body)
		}
	}
	return w.Code
}

// problem is an error's answer.
type problem struct {
	Status int
	Detail string
}

// wave is a batch of one job of four nodes for an hour.
func wave(id string) api.Batch {
	return api.Batch{ID: id, Jobs: []api.JobRequest{job("wave")}}
}

func job(name string) api.JobRequest {
	return api.JobRequest{Name: name, Nodes: 4, Length: api.Seconds{Duration: grid.Hour}, Budget: &api.Credits{Credits: 50 * grid.Credit}}
}
