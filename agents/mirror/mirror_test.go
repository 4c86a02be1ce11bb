package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// vo is the certificates of a VO.
type vo struct {
	t   *testing.T
	dir string
	ca  *certificate.Authority
}

func newVO(t *testing.T) *vo {
	t.Helper()
	dir := t.TempDir()
	ca, err := certificate.Init(dir, "vo1", certificate.InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &vo{t, dir, ca}
}

// member loads the certificate of a member, which is made.
func (v *vo) member(role certificate.Role, name string) *certificate.Store {
	v.t.Helper()
	r := certificate.Request{Role: role, Name: name}
	if role != certificate.User {
		r.Hosts = []string{"127.0.0.1"}
	}
	if _, err := v.ca.Issue(r); err != nil {
		v.t.Fatal(err)
	}
	store, err := certificate.Load(certificate.In(v.dir, role, name), certificate.Options{})
	if err != nil {
		v.t.Fatal(err)
	}
	return store
}

// keep runs a Keeper until the test ends, or stop is called.
func keep(t *testing.T, dir, address string, store *certificate.Store) (at string, stop func()) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- NewKeeper(dir, store, zerolog.Nop()).Serve(ctx, l) }()
	var stopped atomic.Bool
	stop = func() {
		if stopped.Swap(true) {
			return
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

const patience = 30 * time.Second

var opt = journal.Options{Agent: "site:north"}

func note(n int) agents.Fact {
	return facts.LifeSeen{Broker: "vo1", Address: "broker:vo1", Incarnation: uint32(n), Nonce: 7}
}

// write appends facts and syncs each.
func write(t *testing.T, j *journal.Journal, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := j.Append(grid.Time(n), note(n)); err != nil {
			t.Fatal(err)
		}
		if err := j.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func folder(t *testing.T, dir string) *journal.Folder {
	t.Helper()
	f, err := journal.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// Every fact that was answered is at the other host; from there it is restored, and the journal that
// it was the mirror of cannot go on.
func TestKeeper_AJournalIsMirroredAndRestoredOverTLS(t *testing.T) {
	t.Parallel()
	v, kept, local := newVO(t), t.TempDir(), t.TempDir()
	address, _ := keep(t, kept, "127.0.0.1:0", v.member(certificate.Mirror, "vault"))
	north := v.member(certificate.Site, "north")
	main := folder(t, filepath.Join(local, "a"))
	second := func(claim string) (journal.Disk, error) { return Open(address, north, patience, "site-north", claim) }
	m, err := journal.OpenMirror(main, journal.MirrorOptions{Required: true, Wait: patience, Open: second})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(m, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, j, 1, 40)
	there := filepath.Join(kept, "site-north", "site-north", "00000001.journal")
	if a, err := os.ReadFile(there); err != nil || len(a) == 0 {
		t.Fatalf("%d bytes, %v", len(a), err)
	}
	if _, err := second(""); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second writer: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := read(t, filepath.Join(local, "a", "00000001.journal")), read(t, there)
	if !slices.Equal(a, b) {
		t.Errorf("%d bytes here, %d there", len(a), len(b))
	}

	d := reopened(t, second)
	if names, err := d.Journals(); err != nil || !slices.Equal(names, []string{"site-north"}) {
		t.Errorf("%v, %v", names, err)
	}
	to := folder(t, filepath.Join(local, "b"))
	run, err := journal.Restore(d, to)
	if err != nil || run[0].Facts != 39 {
		t.Fatalf("%v, %+v", err, run)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	reopened(t, second).Close()
	if _, err := journal.OpenMirror(main, journal.MirrorOptions{Wait: patience, Open: again(t, second)}); !errors.Is(err, journal.ErrFenced) {
		t.Errorf("the first one begins again: %v", err)
	}
	m, err = journal.OpenMirror(to, journal.MirrorOptions{Required: true, Wait: patience, Open: again(t, second)})
	if err != nil {
		t.Fatal(err)
	}
	if j, err = journal.Open(m, opt, func(grid.Time, agents.Fact) {}); err != nil || j.Facts() != 39 {
		t.Fatal(err)
	}
	write(t, j, 40, 45)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// again opens a disk that the connection before has not been seen to leave yet.
func again(t *testing.T, open func(string) (journal.Disk, error)) func(string) (journal.Disk, error) {
	return func(string) (journal.Disk, error) { return reopened(t, open), nil }
}

func reopened(t *testing.T, open func(string) (journal.Disk, error)) *Disk {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		d, err := open("")
		if err == nil {
			return d.(*Disk)
		}
		if !strings.Contains(err.Error(), "in use") || time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The host goes away and comes back. The site goes on alone in between, and is mirrored
// again afterwards. A claim takes its folder over from a connection that has fallen
// silent.
func TestKeeper_ComesBackAndIsBroughtUp(t *testing.T) {
	t.Parallel()
	kept, local := t.TempDir(), t.TempDir()
	address, stop := keep(t, kept, "127.0.0.1:0", nil)
	back := make(chan struct{}, 10)
	m, err := journal.OpenMirror(folder(t, local), journal.MirrorOptions{Wait: patience, Retry: time.Millisecond,
		Open: func(claim string) (journal.Disk, error) { return Open(address, nil, patience, "site-north", claim) },
		Tell: func(s journal.MirrorState) {
			if s.Current {
				back <- struct{}{}
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	<-back
	j, err := journal.Open(m, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, j, 1, 10)
	stop()
	write(t, j, 10, 20)
	if s := m.State(); s.Current || s.Failures != 1 {
		t.Errorf("%+v", s)
	}
	keep(t, kept, address, nil)
	<-back
	write(t, j, 20, 30)
	var mine struct{ Claim string }
	if err := json.Unmarshal(read(t, filepath.Join(local, "mirror.json")), &mine); err != nil {
		t.Fatal(err)
	}
	other, err := Open(address, nil, patience, "site-north", mine.Claim)
	if err != nil {
		t.Fatalf("the same claim on a new connection: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, j, 30, 31) // the old connection is found to be gone, and made anew
	<-back
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	a, b := read(t, filepath.Join(local, "00000001.journal")), read(t, filepath.Join(kept, "site-north", "00000001.journal"))
	if !slices.Equal(a, b) {
		t.Errorf("%d bytes here, %d there", len(a), len(b))
	}
}

// A caller reaches only the folder of its own certificate, and a certificate of a role
// that may not be mirrored is refused.
func TestKeeper_ACallerReachesItsOwnOnly(t *testing.T) {
	t.Parallel()
	v, kept := newVO(t), t.TempDir()
	address, _ := keep(t, kept, "127.0.0.1:0", v.member(certificate.Mirror, "vault"))
	south := v.member(certificate.Site, "south")
	for _, name := range []string{"../site-north", "a/b", "", "."} {
		if d, err := Open(address, south, patience, name, ""); err == nil {
			_ = d.Close()
			t.Errorf("%q was opened", name)
		}
	}
	for _, do := range []func(*Disk) error{
		func(d *Disk) error { _, err := d.Read("../site-north/site-north/00000001.journal"); return err },
		func(d *Disk) error { return d.Truncate("lock", 0) },
		func(d *Disk) error {
			if err := d.Rename("x", "../y"); err != nil {
				return err
			}
			return d.SyncNames()
		},
	} {
		d := reopened(t, func(string) (journal.Disk, error) { return Open(address, south, patience, "site-south", "") })
		if do(d) == nil {
			t.Error("a file of another folder was touched")
		}
		_ = d.Close()
	}
	if d, err := Open(address, v.member(certificate.User, "ana"), patience, "site-north", ""); err == nil {
		_ = d.Close()
		t.Error("a user keeps a journal")
	}
	if _, err := Open(address, nil, patience, "site-north", ""); err == nil {
		t.Error("without a certificate")
	}
}

// A file that was not synced when the host went away is written again once it is back: what
// it shows of it may never reach its disk, and the file may be about to get its final name.
func TestKeeper_WhatWasNotSyncedWhenItWentAwayIsWrittenAgain(t *testing.T) {
	t.Parallel()
	kept := t.TempDir()
	address, stop := keep(t, kept, "127.0.0.1:0", nil)
	m, err := journal.OpenMirror(folder(t, t.TempDir()), journal.MirrorOptions{Required: true, Wait: patience, Retry: time.Millisecond,
		Open: func(claim string) (journal.Disk, error) { return Open(address, nil, patience, "site-north", claim) }})
	if err != nil {
		t.Fatal(err)
	}
	j, err := journal.Open(m, opt, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, j, 1, 10)
	if err := m.Append("00000002.new", []byte("the next segment")); err != nil {
		t.Fatal(err)
	}
	if err := m.SyncNames(); err != nil { // the answer shows that the host has the file
		t.Fatal(err)
	}
	var before []os.FileInfo
	files := []string{"00000001.journal", "00000002.new"}
	for _, name := range files {
		info, err := os.Stat(filepath.Join(kept, "site-north", name))
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, info)
	}
	stop()
	keep(t, kept, address, nil)
	if err := m.Sync("00000002.new"); err != nil || m.State().Failures != 1 {
		t.Fatalf("%v, %+v", err, m.State())
	}
	for i, name := range files {
		now, err := os.Stat(filepath.Join(kept, "site-north", name))
		if err != nil || os.SameFile(before[i], now) || now.Size() != before[i].Size() {
			t.Errorf("%s is the same file as before: %v", name, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
