package process

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/live/members"
	"github.com/bourse-grid/bourse/configs"
)

// Two supervised processes of one broker do not stop each other in turn: the one that was
// displaced does not begin while the other answers, and begins once it does not.
func TestTwin_TheDisplacedOneStandsBackWhileTheOtherAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca, err := certificate.Init(filepath.Join(dir, "ca"), "vo1", certificate.InitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vo1", "vo2"} {
		if _, err := ca.Issue(certificate.Request{Role: certificate.Broker, Name: name, Hosts: []string{"127.0.0.1"}}); err != nil {
			t.Fatal(err)
		}
	}
	store := func(name string) *certificate.Store {
		s, err := certificate.Load(certificate.In(filepath.Join(dir, "ca"), certificate.Broker, name), certificate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	p := &process{name: "broker:vo1", log: zerolog.Nop(), store: store("vo1"), cfg: &configs.Process{}}
	p.cfg.Journal.Dir = dir
	if err := p.standsBack(t.Context()); err != nil {
		t.Fatalf("without a note: %v", err)
	}
	for _, x := range []struct {
		who   string // answers there; "": nobody
		words string
	}{{"vo1", "does not begin"}, {"vo2", ""}, {"vo1", "does not begin"}, {"", ""}} {
		address := "127.0.0.1:1"
		if x.who != "" {
			l, err := tls.Listen("tcp", "127.0.0.1:0", store(x.who).Server(certificate.Site, certificate.Broker))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			go answer(l)
			address = l.Addr().String()
		}
		p.noteDisplaced(members.Member{Agent: "broker:vo1", Address: address, Life: 7})
		err := p.standsBack(t.Context())
		_, noted := os.Stat(p.displacedFile())
		if (err == nil) != (x.words == "") || err != nil && !strings.Contains(err.Error(), x.words) || errors.Is(noted, fs.ErrNotExist) != (err == nil) {
			t.Errorf("%q answers: %v, note %v", x.who, err, noted)
		}
	}
}

// answer makes the handshakes of a listener.
func answer(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			_ = c.(*tls.Conn).Handshake()
			_, _ = c.Read(make([]byte, 1))
			_ = c.Close()
		}()
	}
}
