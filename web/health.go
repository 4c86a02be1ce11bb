package web

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/broker"
)

// health says how the process and its agent are.
type health struct{ *agent }

// healthy answers 200 while the agent answers: whoever watches the process
// restarts it if not.
func (s *health) healthy(w http.ResponseWriter, r *http.Request) {
	say(w, s.answers(r.Context(), func(bourse.Time, agents.Agent) {}))
}

// ready answers 200 once the process can serve: its agent answers, Options.Ready
// has no objection, no other process has its name, and at least one site of a broker
// answers.
func (s *health) ready(w http.ResponseWriter, r *http.Request) {
	fenced, unheard := false, false
	err := s.answers(r.Context(), func(_ bourse.Time, a agents.Agent) {
		if b, ok := a.(*broker.Broker); ok {
			fenced, unheard = b.Fenced(), b.Unheard()
		}
	})
	switch {
	case err != nil:
	case fenced:
		err = errors.New("another process acts under this broker's name")
	case s.opt.Ready != nil:
		err = s.opt.Ready()
	}
	if err == nil && unheard { // last, because a broker that waits for its clock has asked no site yet
		err = errors.New("no site answers: jobs that are submitted wait; see whether another process has this broker's name, or the network is cut")
	}
	say(w, err)
}

// say answers ok, or 503 and why not.
func say(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}

//go:embed page.html
var livePage []byte

// pagePolicy lets the live page use its own style and script and call this API; it can
// load and send nothing else.
var pagePolicy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src " +
	inlined("style") + "; script-src " + inlined("script")

// inlined is the hash of an element's text, as a content security policy names it.
func inlined(element string) string {
	m := regexp.MustCompile(`(?s)<` + element + `>(.*?)</` + element + `>`).FindSubmatch(livePage)
	h := sha256.Sum256(m[1])
	return "'sha256-" + base64.StdEncoding.EncodeToString(h[:]) + "'"
}

// ServePage serves the live page at the root of a host. Who may see what it shows is
// asked where it asks.
func ServePage(mux *http.ServeMux) { mux.HandleFunc("GET /{$}", page) }

// page serves the live page: one file that reads the API and refreshes itself.
func page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	w.Header().Set("Referrer-Policy", "no-referrer")
	_, _ = w.Write(livePage)
}
