package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"github.com/bourse-grid/bourse"
)

// TokenOptions say whose tokens are taken, and what they say of a caller.
type TokenOptions struct {
	Issuer        string // https://..., or http://127.0.0.1...
	Audience      string
	UserClaim     string // "sub", ...
	GroupsClaim   string
	UserGroup     string // only its members are let in; "": all
	OperatorGroup string // its members are operators; "": nobody is by a token
	Prefix        string // of the names of users by token

	Barred func(role Role, name string) bool // nil: nobody is
	Now    func() time.Time                  // nil: time.Now
}

// Bounds of tokens, and of what is fetched from their issuer.
const (
	maxToken    = 16 << 10
	maxKeys     = 100
	maxDocument = 1 << 20
	fetchTime   = 5 * time.Second
	fetchEvery  = 10 * time.Second // at most, whatever tokens are shown
	freshKeys   = time.Hour        // then they are fetched again
	staleKeys   = 24 * time.Hour   // so long they do while the issuer does not answer
	tokenSkew   = time.Minute      // by which the issuer's clock may be ahead or behind
)

// tokenAlgorithms are those that a token may be signed with: none that is symmetric, for
// the key would be one that everybody can fetch.
var tokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// Tokens says who callers are by the tokens of an OpenID issuer.
type Tokens struct {
	opt      TokenOptions
	verifier *oidc.IDTokenVerifier
	keys     *issuerKeys
}

// NewTokens takes tokens of one issuer. Nothing is fetched before the first one is shown.
func NewTokens(opt TokenOptions) (*Tokens, error) {
	u, err := url.Parse(opt.Issuer)
	if err != nil || u.Host == "" || !safe(u) {
		return nil, fmt.Errorf("oidc.issuer %q: must be https://HOST..., or http of this machine", opt.Issuer)
	}
	if opt.Audience == "" || opt.UserClaim == "" {
		return nil, errors.New("oidc: audience and user_claim must be given")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	x := &Tokens{opt: opt, keys: &issuerKeys{issuer: opt.Issuer, now: opt.Now, client: &http.Client{Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects, which is not followed") }}}}
	algorithms := make([]string, len(tokenAlgorithms))
	for i, a := range tokenAlgorithms {
		algorithms[i] = string(a)
	}
	x.verifier = oidc.NewVerifier(opt.Issuer, x.keys, &oidc.Config{ClientID: opt.Audience, SupportedSigningAlgs: algorithms,
		Now: func() time.Time { return opt.Now().Add(-tokenSkew) }})
	return x, nil
}

// safe reports whether what is fetched from there cannot be changed on its way.
func safe(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Host)
}

// unknownCaller is why nothing says who a caller is. It is answered 401, so that programs see
// that another token is needed; who is known and may not call is answered 403.
type unknownCaller struct{ error }

func unknown(format string, args ...any) error { return unknownCaller{fmt.Errorf(format, args...)} }

// Or identifies callers who show a token by that, and others as next does.
func (x *Tokens) Or(next Identify) Identify {
	return func(r *http.Request) (Caller, error) {
		list := r.Header.Values("Authorization")
		if len(list) == 0 {
			who, err := next(r)
			if err != nil && (r.TLS == nil || len(r.TLS.PeerCertificates) == 0) {
				err = unknown("show a token (Authorization: Bearer TOKEN) or a certificate: %w", err)
			}
			return who, err
		}
		raw, ok := strings.CutPrefix(list[0], "Bearer ")
		if !ok || len(list) > 1 {
			return Caller{}, unknown("one header Authorization: Bearer TOKEN is taken, or none and a certificate")
		}
		return x.caller(r.Context(), strings.TrimSpace(raw))
	}
}

// caller is whom a token speaks of.
func (x *Tokens) caller(ctx context.Context, raw string) (Caller, error) {
	if len(raw) > maxToken {
		return Caller{}, unknown("the token has %d bytes, at most %d are taken", len(raw), maxToken)
	}
	token, err := x.verifier.Verify(ctx, raw)
	if err != nil {
		return Caller{}, unknown("the token is refused: %v", err)
	}
	claims := map[string]any{}
	if err := token.Claims(&claims); err != nil {
		return Caller{}, unknown("the token is refused: %v", err)
	}
	name, _ := claims[x.opt.UserClaim].(string)
	if name == "" {
		return Caller{}, unknown("the token is refused: it has no name in %q", x.opt.UserClaim)
	}
	who := Caller{Role: User, Name: x.opt.Prefix + name}
	if err := bourse.CheckName(who.Name); err != nil {
		return Caller{}, unknown("the token is refused: %v", err)
	}
	groups := textsOf(claims[x.opt.GroupsClaim])
	if g := x.opt.UserGroup; g != "" && !groups[g] {
		return Caller{}, fmt.Errorf("the token is refused: %s is not in the group %q", who.Name, g)
	}
	if g := x.opt.OperatorGroup; g != "" && groups[g] {
		who.Role = Operator
	}
	if x.opt.Barred != nil && (x.opt.Barred(User, who.Name) || x.opt.Barred(who.Role, who.Name)) { // a user who is shut out is no operator either
		return Caller{}, fmt.Errorf("%s is on the list of those who are revoked", who.ID())
	}
	return who, nil
}

// textsOf are the texts of a claim that is one or a list of them.
func textsOf(claim any) map[string]bool {
	all := map[string]bool{}
	switch v := claim.(type) {
	case string:
		all[v] = true
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				all[s] = true
			}
		}
	}
	return all
}

// issuerKeys are the keys of an issuer, fetched when a token names one that is not known,
// and once an hour. While the issuer does not answer those that are known do, for a day.
type issuerKeys struct {
	issuer string
	client *http.Client
	now    func() time.Time

	known atomic.Pointer[fetched]
	mu    sync.Mutex // of fetching
	tried time.Time
	why   error // of the last fetch; nil: it went well
}

type fetched struct {
	at   time.Time
	keys []jose.JSONWebKey
}

// VerifySignature returns what a token says, if one of the keys has signed it.
func (k *issuerKeys) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	token, err := jose.ParseSigned(raw, tokenAlgorithms)
	if err != nil {
		return nil, err
	}
	if len(token.Signatures) != 1 {
		return nil, fmt.Errorf("it has %d signatures, must have one", len(token.Signatures))
	}
	have := k.known.Load()
	if have == nil || k.now().Sub(have.at) >= freshKeys {
		have = k.fetch(ctx, have, have == nil)
	}
	for range 2 {
		if have == nil || k.now().Sub(have.at) >= staleKeys {
			return nil, fmt.Errorf("there are no keys of its issuer: %w", k.failure())
		}
		if text, ok := have.verify(token); ok {
			return text, nil
		}
		again := k.fetch(ctx, have, true)
		if again == have {
			break
		}
		have = again
	}
	return nil, errors.New("no key of its issuer has signed it")
}

// verify holds a token against those keys that it may be signed with.
func (f *fetched) verify(token *jose.JSONWebSignature) ([]byte, bool) {
	head := token.Signatures[0].Header
	for i := range f.keys {
		key := &f.keys[i]
		if head.KeyID != "" && key.KeyID != head.KeyID || key.Use != "" && key.Use != "sig" || key.Algorithm != "" && key.Algorithm != head.Algorithm || !key.IsPublic() {
			continue
		}
		if text, err := token.Verify(key); err == nil {
			return text, true
		}
	}
	return nil, false
}

func (k *issuerKeys) failure() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.why == nil {
		return errors.New("they are too old")
	}
	return k.why
}

// fetch returns newer keys than those that are known, or those, if there are none, or it was
// tried a moment ago. Without wait it does not wait for another caller who fetches them.
func (k *issuerKeys) fetch(ctx context.Context, have *fetched, wait bool) *fetched {
	if wait {
		k.mu.Lock()
	} else if !k.mu.TryLock() {
		return have
	}
	defer k.mu.Unlock()
	if now := k.known.Load(); now != have {
		return now // by another caller
	}
	if !k.tried.IsZero() && k.now().Sub(k.tried) < fetchEvery {
		return have
	}
	k.tried = k.now()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), fetchTime) // a caller who goes must not cost others the keys
	defer stop()
	keys, err := k.ask(ctx)
	if k.why = err; err != nil {
		return have
	}
	fresh := &fetched{k.tried, keys}
	k.known.Store(fresh)
	return fresh
}

// ask fetches where the keys are, and the keys.
func (k *issuerKeys) ask(ctx context.Context) ([]jose.JSONWebKey, error) {
	var about struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	if err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &about); err != nil {
		return nil, err
	}
	if about.Issuer != k.issuer {
		return nil, fmt.Errorf("%s calls itself %q", k.issuer, about.Issuer)
	}
	if u, err := url.Parse(about.Keys); err != nil || u.Host == "" || !safe(u) {
		return nil, fmt.Errorf("%s has its keys at %q, which is not https", k.issuer, about.Keys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s has %d keys, at most %d are taken", k.issuer, len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys { // one of a kind that nothing here can verify with must not cost the others
		var key jose.JSONWebKey
		if json.Unmarshal(text, &key) == nil {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

func (k *issuerKeys) get(ctx context.Context, address string, to any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := k.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", address, answer.Status)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	if len(text) > maxDocument {
		return fmt.Errorf("%s answers with more than %d bytes", address, maxDocument)
	}
	if err := json.Unmarshal(text, to); err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	return nil
}
