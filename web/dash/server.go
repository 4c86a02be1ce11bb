// Package dash serves the live page to the browser of one person on this machine.
//
// A browser that has no certificate of the VO cannot call a broker or a site. So a
// Server listens on loopback in plain HTTP, lets in who has a one-time link, and carries
// what the page asks to the broker and the sites of a context, under the certificate of
// that context: who has the session may do what the certificate may, of a few
// operations (carried), and no more. It decides nothing, logs nothing and keeps nothing
// on a disk. docs/SECURITY.md says what this opens and what it does not.
package dash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
)

// TokenHeader has the token of a session, in every call.
const TokenHeader = "Bourse-Token"

// Session is what a browser is told when its session begins, and of the one it has.
type Session struct {
	Token  string    `json:"token,omitempty"` // said once
	Until  time.Time `json:"until"`
	Broker bool      `json:"broker"` // can be called, under /broker
	Sites  []string  `json:"sites"`  // can be called, under /sites/NAME
}

// Server serves the live page of one context.
type Server struct {
	host     string // that callers name it by: 127.0.0.1:7413
	cookie   string
	agents   *agents
	sessions *sessions
	http     *http.Server
}

// New returns a server for a listener of its own, which must be on loopback.
func New(l net.Listener, c *client.Context) (*Server, error) { return newServer(l, c, time.Now) }

func newServer(l net.Listener, c *client.Context, now func() time.Time) (*Server, error) {
	at, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil || !at.Addr().Unmap().IsLoopback() {
		return nil, fmt.Errorf("the live page would listen on %s; it is for this machine only, by a loopback address such as 127.0.0.1", l.Addr())
	}
	s := &Server{host: at.String(), cookie: fmt.Sprintf("bourse-%d", at.Port()), sessions: &sessions{now: now}}
	if s.agents, err = newAgents(c); err != nil {
		return nil, err
	}
	s.http = &http.Server{Handler: s.guarded(s.routes()), ReadHeaderTimeout: bodyTime,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ErrorLog: log.New(io.Discard, "", 0)}
	return s, nil
}

// Link makes a link that lets one browser in, once, until the instant.
func (s *Server) Link() (link string, until time.Time) {
	text, until := s.sessions.link()
	// After the #, so that no browser sends it anywhere: the page takes it from there.
	return "http://" + s.host + "/#" + text, until
}

// Serve answers until ctx ends.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	s.http.BaseContext = func(net.Listener) context.Context { return ctx }
	unhook := context.AfterFunc(ctx, func() { _ = s.http.Close() })
	defer unhook()
	if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the live page on %s: %w", s.host, err)
	}
	return nil
}

// routes is what there is behind the guard.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	web.ServePage(mux)
	mux.HandleFunc("POST /session", s.begin)
	mux.HandleFunc("GET /session", s.within(s.show))
	mux.HandleFunc("DELETE /session", s.within(s.finish))
	for _, c := range carried {
		mux.HandleFunc(c, s.within(s.agents.carry))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound, "the live page asks for nothing of the kind")
	})
	return mux
}

// guarded lets requests through that a program on this machine has made to this address,
// of browsers only those that the page itself has made, and visits to the page.
func (s *Server) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if why := s.foreign(r); why != "" {
			refuse(w, http.StatusForbidden, why)
			return
		}
		if err := whole(w, r); err != nil {
			h.Set("Connection", "close")
			refuse(w, http.StatusRequestEntityTooLarge, "the body is larger than the page ever sends, or comes too slowly")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Bounds of what the page sends: bytes, and the time in which they have come.
const (
	maxBody  = 64 << 10
	bodyTime = 5 * time.Second
)

// whole reads the body of a request.
func whole(w http.ResponseWriter, r *http.Request) error {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	at := http.NewResponseController(w) // a recorder of a test has no deadlines
	_ = at.SetReadDeadline(time.Now().Add(bodyTime))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return err
	}
	_ = at.SetReadDeadline(time.Time{})
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return nil
}

// foreign says why a request is refused whoever makes it, "" if it is not.
func (s *Server) foreign(r *http.Request) string {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return "the live page is for programs on its own machine"
	}
	if r.Host != s.host { // a host name that was made to lead here (DNS rebinding)
		return "the live page is at http://" + s.host + " and has no other name"
	}
	own := "http://" + s.host
	if origin := r.Header.Get("Origin"); origin != "" && origin != own {
		return "another page has made this request"
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if r.Header.Get("Origin") != own {
			return "a change must have the header Origin: " + own
		}
		if p := r.Header.Get("Sec-Purpose") + r.Header.Get("Purpose"); strings.Contains(p, "prefetch") || strings.Contains(p, "prerender") {
			return "a browser asks ahead; nobody has opened the page yet"
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return ""
	}
	if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.URL.Path == "/" {
		return "" // a link to the page, in a terminal of the web for instance; it holds nothing yet
	}
	return "another page has made this request"
}

// begin takes a link and sets the cookie.
func (s *Server) begin(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Link string `json:"link"`
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, `send {"link": "..."} with what stands after the # of the link`)
		return
	}
	cookie, token, until, err := s.sessions.begin(in.Link)
	if err != nil {
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	// Not Secure: this is plain HTTP on loopback, where some browsers keep no such cookie.
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: int(SessionLife.Seconds())})
	s.tell(w, Session{Token: token, Until: until})
}

type sessionKey struct{}

// within lets those in who have a session: its cookie, and its token in the header. What
// they have under way ends with it.
func (s *Server) within(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie := ""
		if c, err := r.Cookie(s.cookie); err == nil {
			cookie = c.Value
		}
		x, err := s.sessions.find(cookie, r.Header.Get(TokenHeader))
		if err != nil {
			refuse(w, http.StatusUnauthorized, err.Error())
			return
		}
		ctx, stop := context.WithDeadline(context.WithValue(r.Context(), sessionKey{}, x), x.until)
		defer stop()
		defer context.AfterFunc(x.over, stop)()
		next(w, r.WithContext(ctx))
	}
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	s.tell(w, Session{Until: r.Context().Value(sessionKey{}).(*session).until})
}

func (s *Server) finish(w http.ResponseWriter, r *http.Request) {
	s.sessions.finish(r.Context().Value(sessionKey{}).(*session))
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode, MaxAge: -1})
	w.WriteHeader(http.StatusNoContent)
}

// tell answers with a session and what it can call.
func (s *Server) tell(w http.ResponseWriter, x Session) {
	x.Broker, x.Sites = s.agents.broker != nil, s.agents.names
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // who has gone hears nothing
}

// refuse answers with a problem, in the form of the API.
func refuse(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status": status, "title": http.StatusText(status), "detail": detail})
}
