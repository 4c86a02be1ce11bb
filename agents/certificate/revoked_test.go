package certificate

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Deleting the list readmits nobody: its entries stay in force for the running process and
// for later ones, and the store says so. The same holds for an emptied list. A different
// list replaces it, even one that names nobody.
func TestStore_ADeletedListReadmitsNobody(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	north := issue(t, a, Site, "north")
	files := issue(t, a, Broker, "vo1").Files
	files.Kept = filepath.Join(t.TempDir(), "journal", "broker-vo1.revoked")
	chain, err := readCertificates(north.Files.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	now := noon
	var said []string
	begin := func() *Store {
		t.Helper()
		s, err := Load(files, Options{Now: func() time.Time { return now }, Log: func(line string) { said = append(said, line) }})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	refused := func(s *Store) bool {
		now = now.Add(2 * pollEvery)
		_, err := s.Verify(chain)
		return CauseOf(err) == Revoked
	}
	first := begin()
	if refused(first) {
		t.Fatal("revoked without a list")
	}
	if _, err := a.Revoke(Site, "north"); err != nil {
		t.Fatal(err)
	}
	if !refused(first) {
		t.Fatal("the list has no effect")
	}
	list, err := os.ReadFile(files.Revoked)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(files.Revoked); err != nil {
		t.Fatal(err)
	}
	for what, s := range map[string]*Store{"the process that runs": first, "the next": begin()} {
		said = nil
		if !refused(s) {
			t.Errorf("%s: readmitted by deleting the list", what)
		}
		now = now.Add(warnEvery)
		if !refused(s) || !slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "revoked.txt is gone,") }) {
			t.Errorf("%s has said %q", what, said)
		}
	}
	again := begin()
	for _, c := range []struct {
		list string
		want bool
	}{{"# nobody\n", false}, {string(list), true}, {"", true}, {"# nobody\n", false}} {
		if err := os.WriteFile(files.Revoked, []byte(c.list), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := refused(again); got != c.want {
			t.Errorf("list %q: refused %v", c.list, got)
		}
	}
	if err := os.Remove(files.Revoked); err != nil {
		t.Fatal(err)
	}
	if refused(begin()) {
		t.Error("a list of nobody was not remembered")
	}
}

// A list that cannot be copied, as on a full disk, is in force all the same, and
// that it is not kept is said.
func TestStore_AListThatCannotBeKeptIsInForce(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	north := issue(t, a, Site, "north")
	files := issue(t, a, Broker, "vo1").Files
	blocked := filepath.Join(t.TempDir(), "journal")
	files.Kept = filepath.Join(blocked, "broker-vo1.revoked")
	now := noon
	var said []string
	s, err := Load(files, Options{Now: func() time.Time { return now }, Log: func(line string) { said = append(said, line) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(blocked, nil, 0o600); err != nil { // a file where the folder should be
		t.Fatal(err)
	}
	if _, err := a.Revoke(Site, "north"); err != nil {
		t.Fatal(err)
	}
	chain, err := readCertificates(north.Files.Certificate)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * pollEvery)
	if _, err := s.Verify(chain); CauseOf(err) != Revoked {
		t.Errorf("the list has no effect: %v", err)
	}
	if !slices.ContainsFunc(said, func(line string) bool { return strings.Contains(line, "could not be copied to "+files.Kept) }) {
		t.Errorf("said was %q", said)
	}
}

// An end that tells why lets a revoked member finish the handshake, and nobody else whom it
// refuses.
func TestTellRevoked_LetsNobodyElseIn(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "atlas")
	ana, north := issue(t, a, User, "ana"), issue(t, a, Site, "north")
	other := issue(t, newAuthority(t, "cms"), User, "ana")
	broker := issue(t, a, Broker, "vo1").Files
	broker.Kept = filepath.Join(t.TempDir(), "kept")
	if _, err := a.Revoke(User, "ana"); err != nil {
		t.Fatal(err)
	}
	s, err := Load(broker, Options{Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	state := func(file string) tls.ConnectionState {
		chain, err := readCertificates(file)
		if err != nil {
			t.Fatal(err)
		}
		return tls.ConnectionState{PeerCertificates: chain}
	}
	plain, telling := s.Server(User), TellRevoked(s.Server(User))
	if err := plain.VerifyConnection(state(ana.Files.Certificate)); CauseOf(err) != Revoked {
		t.Fatal(err)
	}
	if err := telling.VerifyConnection(state(ana.Files.Certificate)); err != nil {
		t.Error(err)
	}
	for cause, file := range map[Cause]string{Foreign: other.Files.Certificate, OtherRole: north.Files.Certificate} {
		if err := telling.VerifyConnection(state(file)); CauseOf(err) != cause {
			t.Errorf("%v, want %s", err, cause)
		}
	}
	if _, err := s.Caller(state(ana.Files.Certificate).PeerCertificates, User); err == nil || !strings.Contains(err.Error(), "is revoked") {
		t.Error(err)
	}
}
