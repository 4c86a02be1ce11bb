package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/tree/thorough"
	"github.com/bourse-grid/bourse/web/client"
)

// issuer is an OpenID issuer on this machine, and what signs its tokens.
func issuer(t *testing.T) (url string, token func(user string, groups ...string) string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: &key.PublicKey, KeyID: "k", Use: "sig", Algorithm: "ES256"}}})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": s.URL, "jwks_uri": s.URL + "/keys"})
	}))
	t.Cleanup(s.Close)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, (&jose.SignerOptions{}).WithHeader("kid", "k"))
	if err != nil {
		t.Fatal(err)
	}
	return s.URL, func(user string, groups ...string) string {
		text, _ := json.Marshal(map[string]any{"iss": s.URL, "aud": "bourse", "sub": user, "groups": groups, "exp": time.Now().Add(time.Hour).Unix()})
		signed, err := signer.Sign(text)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := signed.CompactSerialize()
		return raw
	}
}

// Users and operators call a broker's process by tokens alone, over TLS; its file is read
// again on SIGHUP, and one that is wrong changes nothing.
func TestBroker_TakesTokensAndReadsItsFileAgain(t *testing.T) {
	thorough.Only(t, "starts processes")
	t.Parallel()
	at, token := issuer(t)
	dir := t.TempDir()
	members, err := federation.LayOut(dir, 1, 0, testPort(34), federation.Simulated)
	if err != nil {
		t.Fatal(err)
	}
	file := members[0].File
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(more string) {
		t.Helper()
		if err := os.WriteFile(file, append(text, "\n[oidc]\nissuer = \""+at+"\"\naudience = \"bourse\"\noperator_group = \"ops\"\n"+more...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	stderr, pids, _ := upReplicas(t, dir)
	c, err := client.Read(filepath.Join(dir, federation.ContextFile))
	if err != nil {
		t.Fatal(err)
	}
	by := func(name, token string) string {
		t.Helper()
		x := client.Context{Broker: c.Broker, CA: filepath.Join(dir, c.CA), TokenFile: name + ".token"}
		if err := os.WriteFile(filepath.Join(dir, x.TokenFile), []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := x.Write(filepath.Join(dir, name+".json")); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name+".json")
	}
	run := func(under string, args ...string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		out, messages, err := runCommand(ctx, append(args, "--context", under)...)
		return out + messages, err
	}
	ana, olga, forged := by("ana", token("ana")), by("olga", token("olga", "ops")), by("forged", token("ana")+"x")
	if out, err := run(ana, "users"); err != nil || !strings.Contains(out, "oidc:ana") {
		t.Errorf("a user by token: %v\n%s", err, out)
	}
	if out, err := run(ana, "users", "grant", "oidc:ana", "max_nodes=9"); exitCode(err) != 1 || !strings.Contains(err.Error(), "operator") {
		t.Errorf("a user grants themselves nodes: %v\n%s", err, out)
	}
	if out, err := run(forged, "users"); exitCode(err) != 1 || !strings.Contains(err.Error(), "the token is refused") {
		t.Errorf("a forged token: %v\n%s", err, out)
	}
	if out, err := run(olga, "users", "grant", "oidc:ana", "share=2"); err != nil || !strings.Contains(out, "share=2!") {
		t.Errorf("an operator by token: %v\n%s", err, out)
	}

	again := func(more, done string) {
		t.Helper()
		n := strings.Count(stderr.String(), done)
		write(more)
		pid := pids["broker:"+members[0].Name]
		if pid <= 0 {
			t.Fatalf("no process of the broker among %v", pids)
		}
		if err := syscall.Kill(pid, syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		eventually(t, time.Minute, done, func() bool { return strings.Count(stderr.String(), done) > n })
	}
	again("[[broker.tenant]]\nname = \"physics\"\nmembers = [\"oidc:ana\"]\nmax_nodes = 7\n", "the file was read again")
	if out, err := run(ana, "users"); err != nil || !strings.Contains(out, "physics") || !strings.Contains(out, "max_nodes=7") || !strings.Contains(out, "share=2!") {
		t.Errorf("read again: %v\n%s", err, out)
	}
	again("[[broker.tenant]]\nname = \"physics\"\nmax_nodes = 0\n", "cannot be used: nothing was changed")
	if out, err := run(ana, "users"); err != nil || !strings.Contains(out, "max_nodes=7") {
		t.Errorf("a wrong file has changed something: %v\n%s", err, out)
	}
	if strings.Contains(stderr.String(), "eyJ") { // as every token begins
		t.Errorf("a token is in the log")
	}
}

// BOURSE_TOKEN counts more than the file, and needs no certificate.
func TestToken_OfTheEnvironmentCountsMoreThanTheFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "c.json")
	if err := (&client.Context{Broker: "https://127.0.0.1:1", CA: "ca.pem"}).Write(file); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(file); err == nil {
		t.Error("ca alone, and no token")
	}
	t.Setenv(client.TokenVariable, "abc")
	if _, err := client.Read(file); err != nil {
		t.Errorf("ca and a token: %v", err)
	}
}
