package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

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

// Alive is the event that shows that a stream is alive although nothing happens.
type Alive struct {
	At Instant `json:"at"`
}

// Lost is the last event of a stream whose reader was too slow. The reader should ask
// for the state and open a new stream.
type Lost struct {
	Why string `json:"why"`
}

// Denied is the last event of a stream whose caller may no longer listen: the
// certificate has expired or was revoked.
type Denied struct {
	Why string `json:"why"`
}

type eventsInput struct {
	Job string `query:"job" doc:"only events of this job, by identity or name; default: of all jobs that the caller may see"`
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
	x := s.feed.listen(who, job)
	if x == nil {
		s.count.busy.Inc()
		_ = huma.WriteErr(s.api, ctx, http.StatusTooManyRequests, "too many event streams are open; close one, or try again later")
		return
	}
	defer s.feed.leave(x)
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

// follow sends turns until the reader or the server ends.
func (s *streams) follow(ctx context.Context, _ *eventsInput, send sse.Sender) {
	x := ctx.Value(streamKey{}).(*stream)
	first := any(Alive{clock()})
	if x.job != "" {
		if j, err := s.job(ctx, x.job); err == nil {
			first = j
		}
	}
	checked := time.Now()
	allowed := func() bool {
		if time.Since(checked) < checkEvery {
			return true
		}
		if err := x.again(); err != nil {
			s.count.denied.Inc()
			_ = send.Data(Denied{err.Error()})
			return false
		}
		checked = time.Now()
		return true
	}
	say := func(event any) bool { return allowed() && send.Data(event) == nil }
	if !say(first) {
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
					say(Lost{"256 events were waiting to be read; read the state again and open a new stream"})
				}
				return
			}
			if !say(t) {
				return
			}
		case <-beat.C:
			if !say(Alive{clock()}) {
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

func clock() Instant { return Instant(time.Now().UnixMilli()) }
