//go:build linux

package drill

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// revokedWithin is the 2 s in which docs/SECURITY.md promises that streams end,
// and as much again for a machine that has other things to do.
const revokedWithin = 4 * time.Second

// listener is a member who follows all events that the broker tells.
type listener struct {
	server *client.Client
	turns  atomic.Int64
	ended  chan error
	end    time.Time
}

// as is the broker's client for a member who gets a certificate.
func (f *federation) as(role certificate.Role, name string) *client.Client {
	f.t.Helper()
	_, err := f.ca.Issue(certificate.Request{Role: role, Name: name})
	must(f.t, err)
	c := client.Context{Broker: f.broker.api(), CA: "ca/ca.pem", Certificate: fmt.Sprintf("ca/%s-%s.pem", role, name), Key: fmt.Sprintf("ca/%s-%s.key", role, name)}
	file := filepath.Join(f.dir, fmt.Sprintf("context-%s-%s.json", role, name))
	must(f.t, c.Write(file))
	read, err := client.Read(file)
	must(f.t, err)
	server, err := read.ToBroker()
	must(f.t, err)
	return server
}

// follows has a member follow the broker's events until its stream ends for good.
func follows(ctx context.Context, server *client.Client) *listener {
	l := &listener{server: server, ended: make(chan error, 1)}
	go func() {
		err := server.Follow(ctx, "", func(e client.Event) error {
			if e.Turn != nil {
				l.turns.Add(1)
			}
			return nil
		})
		l.end = time.Now()
		l.ended <- err
	}()
	return l
}

// docs/SECURITY.md: the event streams of an operator and of a user end within 2 s
// once they are revoked, with the reason, whether there is much to tell or nothing;
// their connections answer nothing more, and others' go on.
func TestRevoked_EventStreamsEndAndSayWhy(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	otto, ana, eve := follows(ctx, f.as(certificate.Operator, "otto")), follows(ctx, f.as(certificate.User, "ana")), follows(ctx, f.as(certificate.User, "eve"))
	ben := follows(ctx, f.as(certificate.User, "ben"))
	price := api.Price{Price: 20 * grid.Price(grid.Credit)}
	submit := func(l *listener) error {
		_, err := l.server.Submit(ctx, api.Batch{ID: client.NewBatchID(), Jobs: []api.JobRequest{
			{Name: "wave", Nodes: 1, Length: api.Seconds{Duration: grid.Second}, MaxPrice: &price}}})
		return err
	}
	eventually(t, patience, "the streams of otto, ana and ben tell of jobs", func() bool {
		must(t, submit(ana))
		must(t, submit(ben))
		return otto.turns.Load() > 0 && ana.turns.Load() > 0 && ben.turns.Load() > 0
	})
	if n := eve.turns.Load(); n > 0 {
		t.Errorf("eve was told %d turns and has no job", n)
	}

	_, err := f.ca.Revoke(certificate.Operator, "otto")
	must(t, err)
	for _, name := range []string{"ana", "eve"} {
		_, err := f.ca.Revoke(certificate.User, name)
		must(t, err)
	}
	revoked := time.Now()
	for name, l := range map[string]*listener{"otto": otto, "ana": ana, "eve": eve} {
		for waiting := true; waiting; {
			select {
			case err := <-l.ended:
				waiting = false
				if took := l.end.Sub(revoked); took > revokedWithin || err == nil || !strings.Contains(err.Error(), "is revoked") {
					t.Errorf("the stream of %s ended after %v: %v", name, took, err)
				} else {
					t.Logf("the stream of %s ended after %v", name, took.Round(time.Millisecond))
				}
			case <-time.After(50 * time.Millisecond):
				must(t, submit(ben)) // there is much to tell to otto
				if time.Since(revoked) > 30*time.Second {
					t.Fatalf("the stream of %s does not end", name)
				}
			}
		}
		if _, err := l.server.Jobs(ctx, client.Filter{}); err == nil {
			t.Errorf("%s is still answered", name)
		}
	}
	before := ben.turns.Load()
	eventually(t, patience, "the stream of ben goes on", func() bool {
		must(t, submit(ben))
		return ben.turns.Load() > before
	})
	f.stop()
	f.verify()
}
