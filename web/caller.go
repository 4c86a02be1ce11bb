package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
)

// Role is what a caller may do.
type Role string

// The roles.
const (
	User     Role = "user"     // sees, submits and cancels under their own name
	Operator Role = "operator" // of the broker or the site: sees everything and may do everything
)

// Caller is the sender of a request.
type Caller struct {
	Role Role
	Name string
}

// ID is the caller's address, "user:ana".
func (c Caller) ID() agents.ID { return agents.ID(string(c.Role) + ":" + c.Name) }

// sees reports whether the caller may see what is a user's.
func (c Caller) sees(user string) bool { return c.Role == Operator || c.Role == User && c.Name == user }

// Identify returns the caller, or why they may not call. The caller sees the text of the
// error.
type Identify func(*http.Request) (Caller, error)

// ErrNotLocal refuses a caller that is not on this machine.
var ErrNotLocal = errors.New("without certificates only programs on this machine may call, at a loopback address such as http://127.0.0.1")

// Anybody makes every program on this machine an operator without a name. It is for plain
// HTTP on loopback, and only if the configuration asks for it. The Host header must name
// loopback too, so that a web page in a local browser cannot call under its own host name
// (DNS rebinding).
func Anybody(r *http.Request) (Caller, error) {
	if !loopback(r.RemoteAddr) || !loopback(r.Host) {
		return Caller{}, ErrNotLocal
	}
	return Caller{Role: Operator}, nil
}

// loopback reports whether an address, with or without a port, is a loopback one.
func loopback(address string) bool {
	host := address
	if h, _, err := net.SplitHostPort(address); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// ByCertificate identifies callers by their certificates of the VO, as users or operators.
// It checks the certificate with every request, so that a revoked one is refused on an open
// connection too.
func ByCertificate(store *certificate.Store) Identify {
	return func(r *http.Request) (Caller, error) {
		if r.TLS == nil {
			return Caller{}, errors.New("not a TLS connection; call by https with a certificate")
		}
		who, err := store.Caller(r.TLS.PeerCertificates, certificate.User, certificate.Operator)
		if err != nil {
			return Caller{}, err
		}
		return Caller{Role: Role(who.Role), Name: who.Name}, nil
	}
}

// Who is a caller, as the API sees it.
type Who struct {
	Agent string `json:"agent" doc:"whose API this is" example:"broker:vo1"`
	Role  Role   `json:"role" enum:"user,operator" doc:"what the caller may do"`
	Name  string `json:"name,omitempty" doc:"absent without certificates: any program on this machine"`
	// VOs distinguish brokers with the same name, also on their live pages.
	VOs []string `json:"vos,omitempty" doc:"the VOs that the agent is a member of" example:"[\"atlas\"]"`
}

type whoOutput struct{ Body Who }

// who answers callers with who they are.
func (a *agent) who(ctx context.Context, _ *struct{}) (*whoOutput, error) {
	c := caller(ctx)
	w := Who{Agent: string(a.opt.Agent), Role: c.Role, Name: c.Name}
	if a.opt.VOs != nil {
		w.VOs = a.opt.VOs()
	}
	return &whoOutput{w}, nil
}

// whoRoute is the operation for who, which brokers and sites have.
func whoRoute(a *agent) route {
	return to(huma.Operation{OperationID: "caller", Method: http.MethodGet, Path: "/v1/caller", Tags: []string{"caller"},
		Summary: "Show who is calling", Description: "By the caller's certificate or token.", Errors: []int{403}}, a.who)
}

type callerKey struct{}

// counted is the middleware that counts and times requests.
func (s *Server) counted(ctx huma.Context, next func(huma.Context)) {
	began := time.Now()
	next(ctx)
	took, operation := time.Since(began), ctx.Operation().OperationID
	s.count.requests.WithLabelValues(operation, strconv.Itoa(ctx.Status())).Inc()
	if ctx.Operation().Path != eventsPath {
		s.count.requestTime.WithLabelValues(operation).Observe(took.Seconds())
	}
	s.opt.Log.Debug().Str("caller", string(caller(ctx.Context()).ID())).Str("operation", operation).Int("status", ctx.Status()).Dur("took", took).Msg("request")
}

// caller returns the caller of a request.
func caller(ctx context.Context) Caller {
	who, _ := ctx.Value(callerKey{}).(Caller)
	return who
}
