package certificate

import (
	"bytes"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// newAuthority makes the authority of a VO in a folder of its own.
func newAuthority(t *testing.T, vo string) *Authority {
	t.Helper()
	a, err := Init(filepath.Join(t.TempDir(), "ca"), vo, InitOptions{Now: at(noon)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// issue issues a certificate, for localhost where it is an agent's.
func issue(t *testing.T, a *Authority, role Role, name string) Issued {
	t.Helper()
	r := Request{Role: role, Name: name, Replace: true}
	if role.serves() {
		r.Hosts = []string{"127.0.0.1", "localhost"}
	}
	out, err := a.Issue(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestInit_KeysAreReadableByTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	issue(t, a, Site, "north")
	for name, want := range map[string]os.FileMode{
		"": 0o700, "ca.key": 0o600, "gossip.key": 0o600, "site-north.key": 0o600, "ca.pem": 0o644, "site-north.pem": 0o644, "issued.txt": 0o600,
	} {
		info, err := os.Stat(a.path(name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if left, _ := filepath.Glob(a.path(".new-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if err := os.Chmod(a.path("site-north.key"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(In(a.dir, Site, "north"), Options{Now: at(noon)}); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read: %v", err)
	}
}

func TestInit_OverwritesNothingUnlessAsked(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	before, err := os.ReadFile(a.path("ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	var exists *ExistsError
	if _, err := Init(a.dir, "atlas", InitOptions{Now: at(noon)}); !errors.As(err, &exists) {
		t.Errorf("%v", err)
	}
	if _, err := Init(a.dir, "other", InitOptions{Now: at(noon), Replace: true}); err == nil || !strings.Contains(err.Error(), "authority of VO atlas") {
		t.Errorf("another VO in the same folder: %v", err)
	}
	if after, _ := os.ReadFile(a.path("ca.key")); !bytes.Equal(before, after) {
		t.Error("the key has changed")
	}
	first := issue(t, a, Site, "north")
	if _, err := a.Issue(Request{Role: Site, Name: "north", Hosts: []string{"localhost"}}); !errors.As(err, &exists) {
		t.Errorf("%v", err)
	}
	if c, err := readCertificates(first.Files.Certificate); err != nil || serialText(c[0]) != first.Serial {
		t.Errorf("the certificate has changed: %v", err)
	}
}

func TestInit_BadNamesAreRefusedWithWhatWouldBeRight(t *testing.T) {
	t.Parallel()
	for _, vo := range []string{"", "a b", "ä", "a/b", "-a", "a.", "a..b", "10.0.0.1", "::1", strings.Repeat("a", 64)} {
		dir := filepath.Join(t.TempDir(), "ca")
		if _, err := Init(dir, vo, InitOptions{}); err == nil || !strings.Contains(err.Error(), "such as atlas") {
			t.Errorf("%q: %v", vo, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%q: a folder was made", vo)
		}
	}
}

func TestIssue_RoleSaysWhatACertificateIsFor(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	for role, want := range map[Role][]x509.ExtKeyUsage{
		Site:     {x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		Broker:   {x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		User:     {x509.ExtKeyUsageClientAuth},
		Operator: {x509.ExtKeyUsageClientAuth},
	} {
		out := issue(t, a, role, "x y/z")
		list, err := readCertificates(out.Files.Certificate)
		if err != nil {
			t.Fatal(err)
		}
		c := list[0]
		if !slices.Equal(c.ExtKeyUsage, want) || c.IsCA || c.NotAfter.Sub(noon) != MemberValid || serialText(c) != out.Serial {
			t.Errorf("%s: %v, authority %v, until %v", role, c.ExtKeyUsage, c.IsCA, c.NotAfter)
		}
		if id, err := Of(c); err != nil || id != out.Identity {
			t.Errorf("%s: %v, %v", role, id, err)
		}
	}
}

func TestIssue_RefusesWhatNobodyCouldUse(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	ok := []string{"localhost"}
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Role: "cluster", Name: "n", Hosts: ok}, "no role"},
		{Request{Role: Site, Name: "", Hosts: ok}, "a name of 1 to 100"},
		{Request{Role: Site, Name: " n", Hosts: ok}, "must not begin or end"},
		{Request{Role: Site, Name: "n"}, "--host"},
		{Request{Role: User, Name: "n", Hosts: ok}, "leave --host out"},
		{Request{Role: Site, Name: "n", Hosts: []string{"10.0.0.5:7001"}}, "without a port"},
		{Request{Role: Site, Name: "n", Hosts: []string{"*.example"}}, "no host"},
		{Request{Role: Site, Name: "n", Hosts: []string{""}}, "no host"},
		{Request{Role: Site, Name: "n", Hosts: make([]string, maxHosts+1)}, "at most"},
		{Request{Role: Site, Name: "n", Hosts: ok, Valid: -1}, "positive"},
		{Request{Role: Site, Name: "n", Hosts: ok, Valid: AuthorityValid + time.Hour}, "the authority itself has 3650"},
	} {
		if _, err := a.Issue(c.r); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.r, err, c.want)
		}
	}
	if files, _ := filepath.Glob(a.path("*-*")); len(files) > 0 {
		t.Errorf("made: %q", files)
	}
	late, err := OpenAuthority(a.dir, at(a.Expires().Add(time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := late.Issue(Request{Role: User, Name: "ana"}); err == nil || !strings.Contains(err.Error(), "ca init") {
		t.Errorf("an authority that has expired: %v", err)
	}
}

func TestIssue_DefaultEndsWithTheAuthority(t *testing.T) {
	t.Parallel()
	a, err := Init(t.TempDir(), "atlas", InitOptions{Now: at(noon), Valid: 48 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if out := issue(t, a, User, "ana"); !out.Expires.Equal(a.Expires()) {
		t.Errorf("until %v, the authority until %v", out.Expires, a.Expires())
	}
}

func TestOpenAuthority_SaysHowToMakeOne(t *testing.T) {
	t.Parallel()
	if _, err := OpenAuthority(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "bourse ca init --vo NAME") {
		t.Errorf("%v", err)
	}
	a := newAuthority(t, "atlas")
	b := newAuthority(t, "atlas")
	key, err := os.ReadFile(b.path(keyFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.path(keyFile), key, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenAuthority(a.dir, nil); err == nil || !strings.Contains(err.Error(), "no certificate of an authority with the key") {
		t.Errorf("the key of another authority: %v", err)
	}
}

func TestRotateGossip_EveryStepUnderstandsTheOneBefore(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	keys := func() [][]byte {
		k, err := GossipKeys(a.path(gossipFile))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if _, err := a.RotateGossip(UseKey); err == nil {
		t.Error("a second key is used where there is none")
	}
	before := keys()
	for _, step := range []KeyStep{AddKey, UseKey, DropKeys} {
		if _, err := a.RotateGossip(step); err != nil {
			t.Fatal(step, err)
		}
		after := keys()
		sends := func(k [][]byte) []byte { return k[0] }
		understood := func(k [][]byte, key []byte) bool {
			return slices.ContainsFunc(k, func(x []byte) bool { return bytes.Equal(x, key) })
		}
		if !understood(before, sends(after)) || !understood(after, sends(before)) {
			t.Errorf("%s: who is a step behind is not understood", step)
		}
		before = after
	}
	if len(before) != 1 {
		t.Errorf("%d keys are left", len(before))
	}
}
