package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bourse-grid/bourse/web/api"
)

// Event is one event of a stream: one of the two is set.
type Event struct {
	Job  *api.Job  // the present state, first of a stream of one job
	Turn *api.Turn // what has happened since
}

// ErrEnough ends a Follow without an error.
var ErrEnough = errors.New("enough")

// quiet is how long a stream may say nothing before it counts as broken.
const quiet = 45 * time.Second

// Follow hands the events of a job, or with job "" of all that the caller sees,
// to see, until it returns an error, ErrEnough for none, or ctx ends. A stream
// that breaks is opened anew for as long as the broker can be reached within
// the tries of a call, and goes on where it broke. Where it cannot, as after a
// restart of the broker, Missed is told why, and with a job its state comes
// first again.
func (c *Client) Follow(ctx context.Context, job string, see func(Event) error) error {
	return c.FollowOpened(ctx, job, func() {}, see)
}

// FollowOpened is Follow, and calls opened each time a stream has been opened: what happens
// from then on comes as an event.
func (c *Client) FollowOpened(ctx context.Context, job string, opened func(), see func(Event) error) error {
	path := "/v1/events"
	if job != "" {
		path += "?job=" + url.QueryEscape(job)
	}
	wait, last := firstWait, ""
	for try := 1; ; try++ {
		heard, err := c.stream(ctx, path, &last, opened, see)
		switch {
		case errors.Is(err, ErrEnough):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case heard:
			try, wait = 0, firstWait
		}
		var own *seeError
		if errors.As(err, &own) {
			return own.err
		}
		if err != nil && (try == tries || !again(err)) {
			return err
		}
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// seeError is an error of the caller's own.
type seeError struct{ err error }

func (e *seeError) Error() string { return e.err.Error() }

func (e *seeError) Unwrap() error { return e.err }

// stream reads one stream from the event after last to its end, and keeps in last the id of
// each that was seen; heard says that something came. It calls opened once it is open.
func (c *Client) stream(ctx context.Context, path string, last *string, opened func(), see func(Event) error) (heard bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answer, err := c.sendWith(ctx, http.MethodGet, path, nil, map[string]string{"Last-Event-ID": *last})
	if err != nil {
		return false, err
	}
	defer func() { _ = answer.Body.Close() }()
	opened()
	alarm := time.AfterFunc(quiet, stop)
	defer alarm.Stop()
	lines := bufio.NewReaderSize(answer.Body, 64<<10)
	name, id := "", ""
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = readOn(lines, line)
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return heard, nil
			}
			return heard, fmt.Errorf("%s: its stream broke off: %w", c.peer, err)
		}
		heard = true
		alarm.Reset(quiet)
		line = bytes.TrimRight(line, "\r\n")
		key, value, _ := bytes.Cut(line, []byte(": "))
		switch string(key) {
		case "id":
			id = string(value)
		case "event":
			name = string(value)
		case "data":
			if err := c.hand(name, value, see); err != nil {
				return heard, &seeError{err}
			}
			if id != "" {
				*last = id
			}
		case "":
			name, id = "", ""
		}
	}
}

// readOn reads the rest of a long line, up to a megabyte.
func readOn(lines *bufio.Reader, part []byte) ([]byte, error) {
	long := bytes.Clone(part)
	for len(long) < 1<<20 {
		more, err := lines.ReadSlice('\n')
		long = append(long, more...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
	}
	return nil, errors.New("a line of more than a megabyte")
}

// hand decodes one event; those that carry nothing for people are passed over.
func (c *Client) hand(name string, data []byte, see func(Event) error) error {
	var e Event
	var err error
	switch name {
	case "job":
		e.Job = &api.Job{}
		err = json.Unmarshal(data, e.Job)
	case "turn":
		e.Turn = &api.Turn{}
		err = json.Unmarshal(data, e.Turn)
	case "denied":
		var d api.Denied
		if err = json.Unmarshal(data, &d); err == nil {
			return &Problem{Status: http.StatusForbidden, Detail: d.Why}
		}
	case "missed":
		var m api.Missed
		if err = json.Unmarshal(data, &m); err == nil {
			if c.Missed != nil {
				c.Missed(m.Why)
			}
			return nil
		}
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("an event makes no sense: %w", err)
	}
	return see(e)
}
