package mirror

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"sync"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
)

// Disk is the folder of one journal on a host that runs a Keeper. A call that waits for an
// answer fails if none comes in time. After a failure every call fails.
type Disk struct {
	conn net.Conn
	wait time.Duration
	end  chan struct{}
	once sync.Once

	mu  sync.Mutex
	err error // the first failure
}

// Dial calls the host at an address. store has the certificate to show; nil: plain text.
func Dial(address string, store *certificate.Store, wait time.Duration) (*Disk, error) {
	dialer := &net.Dialer{Timeout: wait}
	var conn net.Conn
	var err error
	if store == nil {
		conn, err = dialer.Dial("tcp", address)
	} else {
		host, _, splits := net.SplitHostPort(address)
		if splits != nil {
			return nil, splits
		}
		conn, err = tls.DialWithDialer(dialer, "tcp", address, store.Client(certificate.Want{Role: certificate.Mirror, Host: host}))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return &Disk{conn: conn, wait: wait, end: make(chan struct{})}, nil
}

// Open returns the folder of a journal, such as site-north, for the use of this caller
// alone. claim is that of the journal; "": it has none yet.
func Open(address string, store *certificate.Store, wait time.Duration, name, claim string) (*Disk, error) {
	d, err := Dial(address, store, wait)
	if err != nil {
		return nil, err
	}
	if _, _, err := d.ask(request{Do: doOpen, Name: name, Claim: claim}, nil); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	go d.keepAlive()
	return d, nil
}

// Journals lists the journals that the host keeps for the caller.
func (d *Disk) Journals() ([]string, error) {
	r, _, err := d.ask(request{Do: doList}, nil)
	return r.Names, err
}

func (d *Disk) keepAlive() {
	tick := time.NewTicker(stillEvery)
	defer tick.Stop()
	for {
		select {
		case <-d.end:
			return
		case <-tick.C:
			if _, _, err := d.ask(request{Do: doStill}, nil); err != nil {
				return
			}
		}
	}
}

// ask sends a request to the host, and waits for the answer if there is one.
func (d *Disk) ask(q request, data []byte) (r reply, answer []byte, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return r, nil, d.err
	}
	fail := func(err error) error {
		d.err = fmt.Errorf("%s: %w", d.conn.RemoteAddr(), err)
		return d.err
	}
	if err := d.conn.SetDeadline(time.Now().Add(d.wait)); err != nil {
		return r, nil, fail(err)
	}
	if err := writeFrame(d.conn, q, data); err != nil {
		return r, nil, fail(err)
	}
	if said(q.Do) {
		return r, nil, nil
	}
	if answer, err = readFrame(d.conn, &r); err != nil {
		return r, nil, fail(err)
	}
	switch {
	case r.Gone:
		return r, nil, fmt.Errorf("%s: %w", q.Name, fs.ErrNotExist)
	case r.Error != "":
		return r, nil, fail(errors.New(r.Error))
	}
	return r, answer, nil
}

// Exclusive says that nobody else has this folder while the connection lasts.
func (d *Disk) Exclusive() bool { return true }

// Names lists the files, sorted.
func (d *Disk) Names() ([]string, error) {
	r, _, err := d.ask(request{Do: doNames}, nil)
	return r.Names, err
}

// Read returns the whole of a file.
func (d *Disk) Read(name string) ([]byte, error) {
	f, err := d.Open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, math.MaxInt64))
}

// Open opens a file for reading.
func (d *Disk) Open(name string) (journal.File, error) {
	r, _, err := d.ask(request{Do: doSize, Name: name}, nil)
	if err != nil {
		return nil, err
	}
	return file{io.NewSectionReader(pieces{d, name}, 0, r.Size)}, nil
}

// file is a file of a Disk, for reading, with the size at its opening.
type file struct{ *io.SectionReader }

func (file) Close() error { return nil }

// pieces reads a file over the connection.
type pieces struct {
	disk *Disk
	name string
}

func (p pieces) ReadAt(b []byte, offset int64) (n int, err error) {
	for n < len(b) {
		_, data, err := p.disk.ask(request{Do: doRead, Name: p.name, Offset: offset + int64(n), Size: int64(min(len(b)-n, maxBytes))}, nil)
		if err != nil {
			return n, err
		}
		if len(data) == 0 {
			return n, io.EOF
		}
		n += copy(b[n:], data)
	}
	return n, nil
}

// Append writes at the end of a file.
func (d *Disk) Append(name string, data []byte) error {
	for first := true; first || len(data) > 0; first = false {
		n := min(len(data), maxBytes)
		if _, _, err := d.ask(request{Do: sayAppend, Name: name}, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (d *Disk) do(q request) error {
	_, _, err := d.ask(q, nil)
	return err
}

// Truncate cuts a file to a size, durably.
func (d *Disk) Truncate(name string, size int64) error {
	return d.do(request{Do: doTruncate, Name: name, Size: size})
}

// Sync makes the content of a file durable.
func (d *Disk) Sync(name string) error { return d.do(request{Do: doSync, Name: name}) }

// Rename gives a file another name.
func (d *Disk) Rename(from, to string) error {
	return d.do(request{Do: sayRename, Name: from, To: to})
}

// Remove deletes a file.
func (d *Disk) Remove(name string) error { return d.do(request{Do: sayRemove, Name: name}) }

// SyncNames makes names durable.
func (d *Disk) SyncNames() error { return d.do(request{Do: doSyncNames}) }

// Close releases the folder.
func (d *Disk) Close() error {
	d.once.Do(func() { close(d.end) })
	return d.conn.Close()
}
