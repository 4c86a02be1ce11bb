package dash

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"slices"
	"sync"
	"time"
)

// How long what opens the page is good for, and how many of it there are at once:
// beyond, the oldest ends.
const (
	LinkLife    = 10 * time.Minute
	SessionLife = 12 * time.Hour
	most        = 16
)

var (
	errLink    = errors.New("this link has been used, or is too old; bourse dash makes another")
	errSession = errors.New("no session, or it is over; bourse dash makes a link that begins one")
)

// secret is what is kept of a random text that opens something: not the text.
type secret [sha256.Size]byte

// newSecret draws a text of 130 bits.
func newSecret() (text string, s secret) {
	text = rand.Text()
	return text, sha256.Sum256([]byte(text))
}

// is compares in a time that tells nothing.
func (s *secret) is(text string) bool {
	h := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(s[:], h[:]) == 1
}

// link opens one session, once.
type link struct {
	secret
	until time.Time
}

// session is what a browser has that a link has let in: a cookie that the browser keeps
// and a token that the page keeps. Neither is enough alone: the cookie goes to every
// port of this host, the token only where the page says it.
type session struct {
	cookie, token secret
	until         time.Time
	over          context.Context // ends with the session
	end           context.CancelFunc
}

// sessions holds the links and the sessions of a server. They live in memory only.
type sessions struct {
	now func() time.Time

	mu    sync.Mutex
	links []link
	open  []*session
}

// link makes a link's secret.
func (s *sessions) link() (text string, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := link{until: s.now().Add(LinkLife)}
	text, l.secret = newSecret()
	s.links = append(s.links[max(0, len(s.links)-most+1):], l)
	return text, l.until
}

// begin uses a link up and returns what its browser has from then on.
func (s *sessions) begin(text string) (cookie, token string, until time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, found := s.now(), false
	s.links = slices.DeleteFunc(s.links, func(l link) bool {
		is := l.is(text)
		found = found || is && now.Before(l.until)
		return is || !now.Before(l.until)
	})
	if !found {
		return "", "", until, errLink
	}
	x := &session{until: now.Add(SessionLife)}
	cookie, x.cookie = newSecret()
	token, x.token = newSecret()
	x.over, x.end = context.WithCancel(context.Background())
	s.sweep(now)
	for len(s.open) >= most {
		s.open[0].end()
		s.open = s.open[1:]
	}
	s.open = append(s.open, x)
	return cookie, token, x.until, nil
}

// find returns the session of a cookie and its token.
func (s *sessions) find(cookie, token string) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(s.now())
	var found *session
	for _, x := range s.open { // all, so that the time tells nothing
		if has, says := x.cookie.is(cookie), x.token.is(token); has && says {
			found = x
		}
	}
	if found == nil {
		return nil, errSession
	}
	return found, nil
}

// finish ends a session.
func (s *sessions) finish(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.end()
	s.open = slices.DeleteFunc(s.open, func(o *session) bool { return o == x })
}

// sweep ends the sessions whose time is over; the lock is held.
func (s *sessions) sweep(now time.Time) {
	s.open = slices.DeleteFunc(s.open, func(x *session) bool {
		if now.Before(x.until) {
			return false
		}
		x.end()
		return true
	})
}
