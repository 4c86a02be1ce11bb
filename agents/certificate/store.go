package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// pollEvery is how often, at most, a Store checks whether its files have changed.
const pollEvery = time.Second

// warnBefore is how long before the end of a certificate warnings begin, warnEvery how
// often they come.
const (
	warnBefore = 30 * 24 * time.Hour
	warnEvery  = 24 * time.Hour
)

// Store holds what a process needs to be a member of a VO. It reads the files again when
// they change: it looks at a handshake and when Current is called, but at most once a
// second. Files that cannot be used are logged once, and the earlier ones stay in force.
// It is safe for concurrent use.
type Store struct {
	files Files
	now   func() time.Time
	log   func(line string)

	state atomic.Pointer[state]

	mu     sync.Mutex // for the fields below
	looked time.Time
	seen   stamps
	faulty error // why the files last seen are not in force
	warned time.Time
}

// state is one reading of the files.
type state struct {
	number      uint64 // of the reading, from 1
	own         tls.Certificate
	identity    Identity
	roots       *x509.CertPool
	authorities []*x509.Certificate
	revoked     revocations
}

// Options of a Store.
type Options struct {
	Now func() time.Time  // nil: time.Now
	Log func(line string) // gets a line for each reload and for files that cannot be used; nil: no log
}

// Load reads the files of a member. It is an error if they do not fit together, or if
// nobody would accept the certificate: it is expired, revoked, or of an authority that is
// not in the file of authorities.
func Load(files Files, o Options) (*Store, error) {
	s := &Store{files: files, now: clock(o.Now), log: o.Log}
	if s.log == nil {
		s.log = func(string) {}
	}
	s.seen = look(files)
	s.looked = s.now()
	s.warned = s.looked
	first, err := s.read(1)
	if err != nil {
		return nil, err
	}
	s.state.Store(first)
	return s, nil
}

// read reads all files and checks the certificate by the others as its peers will.
func (s *Store) read(number uint64) (*state, error) {
	st := &state{number: number}
	var err error
	if st.authorities, err = readCertificates(s.files.Authority); err != nil {
		return nil, missing(err, "copy ca.pem from the VO's authority")
	}
	st.roots = x509.NewCertPool()
	for i, c := range st.authorities {
		if voOf(c) == "" {
			return nil, fmt.Errorf("%s: certificate %d (%s) is of no authority made by bourse ca init", s.files.Authority, i+1, c.Subject)
		}
		st.roots.AddCert(c)
	}
	chain, err := readCertificates(s.files.Certificate)
	if err != nil {
		return nil, missing(err, "bourse ca issue makes it")
	}
	key, err := readKey(s.files.Key)
	if err != nil {
		return nil, missing(err, "bourse ca issue makes it")
	}
	if !sameKey(chain[0].PublicKey, key) {
		return nil, fmt.Errorf("%s is not the key of %s; both files come from one bourse ca issue", s.files.Key, s.files.Certificate)
	}
	if st.revoked, err = s.revocations(); err != nil {
		return nil, err
	}
	if st.identity, err = Of(chain[0]); err != nil {
		return nil, fmt.Errorf("%s: %w", s.files.Certificate, err)
	}
	st.own = tls.Certificate{Certificate: [][]byte{chain[0].Raw}, PrivateKey: key, Leaf: chain[0]}
	if err := st.self(s.now()); err != nil {
		return nil, fmt.Errorf("%s: %w", s.files.Certificate, err)
	}
	return st, nil
}

// self checks the own certificate by the own files.
func (st *state) self(now time.Time) error {
	_, err := st.verify(now, []*x509.Certificate{st.own.Leaf}, x509.ExtKeyUsageClientAuth)
	return err
}

// missing adds to the error of a missing file where the file comes from.
func missing(err error, remedy string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}

// stamps is what was seen of the files, nil for a missing one.
type stamps [4]fs.FileInfo

func look(f Files) stamps {
	var out stamps
	for i, name := range []string{f.Authority, f.Certificate, f.Key, f.Revoked} {
		if name != "" {
			out[i], _ = os.Stat(name) // a file without a stat cannot be read either, and that is reported
		}
	}
	return out
}

func (a stamps) equal(b stamps) bool {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil || b[i] == nil, !os.SameFile(a[i], b[i]), a[i].Size() != b[i].Size(), !a[i].ModTime().Equal(b[i].ModTime()):
			return false
		}
	}
	return true
}

// current returns what is in force, after checking the files if that is due.
func (s *Store) current() *state {
	if s.mu.TryLock() { // if another goroutine is checking, do not wait for it
		defer s.mu.Unlock()
		s.poll()
	}
	return s.state.Load()
}

// Reload reads the files now if they have changed. If they cannot be used it returns why,
// and the earlier ones stay in force.
func (s *Store) Reload() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looked = s.now()
	s.reread(look(s.files))
	return s.faulty
}

func (s *Store) poll() {
	now := s.now()
	if since := now.Sub(s.looked); since >= 0 && since < pollEvery {
		return
	}
	s.looked = now
	if now.Sub(s.warned) >= warnEvery {
		s.warned = now
		if line := s.Warning(); line != "" {
			s.log(line)
		}
		if list := s.state.Load().revoked; list.missing {
			s.log(s.listMissing(list))
		}
	}
	s.reread(look(s.files))
}

// reread puts the files in force if they are not those seen last.
func (s *Store) reread(seen stamps) {
	if seen.equal(s.seen) {
		return
	}
	s.seen = seen // seen before they are read, so what changes meanwhile is read again
	old := s.state.Load()
	fresh, err := s.read(old.number + 1)
	if err == nil && fresh.identity != old.identity {
		err = fmt.Errorf("%s is of %s; start again to be another member", s.files.Certificate, fresh.identity)
	}
	if s.faulty = err; err != nil {
		s.log(fmt.Sprintf("certificates have changed and cannot be used, the earlier ones stay in force: %v", err))
		return
	}
	s.state.Store(fresh)
	s.log(fmt.Sprintf("certificates read again: %s, serial %s, until %s, %d authorities, %d revoked",
		fresh.identity, serialText(fresh.own.Leaf), day(fresh.own.Leaf.NotAfter), len(fresh.authorities), len(fresh.revoked.serials)+len(fresh.revoked.members)))
}

// Identity is the member whose certificate this is. It never changes.
func (s *Store) Identity() Identity { return s.state.Load().identity }

// Current checks the files if that is due, and returns the number of the reading in force.
// A peer that was verified need not be verified again while the number is the same and its
// certificate has not expired.
func (s *Store) Current() uint64 { return s.current().number }

// Barred reports whether the list of revoked certificates names the member itself.
func (s *Store) Barred(role Role, name string) bool {
	return s.current().revoked.members[string(role)+"/"+name]
}

// Self returns why peers would refuse the own certificate now, as far as can be seen from
// here; nil if they would not.
func (s *Store) Self() error { return s.state.Load().self(s.now()) }

// Expires is the end of the own certificate or, if that comes first, of the
// authority that issued it.
func (s *Store) Expires() time.Time {
	st := s.state.Load()
	end := st.own.Leaf.NotAfter
	for _, c := range st.authorities {
		if st.own.Leaf.CheckSignatureFrom(c) == nil && c.NotAfter.Before(end) {
			end = c.NotAfter
		}
	}
	return end
}

// Soon reports whether a certificate is to be renewed: it has less than 30 days left, or less
// than a third of its life if that is shorter.
func Soon(from, until, now time.Time) bool {
	return until.Sub(now) < min(warnBefore, until.Sub(from)/3)
}

// Warning is the line that goes into the log once a day, and that a program shows when it
// starts, if the own certificate has less than 30 days left, or less than a third of its
// life if that is shorter; "" otherwise.
func (s *Store) Warning() string {
	st := s.state.Load()
	end := s.Expires()
	left := end.Sub(s.now())
	if !Soon(st.own.Leaf.NotBefore, end, s.now()) {
		return ""
	}
	when := fmt.Sprintf("expires in %s, on %s", left.Round(time.Minute), day(end))
	if left <= 0 {
		when = "expired on " + day(end)
	}
	return fmt.Sprintf("certificate of %s %s; %s, and copy the two files here: no restart is needed", st.identity, when, issueAgain(st.identity))
}
