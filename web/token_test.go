package web

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// fakeIssuer is an OpenID issuer on this machine.
type fakeIssuer struct {
	*httptest.Server
	t     *testing.T
	keys  []*ecdsa.PrivateKey // shown
	down  atomic.Bool
	huge  atomic.Bool
	odd   string // a further key, as it stands there
	asked atomic.Int32
}

func newIssuer(t *testing.T) *fakeIssuer {
	f := &fakeIssuer{t: t}
	f.rotate()
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.asked.Add(1)
		switch {
		case f.down.Load():
			http.Error(w, "away", http.StatusServiceUnavailable)
		case f.huge.Load():
			_, _ = w.Write([]byte(strings.Repeat(" ", maxDocument+2)))
		case r.URL.Path == "/.well-known/openid-configuration":
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": f.URL, "jwks_uri": f.URL + "/keys"})
		default:
			var set jose.JSONWebKeySet
			for _, k := range f.keys {
				set.Keys = append(set.Keys, jose.JSONWebKey{Key: &k.PublicKey, KeyID: f.id(k), Use: "sig", Algorithm: "ES256"})
			}
			text, _ := json.Marshal(set)
			if f.odd != "" {
				text = []byte(strings.Replace(string(text), `"keys":[`, `"keys":[`+f.odd+",", 1))
			}
			_, _ = w.Write(text)
		}
	}))
	t.Cleanup(f.Close)
	return f
}

// rotate has it sign with a new key, and show that alone.
func (f *fakeIssuer) rotate() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.t.Fatal(err)
	}
	f.keys = []*ecdsa.PrivateKey{key}
}

func (f *fakeIssuer) id(k *ecdsa.PrivateKey) string { return k.X.Text(36)[:8] }

// token signs claims; change alters those of a good one.
func (f *fakeIssuer) token(now time.Time, change func(map[string]any)) string {
	c := map[string]any{"iss": f.URL, "aud": "bourse", "sub": "ana", "exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "groups": []string{"users"}}
	if change != nil {
		change(c)
	}
	return f.sign(jose.SigningKey{Algorithm: jose.ES256, Key: f.keys[0]}, f.id(f.keys[0]), c)
}

func (f *fakeIssuer) sign(key jose.SigningKey, id string, claims map[string]any) string {
	s, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithHeader("kid", id))
	if err != nil {
		f.t.Fatal(err)
	}
	text, _ := json.Marshal(claims)
	signed, err := s.Sign(text)
	if err != nil {
		f.t.Fatal(err)
	}
	raw, _ := signed.CompactSerialize()
	return raw
}

func newTestTokens(t *testing.T, f *fakeIssuer, now *time.Time) *Tokens {
	x, err := NewTokens(TokenOptions{Issuer: f.URL, Audience: "bourse", UserClaim: "sub", GroupsClaim: "groups", UserGroup: "users", OperatorGroup: "ops", Prefix: "oidc:",
		Barred: func(_ Role, name string) bool { return name == "oidc:mallory" }, Now: func() time.Time { return *now }})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// A token says who calls if its issuer has signed it, for this broker, and it is not over;
// nothing that claims to be signed otherwise does.
func TestTokens_OnlyTheIssuersForThisBrokerInTime(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	x := newTestTokens(t, f, &now)
	public, _ := x509.MarshalPKIXPublicKey(&f.keys[0].PublicKey)
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	claims := map[string]any{"iss": f.URL, "aud": "bourse", "sub": "ana", "exp": now.Add(time.Hour).Unix(), "groups": []string{"users", "ops"}}
	none := "eyJhbGciOiJub25lIn0." + strings.Split(f.token(now, nil), ".")[1] + "."
	set := func(key string, value any) func(map[string]any) { return func(c map[string]any) { c[key] = value } }
	for _, c := range []struct {
		what, token, want string
	}{
		{"a user's", f.token(now, nil), "user:oidc:ana"},
		{"an operator's", f.token(now, set("groups", []string{"users", "ops"})), "operator:oidc:ana"},
		{"of several audiences", f.token(now, set("aud", []string{"other", "bourse"})), "user:oidc:ana"},
		{"over for less than the skew", f.token(now, set("exp", now.Add(-30*time.Second).Unix())), "user:oidc:ana"},
		{"over", f.token(now, set("exp", now.Add(-2*time.Minute).Unix())), ""},
		{"without an end", f.token(now, func(c map[string]any) { delete(c, "exp") }), ""},
		{"not good yet", f.token(now, set("nbf", now.Add(time.Hour).Unix())), ""},
		{"for another", f.token(now, set("aud", "other")), ""},
		{"of another issuer", f.token(now, set("iss", "https://else.example")), ""},
		{"without a name", f.token(now, set("sub", "")), ""},
		{"of a name with controls", f.token(now, set("sub", "ana\x1b[2J")), ""},
		{"of no user", f.token(now, set("groups", []string{"guests"})), ""},
		{"of one who is barred", f.token(now, set("sub", "mallory")), ""},
		{"signed by nobody", none, ""},
		{"signed with the public key as a secret", f.sign(jose.SigningKey{Algorithm: jose.HS256, Key: public}, f.id(f.keys[0]), claims), ""},
		{"signed by a stranger under the key's name", f.sign(jose.SigningKey{Algorithm: jose.ES256, Key: stranger}, f.id(f.keys[0]), claims), ""},
		{"changed", f.token(now, nil)[:40] + "A" + f.token(now, nil)[41:], ""},
		{"too long", strings.Repeat("a", maxToken+1), ""},
		{"none", "", ""},
	} {
		who, err := x.caller(context.Background(), c.token)
		if got := string(who.ID()); c.want != "" && (err != nil || got != c.want) || c.want == "" && err == nil {
			t.Errorf("a token %s: %s, %v; want %q", c.what, got, err, c.want)
		}
	}
}

// An address of mail names a user only if the issuer says that it was verified: otherwise
// anyone could have named it. Other claims need no such word.
func TestTokens_AnAddressOfMailMustBeVerified(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		verified any // nil: the token does not say
		good     bool
	}{{true, true}, {"true", true}, {false, false}, {"false", false}, {nil, false}, {1, false}, {[]bool{true}, false}} {
		x := newTestTokens(t, f, &now)
		token := f.token(now, func(m map[string]any) {
			if m["email"] = "boss@corp.example"; c.verified != nil {
				m["email_verified"] = c.verified
			}
		})
		if who, err := x.caller(context.Background(), token); err != nil || who.Name != "oidc:ana" {
			t.Errorf("verified %v, named by sub: %v, %v", c.verified, who, err)
		}
		x.opt.UserClaim = "email"
		who, err := x.caller(context.Background(), token)
		if c.good != (err == nil) || c.good && who.Name != "oidc:boss@corp.example" || !c.good && !strings.Contains(err.Error(), "email_verified") {
			t.Errorf("verified %v: %v, %v", c.verified, who, err)
		}
	}
}

// An unknown caller gets 401, which asks for another token, and learns nothing else. A
// known caller who is shut out (also a user who is an operator, or one in none of the
// admitted groups) gets 403.
func TestTokens_UnknownIs401AndShutOutIs403(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	x := newTestTokens(t, f, &now)
	x.opt.Barred = func(role Role, name string) bool { return role == User && name == "oidc:mallory" }
	s, err := NewBroker(Options{Host: world(t), Agent: "broker:vo1", Identify: x.Or(func(*http.Request) (Caller, error) { return Caller{}, errors.New("no certificate") })})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	set := func(key string, value any) func(map[string]any) { return func(c map[string]any) { c[key] = value } }
	mallory := func(c map[string]any) { c["sub"], c["groups"] = "mallory", []string{"users", "ops"} }
	for _, c := range []struct {
		what, path, header string
		want               int
	}{
		{"a user", "/v1/tenancy", "Bearer " + f.token(now, nil), 200},
		{"nobody", "/v1/tenancy", "", 401},
		{"one whose token is over", "/v1/tenancy", "Bearer " + f.token(now, set("exp", now.Add(-time.Hour).Unix())), 401},
		{"one with a password", "/v1/tenancy", "Basic YW5hOng=", 401},
		{"a guest", "/v1/tenancy", "Bearer " + f.token(now, set("groups", []string{"guests"})), 403},
		{"an operator who is shut out as a user", "/v1/tenancy", "Bearer " + f.token(now, mallory), 403},
		{"nobody, of its health", "/healthz", "", 200},
		{"nobody, of its metrics", "/metrics", "", 401},
	} {
		r := httptest.NewRequest("GET", c.path, nil)
		if c.header != "" {
			r.Header.Set("Authorization", c.header)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.want || (w.Header().Get("WWW-Authenticate") != "") != (c.want == 401) {
			t.Errorf("%s: %d, want %d: %s", c.what, w.Code, c.want, w.Body)
		}
		if c.want == 403 || c.want == 401 && strings.HasPrefix(c.header, "Bearer ") {
			if _, raw, _ := strings.Cut(c.header, " "); strings.Contains(w.Body.String(), raw) {
				t.Errorf("%s: the answer has the token", c.what)
			}
		}
	}
}

// A key of a kind that nothing here can verify with does not cost the others.
func TestTokens_AKeyOfAnotherKindIsLeftOut(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	f.odd = `{"kty":"AKP","alg":"ML-DSA-44","kid":"new","pub":"AAAA"}`
	if _, err := newTestTokens(t, f, &now).caller(context.Background(), f.token(now, nil)); err != nil {
		t.Error(err)
	}
}

// While one caller waits for an issuer that hangs, the keys that are known do for others.
func TestTokens_AHangingIssuerHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	x := newTestTokens(t, f, &now)
	token := f.token(now, func(c map[string]any) { c["exp"] = now.Add(10 * time.Hour).Unix() })
	if _, err := x.caller(context.Background(), token); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	x.keys.mu.Lock() // as while somebody fetches them
	defer x.keys.mu.Unlock()
	if _, err := x.caller(context.Background(), token); err != nil {
		t.Error(err)
	}
}

// A key that is new is fetched, one that is withdrawn is good for an hour at most, no flood of
// unknown keys costs more than a fetch in ten seconds, and while the issuer is away, or answers without
// end, the keys that are known do for a day.
func TestTokens_KeysRotateAndOutliveTheirIssuerForADay(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	x := newTestTokens(t, f, &now)
	good := func(token string) bool {
		_, err := x.caller(context.Background(), token)
		return err == nil
	}
	long := func(c map[string]any) { c["exp"] = now.Add(240 * time.Hour).Unix() }
	first := f.token(now, long)
	for range 2 {
		if !good(first) || f.asked.Load() != 2 {
			t.Fatalf("the first token: %d questions", f.asked.Load())
		}
	}
	f.rotate()
	second := f.token(now, long)
	if good(second) || !good(first) || f.asked.Load() != 2 {
		t.Error("within ten seconds nothing is fetched, and what is known goes on")
	}
	now = now.Add(fetchEvery)
	if !good(second) || good(first) || f.asked.Load() != 4 {
		t.Errorf("the new key is fetched, the old one is gone: %d questions", f.asked.Load())
	}
	for range 50 {
		good(first)
	}
	if f.asked.Load() != 4 {
		t.Errorf("a flood of tokens by unknown keys costs %d questions", f.asked.Load())
	}
	f.down.Store(true)
	if now = now.Add(23 * time.Hour); !good(second) {
		t.Error("the issuer is away for 23 hours, and its keys do not do any more")
	}
	f.down.Store(false)
	f.huge.Store(true)
	if now = now.Add(30 * time.Minute); !good(second) {
		t.Error("an endless answer has cost the keys")
	}
	if now = now.Add(time.Hour); good(second) {
		t.Error("keys of more than a day are still good")
	}
	f.huge.Store(false)
	if now = now.Add(time.Minute); !good(second) {
		t.Error("the issuer is back, and its tokens are refused")
	}
}

// By the API, who shows a token is whom it names; who shows none is known by certificate; and who
// shows both is whom the token names.
func TestTokens_BesideCertificates(t *testing.T) {
	t.Parallel()
	f, now := newIssuer(t), time.Unix(1_800_000_000, 0)
	x := newTestTokens(t, f, &now)
	identify := x.Or(func(*http.Request) (Caller, error) { return Caller{Role: User, Name: "ben"}, nil })
	for _, c := range []struct {
		header []string
		want   string
	}{
		{nil, "user:ben"},
		{[]string{"Bearer " + f.token(now, nil)}, "user:oidc:ana"},
		{[]string{"Bearer " + f.token(now, nil), "Bearer " + f.token(now, nil)}, ""},
		{[]string{"Basic YW5hOng="}, ""},
		{[]string{"Bearer nonsense"}, ""},
	} {
		r := httptest.NewRequest("GET", "/v1/jobs", nil)
		for _, h := range c.header {
			r.Header.Add("Authorization", h)
		}
		who, err := identify(r)
		if c.want == "" != (err != nil) || err == nil && string(who.ID()) != c.want {
			t.Errorf("%.40q: %s, %v; want %q", c.header, who.ID(), err, c.want)
		}
	}
}
