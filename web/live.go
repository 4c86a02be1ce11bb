package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/report/view"
	"github.com/bourse-grid/bourse/web/api"
)

// livePath is the stream of the live page. It is private to the page: its format changes with
// the page.
const livePath = "/live"

// How often a live page gets news, and new charts, which are sent whole; and how many jobs
// are read between two steps of the broker.
const (
	frameEvery = 200 * time.Millisecond
	chartEvery = 5 * time.Second
	readAtOnce = 500
)

// pages feeds live pages: first a view.Document of all that the caller may see, then the
// changes, each read from the broker just before it is sent.
type pages struct {
	*jobs
	feed     *feed
	identify Identify
}

// reader is one live page that is open.
type reader struct {
	*pages
	*picture
	stream *stream
	out    http.ResponseWriter
	r      *http.Request
	dirty  map[string]bool // jobs with a turn since they were read
	charts time.Time       // when charts were last sent
}

// ServeHTTP feeds one page until its reader leaves or the server ends.
func (l *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who := caller(r.Context())
	x := l.feed.listen(who, "", "") // a page is sent all there is, wherever its last stream broke
	if x == nil {
		l.count.busy.Inc()
		sendProblem(w, http.StatusTooManyRequests, "too many event streams are open; close one, or try again later")
		return
	}
	defer l.feed.leave(x)
	p := &reader{pages: l, stream: x, out: w, r: r, dirty: map[string]bool{}}
	p.look(r.Context(), who)
	doc, err := p.whole(r.Context(), who)
	if err != nil {
		sendProblem(w, http.StatusServiceUnavailable, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if p.send("document", doc) {
		p.follow(r.Context())
	}
}

// whole reads all that there is to show: jobs page by page, the newest first.
func (p *reader) whole(ctx context.Context, who Caller) (*view.Document, error) {
	doc, own := &view.Document{Jobs: []view.Job{}, Bars: []view.Bar{}}, p.processAlerts(p.r, who)
	for before, more := uint64(1<<63-1), true; more; {
		some := p.list.before(nil, filter{who: who}, before, readAtOnce)
		if more = len(some) == readAtOnce; more {
			before = some[len(some)-1].number
		}
		err := p.broker(ctx, func(now grid.Time, b *broker.Broker) {
			if p.picture == nil {
				p.picture = newPicture(who, p.feed.past, now)
				p.own = own
			}
			for i := range some {
				if v, ok := b.Job(some[i].id); ok {
					j := jobOf(b, &v, &some[i])
					p.draw(doc, &some[i], &j, elementsOf(b, &v, &some[i]), now)
				}
			}
			if len(p.drawn) >= mostDrawn && more {
				more, p.left = false, true
			}
			if !more {
				p.age(doc, now)
				p.about(doc, b, now, true)
			}
		})
		if err != nil {
			return nil, err
		}
	}
	doc.Epoch = int64(p.epoch)
	p.charts = time.Now()
	return doc, nil
}

// follow sends what changes.
func (p *reader) follow(ctx context.Context) {
	check, beat := time.NewTicker(checkEvery), time.NewTicker(heartbeat)
	defer check.Stop()
	defer beat.Stop()
	frame := time.NewTimer(frameEvery)
	frame.Stop()
	defer frame.Stop()
	last, armed := time.Now(), false
	due := func() {
		if !armed {
			armed = true
			frame.Reset(max(frameEvery-time.Since(last), frameEvery/10))
		}
	}
	for {
		select {
		case t, open := <-p.stream.turns:
			if !open {
				if p.stream.lost {
					p.send("lost", api.Lost{Why: "256 events were waiting to be read; read again"})
				}
				return
			}
			if t.turn == nil {
				p.send("lost", api.Lost{Why: "some events were not told; read again"})
				return
			}
			p.dirty[t.turn.Job.Group()] = true
			due()
		case <-p.stream.stirs:
			due()
		case <-frame.C:
			last, armed = time.Now(), false
			if !p.frame(ctx, due) {
				return
			}
		case <-beat.C:
			go p.look(ctx, p.who) // in the next frame that there is
			p.own = p.processAlerts(p.r, p.who)
			due() // the ruler moves, and ended jobs get old
		case <-check.C:
			if still, err := p.identify(p.r); err != nil || still != p.who {
				p.count.denied.Inc()
				p.send("denied", api.Denied{Why: fmt.Sprint("you may no longer see this: ", err)})
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// frame reads what has changed and sends it. again is called if there is more.
func (p *reader) frame(ctx context.Context, again func()) bool {
	part := &view.Document{}
	charts := time.Since(p.charts) >= chartEvery
	err := p.broker(ctx, func(now grid.Time, b *broker.Broker) {
		n := 0
		for id := range p.dirty {
			if n++; n > readAtOnce {
				again()
				break
			}
			delete(p.dirty, id)
			e, known := p.list.get(id)
			v, ok := b.Job(id)
			if !known || !ok {
				p.erase(part, id)
				continue
			}
			j := jobOf(b, &v, &e)
			p.draw(part, &e, &j, elementsOf(b, &v, &e), now)
		}
		p.age(part, now)
		p.about(part, b, now, charts)
	})
	if charts {
		p.charts = time.Now()
	}
	if err != nil {
		return p.send("alive", api.Alive{At: clock()}) // the broker is busy; the next frame has the changes
	}
	return p.send("part", part)
}

// send writes one event, and reports whether it went out.
func (p *reader) send(event string, data any) bool {
	text, err := json.Marshal(data)
	if err != nil {
		panic(err) // such a value can always be encoded
	}
	at := http.NewResponseController(p.out)
	_ = at.SetWriteDeadline(time.Now().Add(answerTime)) // a test's recorder has no deadlines
	if _, err := fmt.Fprintf(p.out, "event: %s\ndata: %s\n\n", event, text); err != nil {
		return false
	}
	return at.Flush() == nil
}
