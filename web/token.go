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

	"github.com/bourse-grid/bourse/grid"
)

// TokenOptions say whose tokens to accept, and how to read a caller's rights from them.
type TokenOptions struct {
	Issuer        string // https://..., or http://127.0.0.1...
	Audience      string
	UserClaim     string // "sub", ...
	GroupsClaim   string
	UserGroup     string // only its members may call; "": all
	OperatorGroup string // its members are operators; "": tokens make no operators
	Prefix        string // of the names of users with tokens

	Barred func(role Role, name string) bool // nil: nobody is barred
	Now    func() time.Time                  // nil: time.Now
}

// Bounds of tokens, and of requests to their issuer.
const (
	maxToken    = 16 << 10
	maxKeys     = 100
	maxDocument = 1 << 20
	fetchTime   = 5 * time.Second
	fetchEvery  = 10 * time.Second // the least time between two fetches
	freshKeys   = time.Hour        // after this, keys are fetched again
	staleKeys   = 24 * time.Hour   // how long keys are used while the issuer does not answer
	tokenSkew   = time.Minute      // by which the issuer's clock may be ahead or behind
)

// tokenAlgorithms are the allowed signature algorithms of tokens. None is symmetric, because
// everybody could fetch the key.
var tokenAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA}

// Tokens identifies callers by the tokens of an OpenID issuer.
type Tokens struct {
	opt      TokenOptions
	verifier *oidc.IDTokenVerifier
	keys     *issuerKeys
}

// NewTokens accepts tokens of one issuer. It fetches nothing before the first token arrives.
func NewTokens(opt TokenOptions) (*Tokens, error) {
	u, err := url.Parse(opt.Issuer)
	if err != nil || u.Host == "" || !safe(u) {
		return nil, fmt.Errorf("oidc.issuer %q: must be https://HOST..., or http on this machine", opt.Issuer)
	}
	if opt.Audience == "" || opt.UserClaim == "" {
		return nil, errors.New("oidc: audience and user_claim must be given")
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	x := &Tokens{opt: opt, keys: &issuerKeys{issuer: opt.Issuer, now: opt.Now, client: &http.Client{Timeout: fetchTime,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("it redirects, but redirects are not followed")
		}}}}
	algorithms := make([]string, len(tokenAlgorithms))
	for i, a := range tokenAlgorithms {
		algorithms[i] = string(a)
	}
	x.verifier = oidc.NewVerifier(opt.Issuer, x.keys, &oidc.Config{ClientID: opt.Audience, SupportedSigningAlgs: algorithms,
		Now: func() time.Time { return opt.Now().Add(-tokenSkew) }})
	return x, nil
}

// safe reports whether a document fetched from u cannot be changed on the way.
func safe(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Host)
}

// unknownCaller is why a caller cannot be identified. The answer is 401, so that programs see
// that they need another token; a known caller who may not call gets 403.
type unknownCaller struct{ error }

func unknown(format string, args ...any) error { return unknownCaller{fmt.Errorf(format, args...)} }

// Or identifies callers by their token if they show one, and others by next.
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
			return Caller{}, unknown("must have one header Authorization: Bearer TOKEN, or none and a certificate")
		}
		return x.caller(r.Context(), strings.TrimSpace(raw))
	}
}

// caller returns the caller that a token identifies.
func (x *Tokens) caller(ctx context.Context, raw string) (Caller, error) {
	if len(raw) > maxToken {
		return Caller{}, unknown("the token has %d bytes; must have at most %d", len(raw), maxToken)
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
	if x.opt.UserClaim == "email" && !affirmed(claims["email_verified"]) {
		return Caller{}, unknown("the token is refused: its issuer does not say that the address %q was verified (email_verified), so anyone could have named it; let the issuer verify addresses, or name users by another claim, such as sub", name)
	}
	who := Caller{Role: User, Name: x.opt.Prefix + name}
	if err := grid.CheckName(who.Name); err != nil {
		return Caller{}, unknown("the token is refused: %v", err)
	}
	groups := textsOf(claims[x.opt.GroupsClaim])
	if g := x.opt.UserGroup; g != "" && !groups[g] {
		return Caller{}, fmt.Errorf("the token is refused: %s is not in the group %q", who.Name, g)
	}
	if g := x.opt.OperatorGroup; g != "" && groups[g] {
		who.Role = Operator
	}
	if x.opt.Barred != nil && (x.opt.Barred(User, who.Name) || x.opt.Barred(who.Role, who.Name)) { // a barred user is not an operator either
		return Caller{}, fmt.Errorf("%s is revoked", who.ID())
	}
	return who, nil
}

// affirmed reports whether a claim says yes. Some issuers write it as a text.
func affirmed(claim any) bool { return claim == true || claim == "true" }

// textsOf returns the texts of a claim, which is a text or a list of texts.
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

// issuerKeys are the keys of an issuer. They are fetched once an hour, and when a token names
// an unknown one. While the issuer does not answer, the known keys are used for up to a day.
type issuerKeys struct {
	issuer string
	client *http.Client
	now    func() time.Time

	known atomic.Pointer[fetched]
	mu    sync.Mutex // held while fetching
	tried time.Time
	why   error // of the last fetch; nil: it went well
}

type fetched struct {
	at   time.Time
	keys []jose.JSONWebKey
}

// VerifySignature returns the content of a token if one of the keys has signed it.
func (k *issuerKeys) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	token, err := jose.ParseSignedCompact(raw, tokenAlgorithms) // which has one signature
	if err != nil {
		return nil, err
	}
	have := k.known.Load()
	if have == nil || k.now().Sub(have.at) >= freshKeys {
		have = k.fetch(ctx, have, have == nil)
	}
	for range 2 {
		if have == nil || k.now().Sub(have.at) >= staleKeys {
			return nil, fmt.Errorf("the keys of its issuer are not available: %w", k.failure())
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
	return nil, errors.New("it is not signed by a key of its issuer")
}

// verify checks a token against the keys that may have signed it.
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

// fetch returns newer keys than have. It returns the known keys if there are no newer ones or
// the last try was a moment ago. Without wait it does not wait for another caller's fetch.
func (k *issuerKeys) fetch(ctx context.Context, have *fetched, wait bool) *fetched {
	if wait {
		k.mu.Lock()
	} else if !k.mu.TryLock() {
		return have
	}
	defer k.mu.Unlock()
	if now := k.known.Load(); now != have {
		return now // another caller has fetched them
	}
	if !k.tried.IsZero() && k.now().Sub(k.tried) < fetchEvery {
		return have
	}
	k.tried = k.now()
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), fetchTime) // a caller who leaves must not end the fetch for others
	defer stop()
	keys, err := k.ask(ctx)
	if k.why = err; err != nil {
		return have
	}
	fresh := &fetched{k.tried, keys}
	k.known.Store(fresh)
	return fresh
}

// ask fetches the address of the keys, and the keys.
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
		return nil, fmt.Errorf("%s has its keys at %q; must be https", k.issuer, about.Keys)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, about.Keys, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("%s has %d keys; must have at most %d", k.issuer, len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys { // skip keys of unsupported kinds, but use the others
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
