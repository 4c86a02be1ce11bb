package certificate

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// revocations lists what is not trusted although the authority vouches for it. A line of
// the file is the serial number of a certificate in hexadecimal, or ROLE/NAME for every
// certificate of a member. A # begins a remark.
type revocations struct {
	serials map[string]bool
	members map[string]bool
	there   bool // there was a file
	missing bool // it is gone: this is what it held last
}

// readRevocations reads a list. One that does not exist is empty.
func readRevocations(name string) (revocations, error) {
	if name == "" {
		return revocations{}, nil
	}
	data, err := readFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return revocations{}, nil
	}
	if err != nil {
		return revocations{}, err
	}
	list, err := parseRevocations(data)
	if err != nil {
		return revocations{}, fmt.Errorf("%s:%w", name, err)
	}
	list.there = len(data) > 0 // an empty file is one that was cut off
	return list, nil
}

// revocations reads the list of a member's files. A list that was there and is gone does
// not count as empty: what it held last stays in force, in this process and in later ones,
// which find a copy in Files.Kept.
func (s *Store) revocations() (revocations, error) {
	list, err := readRevocations(s.files.Revoked)
	if err != nil {
		return revocations{}, err
	}
	if list.there {
		if err := s.keep(); err != nil { // a new list is in force even if the disk is full
			s.log(fmt.Sprintf("the list of revoked members is in force, but could not be copied to %s for the lives to come: %v", s.files.Kept, err))
		}
		return list, nil
	}
	if old := s.state.Load(); old != nil && old.revoked.there {
		list = old.revoked
	} else if list, err = readRevocations(s.files.Kept); err != nil {
		return revocations{}, err
	}
	if list.missing = list.there; list.missing {
		s.log(s.listMissing(list))
	}
	return list, nil
}

// listMissing is the line for the log about a list that is gone.
func (s *Store) listMissing(list revocations) string {
	return fmt.Sprintf("%s is gone, or has nothing in it; the last list that was read stays in force, with %s: copy it here from the authority again or, if nobody is to be kept out any more, a file with a remark only",
		s.files.Revoked, grid.Count(len(list.serials)+len(list.members), "entry", "entries"))
}

// keep copies the list for later processes, if it has changed.
func (s *Store) keep() error {
	if s.files.Kept == "" {
		return nil
	}
	list, err := readFile(s.files.Revoked)
	if err != nil {
		return err
	}
	if old, err := readFile(s.files.Kept); err == nil && bytes.Equal(old, list) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(s.files.Kept), 0o700); err != nil {
		return err
	}
	return writeFile(s.files.Kept, list, 0o600)
}

func parseRevocations(data []byte) (revocations, error) {
	r := revocations{serials: map[string]bool{}, members: map[string]bool{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		entry, _, _ := strings.Cut(lines.Text(), "#")
		entry = strings.TrimSpace(entry)
		role, name, member := strings.Cut(entry, "/")
		switch {
		case entry == "":
		case member:
			if _, err := ParseRole(role); err != nil {
				return r, fmt.Errorf("%d: %w", n, err)
			}
			if err := validName(name); err != nil {
				return r, fmt.Errorf("%d: %w", n, err)
			}
			r.members[entry] = true
		case strings.Trim(entry, "0123456789abcdef") != "" || len(entry) > 40:
			return r, fmt.Errorf("%d: %q: must be the serial number of a certificate in hexadecimal, or ROLE/NAME", n, entry)
		default:
			r.serials[entry] = true
		}
	}
	if err := lines.Err(); err != nil {
		return r, err
	}
	return r, nil
}

// holds reports whether a certificate of a member is revoked.
func (r revocations) holds(i Identity, c *x509.Certificate) bool {
	return r.serials[serialText(c)] || r.members[string(i.Role)+"/"+i.Name]
}

// serialText shows a serial number as the lists and openssl do.
func serialText(c *x509.Certificate) string { return fmt.Sprintf("%032x", c.SerialNumber) }

// enlist adds a certificate to the list of issued ones: serial, end, member.
func (a *Authority) enlist(i Issued) error {
	f, err := os.OpenFile(a.path(issuedFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s %s/%s\n", i.Serial, i.Expires.UTC().Format(time.RFC3339), i.Identity.Role, i.Identity.Name)
	return errors.Join(err, f.Sync(), f.Close())
}

// Issued lists what the authority has issued, in order of time.
func (a *Authority) Issued() ([]Issued, error) {
	data, err := os.ReadFile(a.path(issuedFile)) // grows with every certificate: not bounded
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	revoked, err := readRevocations(a.path(revokedFile))
	if err != nil {
		return nil, err
	}
	var list []Issued
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		serial, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		end, member, ok2 := strings.Cut(rest, " ")
		role, name, ok3 := strings.Cut(member, "/")
		expires, err := time.Parse(time.RFC3339, end)
		if !ok || !ok2 || !ok3 || err != nil {
			return nil, fmt.Errorf("%s:%d: must be SERIAL END ROLE/NAME", a.path(issuedFile), n)
		}
		list = append(list, Issued{Identity: Identity{a.vo, Role(role), name}, Serial: serial, Expires: expires,
			Revoked: revoked.serials[serial] || revoked.members[member]})
	}
	return list, nil
}

// Revoke puts every certificate of a member that has not expired on the list of revoked
// certificates, and returns their serial numbers, without those that were on it already.
// A certificate that is issued later is not revoked. The list takes effect where a copy of
// it lies beside a member's files.
func (a *Authority) Revoke(role Role, name string) ([]string, error) {
	issued, err := a.Issued()
	if err != nil {
		return nil, err
	}
	known, err := readRevocations(a.path(revokedFile))
	if err != nil {
		return nil, err
	}
	text, err := readFile(a.path(revokedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	var serials []string
	now := a.now()
	for _, i := range issued {
		if i.Identity.Role == role && i.Identity.Name == name && i.Expires.After(now) && !known.serials[i.Serial] {
			serials = append(serials, i.Serial)
			text = fmt.Appendf(text, "%s # %s/%s, revoked %s\n", i.Serial, role, strings.ReplaceAll(name, "#", "_"), day(now))
		}
	}
	if len(serials) == 0 {
		return nil, nil
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s would exceed %d bytes; take lines of expired certificates out of it, or make a new authority", a.path(revokedFile), maxFile)
	}
	slices.Sort(serials)
	return serials, writeFile(a.path(revokedFile), text, 0o644)
}
