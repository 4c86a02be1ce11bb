package client

import (
	"net/http"
	"net/url"
	"slices"
	"sync"
)

// replicas carries requests to whichever of the processes that hold a broker leads. One
// that does not says who does, which may be one that has come since the context was
// written; where none answers, the next one is asked.
type replicas struct {
	to func(address string) (replica, error) // makes one of an address

	mu   sync.Mutex
	list []replica
	now  int // the one that has answered last
}

// maxReplicas bounds how many are known: those of the context, and others that they named.
const maxReplicas = 32

// replica is one of the processes.
type replica struct {
	base *url.URL
	by   http.RoundTripper
}

// RoundTrip asks each replica once at most, beginning with the one that answered last. A
// request whose body cannot be read again is made once.
func (r *replicas) RoundTrip(q *http.Request) (*http.Response, error) {
	to, at, _ := r.latest()
	for try := 1; ; try++ {
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
			r.choose(at)
			return answer, nil
		}
		next := at + 1
		if moved {
			if i := r.at(answer.Header.Get("Location")); i >= 0 {
				next = i
			}
		}
		var n int
		to, at, n = r.choose(next)
		if try > n || q.Context().Err() != nil || q.Body != nil && q.GetBody == nil {
			if moved { // it is told to come again
				answer.StatusCode = http.StatusServiceUnavailable
				answer.Status = "503 " + http.StatusText(answer.StatusCode)
			}
			return answer, err
		}
		if err == nil {
			_ = answer.Body.Close()
		}
	}
}

// latest is the replica that has answered last, its place, and how many there are.
func (r *replicas) latest() (replica, int, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list[r.now], r.now, len(r.list)
}

// choose has the replica of a place, beyond the last the first, be asked from now on.
func (r *replicas) choose(i int) (replica, int, int) {
	r.mu.Lock()
	r.now = i % len(r.list)
	r.mu.Unlock()
	return r.latest()
}

// at is the place of the replica at an address, -1 if there cannot be one. Another than
// those of the context is held against the same authority as they are.
func (r *replicas) at(address string) int {
	u, err := url.Parse(address)
	if err != nil {
		return -1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.list, func(x replica) bool { return x.base.Host == u.Host }); i >= 0 || len(r.list) >= maxReplicas {
		return i
	}
	x, err := r.to(u.Scheme + "://" + u.Host)
	if err != nil {
		return -1
	}
	r.list = append(r.list, x)
	return len(r.list) - 1
}
