package client

import (
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
)

// replicas carries requests to whichever of the processes that hold a broker leads. One
// that does not says who does; where none answers, the next one is asked.
type replicas struct {
	list []replica
	now  atomic.Int64 // the one that has answered last
}

// replica is one of the processes.
type replica struct {
	base *url.URL
	by   http.RoundTripper
}

// RoundTrip asks each replica once at most, beginning with the one that answered last. A
// request whose body cannot be read again is made once.
func (r *replicas) RoundTrip(q *http.Request) (*http.Response, error) {
	at := int(r.now.Load())
	for try := 1; ; try++ {
		to := &r.list[at]
		one := q.Clone(q.Context())
		one.URL.Scheme, one.URL.Host, one.Host = to.base.Scheme, to.base.Host, ""
		if try > 1 && q.GetBody != nil {
			var err error
			if one.Body, err = q.GetBody(); err != nil {
				return nil, err
			}
		}
		answer, err := to.by.RoundTrip(one)
		moved := err == nil && answer.StatusCode == http.StatusTemporaryRedirect
		if err == nil && !moved && answer.StatusCode != http.StatusServiceUnavailable {
			r.now.Store(int64(at))
			return answer, nil
		}
		next := (at + 1) % len(r.list)
		if moved {
			if i := r.at(answer.Header.Get("Location")); i >= 0 {
				next = i
			}
		}
		r.now.Store(int64(next))
		if try > len(r.list) || q.Context().Err() != nil || q.Body != nil && q.GetBody == nil {
			if moved { // it is told to come again
				answer.StatusCode = http.StatusServiceUnavailable
				answer.Status = "503 " + http.StatusText(answer.StatusCode)
			}
			return answer, err
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		at = next
	}
}

// at is the replica at an address, -1 if there is none.
func (r *replicas) at(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return -1
	}
	return slices.IndexFunc(r.list, func(x replica) bool { return x.base.Host == u.Host })
}
