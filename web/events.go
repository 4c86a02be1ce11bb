package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/bourse-grid/bourse/web/api"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/sse"
)

const eventsPath = "/v1/events"

// heartbeat is how often a stream shows that it is alive. checkEvery is how often it checks
// that its caller may still listen: no event is sent if the last check is older.
const (
	heartbeat  = 10 * time.Second
	checkEvery = time.Second
)

type eventsInput struct {
	Job   string `query:"job" doc:"only events of this job, by identity or name; default: of all jobs that the caller may see"`
	After string `header:"Last-Event-ID" doc:"id of the last event that was read: the stream begins with those after it"`
}

type streamKey struct{}

// streams sends the turns of jobs to listeners.
type streams struct {
	*jobs
	feed *feed
	api  huma.API

	identify Identify // as at the admission
}

// opened opens the stream before the answer begins, so that a refusal can have its own
// status.
func (s *streams) opened(ctx huma.Context, next func(huma.Context)) {
	who := caller(ctx.Context())
	job := ctx.Query("job")
	if job != "" {
		e, err := s.resolve(ctx.Context(), job)
		if err != nil {
			status := err.(huma.StatusError)
			_ = huma.WriteErr(s.api, ctx, status.GetStatus(), status.Error())
			return
		}
		job = e.id
	}
	x := s.feed.listen(who, job, ctx.Header("Last-Event-ID"))
	if x == nil {
		s.count.busy.Inc()
		_ = huma.WriteErr(s.api, ctx, http.StatusTooManyRequests, "too many event streams are open; close one, or try again later")
		return
	}
	defer s.feed.leave(x)
	x.out = ctx.BodyWriter()
	r, _ := humago.Unwrap(ctx)
	x.again = func() error {
		still, err := s.identify(r)
		if err == nil && still != who {
			err = fmt.Errorf("this is no longer %s", who.ID())
		}
		return err
	}
	next(huma.WithValue(ctx, streamKey{}, x))
}

// follow sends turns until the reader or the server ends. Each event has the id of the
// place up to which the reader has then been told.
func (s *streams) follow(ctx context.Context, _ *eventsInput, send sse.Sender) {
	x := ctx.Value(streamKey{}).(*stream)
	checked := time.Now()
	allowed := func() bool {
		if time.Since(checked) < checkEvery {
			return true
		}
		if err := x.again(); err != nil {
			s.count.denied.Inc()
			_ = send.Data(api.Denied{Why: err.Error()})
			return false
		}
		checked = time.Now()
		return true
	}
	say := func(id string, event any) bool {
		if !allowed() {
			return false
		}
		if id != "" { // the library's ids are numbers
			_, _ = fmt.Fprintf(x.out, "id: %s\n", id)
		}
		return send.Data(event) == nil
	}
	tell := func(n numbered) bool {
		if n.turn == nil {
			return say(s.feed.recent.place(n.number), api.Missed{Why: "some events were not told: they came too fast, or the broker did not answer; read the state"})
		}
		return say(s.feed.recent.place(n.number), *n.turn)
	}
	if !s.first(ctx, x, say, tell) {
		return
	}
	beat, check := time.NewTicker(heartbeat), time.NewTicker(checkEvery)
	defer beat.Stop()
	defer check.Stop()
	for {
		select {
		case t, open := <-x.turns:
			if !open {
				if x.lost {
					say("", api.Lost{Why: "256 events were waiting to be read; open a new stream with the id of the last one in Last-Event-ID"})
				}
				return
			}
			if !tell(t) {
				return
			}
		case <-beat.C:
			id, told := s.feed.place(x)
			if !told {
				id = ""
			}
			if !say(id, api.Alive{At: clock()}) {
				return
			}
		case <-check.C:
			if !allowed() {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// first begins a stream: with what its reader has missed, if that is known; else with the
// state of its job.
func (s *streams) first(ctx context.Context, x *stream, say func(string, any) bool, tell func(numbered) bool) bool {
	for _, n := range x.behind {
		if !tell(n) {
			return false
		}
	}
	if x.missed != nil && !say(x.begin, api.Missed{Why: fmt.Sprintf("the events since the last one that was read are not known: %v; read the state", x.missed)}) {
		return false
	}
	x.behind = nil // for the collector
	if x.job != "" && !x.resumed {
		if j, err := s.job(ctx, x.job); err == nil {
			return say(x.begin, j)
		}
	}
	return say(x.begin, api.Alive{At: clock()})
}

func clock() api.Instant { return api.Instant(time.Now().UnixMilli()) }

// textIDs says in the document of a stream that ids of its events are texts.
func textIDs(op *huma.Operation) {
	for _, event := range op.Responses["200"].Content["text/event-stream"].Schema.Items.Extensions["oneOf"].([]*huma.Schema) {
		event.Properties["id"] = &huma.Schema{Type: huma.TypeString, Description: "The place of the event, for Last-Event-ID."}
	}
}
