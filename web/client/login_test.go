package client

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log-in shows where to say which code, waits until the issuer has heard it, and the token
// is kept for its owner alone.
func TestLogin_ByAnotherDevice(t *testing.T) {
	t.Parallel()
	said, asked := "", 0
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{}
		switch r.URL.Path {
		case "/.well-known/openid-configuration":
			answer = map[string]any{"issuer": s.URL, "token_endpoint": s.URL + "/token", "device_authorization_endpoint": s.URL + "/device", "jwks_uri": s.URL + "/keys"}
		case "/device":
			if r.FormValue("client_id") != "bourse" || r.FormValue("scope") != "openid groups" {
				t.Errorf("it asks as %q for %q", r.FormValue("client_id"), r.FormValue("scope"))
			}
			answer = map[string]any{"device_code": "d", "user_code": "WDJB-MJHT", "verification_uri": s.URL + "/say", "verification_uri_complete": s.URL + "/say?code=WDJB-MJHT", "expires_in": 600, "interval": 1}
		case "/token":
			if r.FormValue("grant_type") == "refresh_token" {
				if r.FormValue("refresh_token") != "r1" {
					w.WriteHeader(http.StatusBadRequest)
					answer = map[string]any{"error": "invalid_grant"}
					break
				}
				answer = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": "eyJ.x.z", "refresh_token": "r2"}
				break
			}
			if asked++; said == "" || r.FormValue("device_code") != "d" {
				t.Errorf("it asks for a token of %q before anybody was told where to log in", r.FormValue("device_code"))
			}
			if answer = map[string]any{"access_token": "a", "token_type": "Bearer", "id_token": "eyJ.x.y", "refresh_token": "r1"}; asked == 1 {
				w.WriteHeader(http.StatusBadRequest)
				answer = map[string]any{"error": "authorization_pending"}
			}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	i := Issuer{URL: s.URL, ClientID: "bourse", Scopes: []string{"groups"}}
	token, err := i.Login(t.Context(), func(p Prompt) { said = p.At + " " + p.Code + " " + p.Whole })
	if err != nil || token != "eyJ.x.y" || asked != 2 || said != s.URL+"/say WDJB-MJHT "+s.URL+"/say?code=WDJB-MJHT" {
		t.Fatal(token, err, asked, said)
	}
	c := &Context{TokenFile: "token", file: filepath.Join(t.TempDir(), "context.json")}
	if none, err := c.Issuer(); err != nil || none.URL != "" {
		t.Error("before any log-in", none, err)
	}
	name, err := c.SaveToken(token, i)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{name, name + ".login"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(info, err)
		}
	}
	kept, err := c.Issuer()
	if err != nil || kept.URL != s.URL || kept.ClientID != "bourse" || kept.Refresh != "r1" {
		t.Errorf("kept: %+v, %v", kept, err)
	}
	if renewed, err := kept.Renew(t.Context()); err != nil || renewed != "eyJ.x.z" || kept.Refresh != "r2" {
		t.Errorf("renewed without a log-in: %s, %v, next by %q", renewed, err, kept.Refresh)
	}
	if _, err := kept.Renew(t.Context()); err == nil || !strings.Contains(err.Error(), "gives no new token") {
		t.Errorf("by what the issuer does not take: %v", err)
	}
	if kept, err := c.token(); err != nil || kept != token {
		t.Error(kept, err)
	}
	if _, err := (&Context{file: "c.json"}).SaveToken(token, i); err == nil || !strings.Contains(err.Error(), "token_file") {
		t.Errorf("a context without a token: %v", err)
	}
}

// An issuer that could be listened to, or that knows no such log-in, is refused.
func TestLogin_RefusesAnIssuerThatDoesNotFit(t *testing.T) {
	t.Parallel()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": s.URL, "token_endpoint": s.URL + "/token"})
	}))
	t.Cleanup(s.Close)
	for address, want := range map[string]string{"http://login.example.org": "must be https", "login": "must be https", s.URL: "no log-in by another device"} {
		if _, err := (&Issuer{URL: address, ClientID: "bourse"}).Login(t.Context(), func(Prompt) { t.Error("somebody is told to log in") }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", address, err)
		}
	}
}
