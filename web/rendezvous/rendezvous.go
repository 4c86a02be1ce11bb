// Package rendezvous is the place where the legs of one job exchange their addresses.
package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// Bounds of a rendezvous. Only callers with a token of the site use any resources.
const (
	meetingRooms   = 1024             // at once; beyond this, the least recently used one is dropped
	meetingLegs    = 10_000           // in a room
	meetingAddress = 4 << 10          // bytes that a leg posts
	meetingBytes   = 16 << 20         // bytes of all posts
	meetingWaits   = 1024             // requests that wait at once
	meetingWait    = 5 * time.Minute  // the longest wait
	meetingIdle    = 24 * time.Hour   // an unused room is dropped after this
	meetingBody    = 10 * time.Second // for a request to arrive
)

// Place is the place where the legs of a window exchange their addresses: POST and GET
// /v1/rendezvous/TOKEN. Work on a node has no certificate, so it is admitted by its token
// alone, which identifies its window. Nothing is kept when the process ends: legs post again
// until all are there.
type Place struct {
	key   agents.Key
	http  *http.Server
	waits chan struct{}

	mu    sync.Mutex
	rooms map[string]*room
	bytes int
}

// room holds the addresses of one window.
type room struct {
	legs    map[int]string // addresses
	changed chan struct{}  // closed at the next change
	used    time.Time
}

// New returns a Rendezvous that admits callers with a token made by a site's key.
func New(key agents.Key) *Place {
	r := &Place{key: key, rooms: map[string]*room{}, waits: make(chan struct{}, meetingWaits)}
	r.http = &http.Server{Handler: r, ReadHeaderTimeout: meetingBody, ReadTimeout: meetingBody,
		WriteTimeout: meetingWait + meetingBody, IdleTimeout: time.Minute, MaxHeaderBytes: 8 << 10}
	return r
}

// Serve answers requests until Close; it returns nil after that.
func (r *Place) Serve(l net.Listener) error {
	if err := r.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the rendezvous on %s: %w", l.Addr(), err)
	}
	return nil
}

// Close ends the server and cuts off waiting callers.
func (r *Place) Close() { _ = r.http.Close() }

// ServeHTTP implements http.Handler. Answers are plain text: a line for each leg
// that has posted, its number and its address.
func (r *Place) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	token, ok := strings.CutPrefix(q.URL.Path, "/v1/rendezvous/")
	name, admitted := r.key.Admits(token)
	legs, wait, err := meetingQuery(q)
	switch {
	case !ok:
		http.Error(w, "the only path here is /v1/rendezvous/TOKEN", http.StatusNotFound)
		return
	case !admitted:
		http.Error(w, "this is not a token of this site", http.StatusForbidden)
		return
	case q.Method != http.MethodGet && q.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "must be GET or POST", http.StatusMethodNotAllowed)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if q.Method == http.MethodPost {
		if status, err := r.post(w, q, name); err != nil {
			http.Error(w, err.Error(), status)
			return
		}
	}
	list, whole := r.list(name, legs)
	if !whole && wait > 0 {
		select {
		case r.waits <- struct{}{}:
			list, whole = r.await(q.Context(), name, legs, wait)
			<-r.waits
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests are waiting here; try again in a second", http.StatusServiceUnavailable)
			return
		}
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !whole {
		w.WriteHeader(http.StatusRequestTimeout)
	}
	_, _ = io.WriteString(w, list)
}

// meetingQuery reads how many legs a request waits for, and how long.
func meetingQuery(q *http.Request) (legs int, wait time.Duration, err error) {
	v := q.URL.Query()
	if s := v.Get("legs"); s != "" {
		if legs, err = strconv.Atoi(s); err != nil || legs < 1 || legs > meetingLegs {
			return 0, 0, fmt.Errorf("legs=%q: must be 1 to %d, from BOURSE_LEGS", s, meetingLegs)
		}
	}
	if s := v.Get("wait"); s != "" {
		d, err := grid.ParseDuration(s)
		wait = time.Duration(d) * time.Millisecond
		if err != nil || d < 0 || wait > meetingWait {
			return 0, 0, fmt.Errorf("wait=%q: must be 0s to %v, such as 60s", s, meetingWait)
		}
		if legs == 0 {
			return 0, 0, errors.New("wait needs legs, the number of legs to wait for")
		}
	}
	return legs, wait, nil
}

// post takes a leg's address.
func (r *Place) post(w http.ResponseWriter, q *http.Request, name string) (status int, err error) {
	leg, err := strconv.Atoi(q.URL.Query().Get("leg"))
	if err != nil || leg < 0 || leg >= meetingLegs {
		return http.StatusBadRequest, fmt.Errorf("leg=%q: must be 0 to %d, from BOURSE_LEG", q.URL.Query().Get("leg"), meetingLegs-1)
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, q.Body, meetingAddress))
	if err != nil {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("an address must have at most %d bytes", meetingAddress)
	}
	address := strings.TrimSpace(string(text))
	if err := grid.CheckText(address); err != nil || address == "" {
		return http.StatusBadRequest, errors.New("the body must be the leg's address, one line of printable characters")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.room(name)
	if r.bytes+len(address)-len(x.legs[leg]) > meetingBytes {
		return http.StatusInsufficientStorage, fmt.Errorf("the limit of %d bytes for all posts is reached; try again later", meetingBytes)
	}
	if x.legs[leg] != address {
		r.bytes += len(address) - len(x.legs[leg])
		x.legs[leg] = address
		close(x.changed)
		x.changed = make(chan struct{})
	}
	return 0, nil
}

// room returns the room of that name, and marks it as used.
func (r *Place) room(name string) *room {
	now := time.Now()
	x := r.rooms[name]
	if x == nil {
		for n, o := range r.rooms {
			if now.Sub(o.used) > meetingIdle {
				r.drop(n)
			}
		}
		if len(r.rooms) >= meetingRooms {
			r.drop(slices.MinFunc(slices.Collect(maps.Keys(r.rooms)), func(a, b string) int { return r.rooms[a].used.Compare(r.rooms[b].used) }))
		}
		x = &room{legs: map[int]string{}, changed: make(chan struct{})}
		r.rooms[name] = x
	}
	x.used = now
	return x
}

func (r *Place) drop(name string) {
	for _, address := range r.rooms[name].legs {
		r.bytes -= len(address)
	}
	delete(r.rooms, name)
}

// list lists the legs that are there, and reports whether enough are.
func (r *Place) list(name string, legs int) (list string, whole bool) {
	list, whole, _ = r.look(name, legs)
	return list, whole
}

func (r *Place) look(name string, legs int) (list string, whole bool, changed chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.room(name)
	var b strings.Builder
	for _, leg := range slices.Sorted(maps.Keys(x.legs)) {
		fmt.Fprintf(&b, "%d %s\n", leg, x.legs[leg])
	}
	return b.String(), len(x.legs) >= legs, x.changed
}

// await waits until enough legs are there, or the time is over.
func (r *Place) await(ctx context.Context, name string, legs int, wait time.Duration) (list string, whole bool) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	for {
		list, whole, changed := r.look(name, legs)
		if whole {
			return list, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return list, false
		}
	}
}
