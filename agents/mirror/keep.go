package mirror

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
)

// Keeper keeps the journals of agents in a folder. Below it is a folder for each caller, by
// the name in its certificate, and below that one for each journal.
type Keeper struct {
	dir   string
	store *certificate.Store // nil: plain text, and callers have no names
	log   zerolog.Logger

	mu   sync.Mutex
	open map[string]*keeping // by folder
	ends sync.WaitGroup
}

// keeping is a journal that a caller has open.
type keeping struct {
	claim string
	conn  net.Conn
	done  chan struct{} // closed once the folder is free
}

// NewKeeper returns a Keeper with that folder.
func NewKeeper(dir string, store *certificate.Store, log zerolog.Logger) *Keeper {
	return &Keeper{dir: dir, store: store, log: log, open: map[string]*keeping{}}
}

// Serve serves callers until the context is done, and closes the listener.
func (k *Keeper) Serve(ctx context.Context, l net.Listener) error {
	if k.store != nil {
		l = tls.NewListener(l, k.store.Server(certificate.Site, certificate.Broker))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	context.AfterFunc(ctx, func() { _ = l.Close() })
	defer k.ends.Wait()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		k.ends.Go(func() {
			defer stop()
			defer func() { _ = conn.Close() }()
			if err := k.serve(conn); err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
				k.log.Warn().Str("peer", conn.RemoteAddr().String()).Err(err).Msg("a caller was cut off")
			}
		})
	}
}

// caller is the folder of the caller.
func (k *Keeper) caller(conn net.Conn) (string, error) {
	c, ok := conn.(*tls.Conn)
	if !ok {
		return k.dir, nil
	}
	if err := c.SetDeadline(time.Now().Add(quiet)); err != nil {
		return "", err
	}
	if err := c.Handshake(); err != nil {
		return "", err
	}
	id, err := certificate.Of(c.ConnectionState().PeerCertificates[0])
	if err != nil {
		return "", err
	}
	return filepath.Join(k.dir, Folder(id.Agent())), nil
}

// Folder is the name of the folder of an agent.
func Folder(id agents.ID) string {
	role, name, _ := strings.Cut(string(id), ":")
	return role + "-" + url.PathEscape(name)
}

// serve answers one caller.
func (k *Keeper) serve(conn net.Conn) error {
	dir, err := k.caller(conn)
	if err != nil {
		return err
	}
	s := &session{keeper: k, conn: conn, dir: dir}
	defer s.leave()
	for {
		if err := s.member(); err != nil {
			return err
		}
		if err := conn.SetDeadline(time.Now().Add(quiet)); err != nil {
			return err
		}
		var q request
		data, err := readFrame(conn, &q)
		if err != nil {
			return err
		}
		r, answer, err := s.carryOut(q, data)
		if err != nil && s.err == nil && !errors.Is(err, fs.ErrNotExist) {
			s.err = err
		}
		if said(q.Do) {
			if err != nil && s.err == nil {
				s.err = err
			}
			continue
		}
		if r.Gone = s.err == nil && errors.Is(err, fs.ErrNotExist); s.err != nil {
			r.Error = s.err.Error()
		}
		if err := conn.SetDeadline(time.Now().Add(quiet)); err != nil {
			return err
		}
		if err := writeFrame(conn, r, answer); err != nil {
			return err
		}
		if s.err != nil {
			return s.err
		}
	}
}

// session is the connection of one caller.
type session struct {
	keeper *Keeper
	conn   net.Conn
	dir    string
	at     string // the folder that is open
	folder *journal.Folder
	mine   *keeping
	err    error // the first failure; nothing is done after it

	reading uint64 // of the certificates, when the caller was last verified
}

// member verifies the caller's certificate again if the files have changed.
func (s *session) member() error {
	c, ok := s.conn.(*tls.Conn)
	if !ok {
		return nil
	}
	now := s.keeper.store.Current()
	if now == s.reading {
		return nil
	}
	s.reading = now
	_, err := s.keeper.store.Caller(c.ConnectionState().PeerCertificates, certificate.Site, certificate.Broker)
	return err
}

func (s *session) carryOut(q request, data []byte) (r reply, answer []byte, err error) {
	switch {
	case s.err != nil:
		return r, nil, s.err
	case q.Do == doList:
		r.Names, err = journals(s.dir)
		return r, nil, err
	case q.Do == doOpen:
		return r, nil, s.enter(q.Name, q.Claim)
	case s.folder == nil:
		return r, nil, errors.New("no journal is open")
	}
	for _, name := range []string{q.Name, q.To} {
		if name != "" && !plainName(name) {
			return r, nil, fmt.Errorf("%q is no name of a file", name)
		}
	}
	switch q.Do {
	case doNames:
		r.Names, err = s.folder.Names()
	case doSize:
		r.Size, err = s.size(q.Name)
	case doRead:
		answer, err = s.read(q)
	case doSync:
		err = s.folder.Sync(q.Name)
	case doTruncate:
		err = s.folder.Truncate(q.Name, q.Size)
	case doSyncNames:
		err = s.folder.SyncNames()
	case sayAppend:
		err = s.folder.Append(q.Name, data)
	case sayRename:
		err = s.folder.Rename(q.Name, q.To)
	case sayRemove:
		err = s.folder.Remove(q.Name)
	case doStill:
	default:
		err = fmt.Errorf("%q is nothing that this build can do", q.Do)
	}
	return r, answer, err
}

// plainName reports whether a name is that of a file in the folder that callers may use.
func plainName(name string) bool {
	return name != "lock" && len(name) <= 255 && filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, `/\`)
}

func (s *session) size(name string) (int64, error) {
	info, err := os.Stat(filepath.Join(s.at, name))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (s *session) read(q request) ([]byte, error) {
	if q.Size < 0 || q.Size > maxBytes {
		return nil, fmt.Errorf("%d bytes are too many to read at once", q.Size)
	}
	f, err := s.folder.Open(q.Name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, q.Size)
	n, err := f.ReadAt(b, q.Offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return b[:n], err
}

// enter opens the folder of a journal. An earlier connection of the same process, by its
// claim, is closed.
func (s *session) enter(name, claim string) error {
	if s.folder != nil || !plainName(name) {
		return fmt.Errorf("%q cannot be opened here", name)
	}
	k, at := s.keeper, filepath.Join(s.dir, name)
	mine := &keeping{claim: claim, conn: s.conn, done: make(chan struct{})}
	for {
		k.mu.Lock()
		other := k.open[at]
		if other == nil {
			k.open[at] = mine
			k.mu.Unlock()
			break
		}
		k.mu.Unlock()
		if claim == "" || other.claim != claim {
			return fmt.Errorf("the mirror %s is in use by the process at %s; it is free %v after that was last heard", name, other.conn.RemoteAddr(), quiet)
		}
		_ = other.conn.Close()
		<-other.done
	}
	folder, err := journal.OpenFolder(at)
	if err != nil {
		k.free(at, mine)
		return err
	}
	s.at, s.folder, s.mine = at, folder, mine
	k.log.Info().Str("journal", at).Str("peer", s.conn.RemoteAddr().String()).Msg("a journal is mirrored here")
	return nil
}

func (k *Keeper) free(at string, mine *keeping) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.open, at)
	close(mine.done)
}

func (s *session) leave() {
	if s.folder == nil {
		return
	}
	if err := s.folder.Close(); err != nil {
		s.keeper.log.Error().Err(err).Msg("closing a mirror")
	}
	s.keeper.free(s.at, s.mine)
	s.keeper.log.Info().Str("journal", s.at).Msg("a journal is no longer mirrored here")
}

// journals lists the folders below dir that hold journals.
func journals(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := os.ReadDir(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(files, func(f fs.DirEntry) bool { return strings.HasSuffix(f.Name(), ".journal") }) {
			names = append(names, e.Name())
		}
	}
	return names, err
}
