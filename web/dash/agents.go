package dash

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/web/client"
)

// carried is all that a session can ask for: what the page shows, submitting, changing and
// cancelling jobs, and draining and closing a site. Nobody pays in by it, or gives a site up.
var carried = []string{
	"GET /broker/v1/caller",
	"GET /broker/live",
	"GET /broker/v1/jobs",
	"GET /broker/v1/jobs/{id}",
	"GET /broker/v1/jobs/{id}/explanation",
	"GET /broker/v1/jobs/{id}/output",
	"DELETE /broker/v1/jobs/{id}",
	"PATCH /broker/v1/jobs/{id}",
	"POST /broker/v1/batches",
	"POST /broker/v1/quotes",
	"GET /sites/{site}/v1/caller",
	"GET /sites/{site}/v1/site",
	"GET /sites/{site}/v1/reservations",
	"POST /sites/{site}/v1/drain",
	"DELETE /sites/{site}/v1/drain",
	"POST /sites/{site}/v1/close",
	"POST /sites/{site}/v1/open",
}

// agents are the APIs of a context.
type agents struct {
	broker http.Handler // nil: the context names none
	sites  map[string]http.Handler
	names  []string // of the sites, in order
}

func newAgents(c *client.Context) (*agents, error) {
	a := &agents{sites: map[string]http.Handler{}, names: []string{}}
	if c.Broker != "" {
		to, err := c.ToBroker()
		if err != nil {
			return nil, err
		}
		a.broker = carrier(to)
	}
	for name := range c.Sites {
		to, err := c.ToSite(name)
		if err != nil {
			return nil, err
		}
		a.sites[name] = carrier(to)
		a.names = append(a.names, name)
	}
	slices.Sort(a.names)
	return a, nil
}

// carry hands a request on to the broker or to a site.
func (a *agents) carry(w http.ResponseWriter, r *http.Request) {
	to, prefix := a.broker, "/broker"
	if site := r.PathValue("site"); site != "" {
		rest := strings.TrimPrefix(r.URL.EscapedPath(), "/sites/")
		escaped, _, _ := strings.Cut(rest, "/")
		to, prefix = a.sites[site], "/sites/"+escaped
		if to == nil {
			refuse(w, http.StatusNotFound, "the context file knows no address of this site; add it under sites")
			return
		}
	}
	if to == nil {
		refuse(w, http.StatusNotFound, "the context file names no broker")
		return
	}
	r = r.Clone(r.Context())
	path := strings.TrimPrefix(r.URL.EscapedPath(), prefix)
	unescaped, err := r.URL.Parse(path)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	r.URL.Path, r.URL.RawPath = unescaped.Path, unescaped.RawPath
	to.ServeHTTP(w, r)
}

// forwarded and answered are the headers that pass: no cookie, token or origin goes to an
// agent, and none comes back.
var (
	forwarded = []string{"Accept", "Content-Type"}
	answered  = []string{"Content-Type", "Content-Length", "Retry-After", "Allow"}
)

// carrier hands requests on to one API, under the certificate of the context.
func carrier(to *client.Client) http.Handler {
	base, transport := to.Transport()
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(base)
			r.Out.Host = base.Host
			r.Out.Header = only(r.In.Header, forwarded)
		},
		ModifyResponse: func(a *http.Response) error {
			a.Header = only(a.Header, answered)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, to.Unreachable(err).Error())
		},
	}
}

// only returns the headers of some names.
func only(h http.Header, names []string) http.Header {
	out := http.Header{}
	for _, name := range names {
		if v, ok := h[name]; ok {
			out[name] = v
		}
	}
	return out
}
