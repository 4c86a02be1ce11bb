//go:build linux

package drill

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/remote"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/protobuf/proto"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// docs/SECURITY.md: an expired certificate and one of a foreign authority are
// refused with a line on both ends, and the others go on.
func TestStrangers_WrongCertificatesAreRefusedWithALineOnBothEnds(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()

	foreign := f.addSite(sitePlan{name: "foreign", nodes: 500})
	f.write()
	ca, err := certificate.Init(filepath.Join(f.dir, "other"), "vo1", certificate.InitOptions{})
	must(t, err)
	foreign.issue(ca, certificate.Request{})
	use(t, foreign, "../other")
	foreign.start()
	foreign.ready()
	f.place("first", 150, grid.Second, patience) // the broker tries to reach it
	eventually(t, patience, "the broker says whose certificate it refuses", func() bool {
		return f.broker.said("certificate of bourse://vo1/site/foreign refused: no authority trusted here vouches for it")
	})
	eventually(t, patience, "the foreign site says why it is not heard", func() bool {
		return foreign.said("certificate of bourse://vo1/") && foreign.said("refused")
	})
	if f.answers("foreign") {
		t.Error("the foreign site is used")
	}
	foreign.kill()

	late := f.addSite(sitePlan{name: "late", nodes: 500})
	f.write()
	past, err := certificate.OpenAuthority(filepath.Join(f.dir, "ca"), func() time.Time { return time.Now().Add(-48 * time.Hour) })
	must(t, err)
	late.issue(past, certificate.Request{Valid: time.Hour, Replace: true})
	late.start()
	switch exit := late.fails(20 * time.Second); {
	case exit != 1:
		t.Errorf("exit %d with an expired certificate, want 1", exit)
	case !late.said("it expired on", "bourse ca issue --role site --name late"):
		t.Errorf("no line says that it has expired and what to do:\n%s", late.tail(5))
	}
	f.place("last", 150, grid.Second, patience)
	f.stop()
	f.verify()
}

// use has an agent's file name the certificates of another folder, but for the
// key of the gossip.
func use(t *testing.T, a *agent, folder string) {
	t.Helper()
	text, err := os.ReadFile(a.file())
	must(t, err)
	key := []byte("../ca/gossip.key")
	text = bytes.ReplaceAll(text, key, []byte("GOSSIP"))
	text = bytes.ReplaceAll(text, []byte("../ca/"), []byte(folder+"/"))
	must(t, os.WriteFile(a.file(), bytes.ReplaceAll(text, []byte("GOSSIP"), key), 0o600))
}

// docs/SECURITY.md: a member of the VO that floods a site with the dearest of
// messages, or sends one of 100 MB, costs others work within bounds: jobs are
// placed, and the site's memory stays small.
func TestStrangers_AFloodAndAHugeMessageCostTheirSender(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	north := f.site("north")
	_, err := f.ca.Issue(certificate.Request{Role: certificate.Broker, Name: "mallory", Hosts: []string{"127.0.0.1"}})
	must(t, err)
	store, err := certificate.Load(certificate.In(filepath.Join(f.dir, "ca"), certificate.Broker, "mallory"), certificate.Options{})
	must(t, err)
	stream := func() grpc.BidiStreamingClient[remote.RemoteMessage, remote.RemoteMessage] {
		cc, err := grpc.NewClient(fmt.Sprintf("%s:%d", north.host, agentPort), grpc.WithNoProxy(),
			grpc.WithTransportCredentials(credentials.NewTLS(store.Client(certificate.Want{Role: certificate.Site, Name: "north"}))))
		must(t, err)
		t.Cleanup(func() { _ = cc.Close() })
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		t.Cleanup(stop)
		s, err := remote.NewRemotingClient(cc).Receive(ctx)
		must(t, err)
		return s
	}

	s := stream()
	huge := &remote.MessageBatch{Targets: []string{"bourse"}, TypeNames: []string{"bourse.wire.Parcel"},
		Envelopes: []*remote.MessageEnvelope{{MessageData: make([]byte, 100<<20)}}}
	_ = s.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: huge}})
	if _, err := s.Recv(); err == nil || !strings.Contains(err.Error(), "received message larger than max") {
		t.Errorf("the sender of 100 MB is told %v", err)
	}
	eventually(t, 10*time.Second, "north logs the size", func() bool {
		return north.said("received message larger than max (1048")
	})

	var sent atomic.Int64
	stop := make(chan struct{})
	for range 2 {
		s := stream()
		go flood(s, &sent, stop)
	}
	worst := time.Duration(0)
	for i := range 20 {
		begun := time.Now()
		f.place(fmt.Sprint("amid", i), 180, grid.Second, patience) // a leg at every site
		worst = max(worst, time.Since(begun))
	}
	close(stop)
	t.Logf("%d requests for offers by mallory; the slowest of 20 jobs is placed in %v; north has %d MB", sent.Load(), worst, north.memory())
	if n := north.memory(); n > 400 {
		t.Errorf("north has %d MB", n)
	}
	if *long && worst > 10*time.Second { // a busy machine may take longer
		t.Errorf("a job took %v", worst)
	}

	f.hugeRequest()
	f.stop()
	f.verify()
}

// flood asks a site for its offers as fast as it takes them, 50 at once.
func flood(s grpc.BidiStreamingClient[remote.RemoteMessage, remote.RemoteMessage], sent *atomic.Int64, stop <-chan struct{}) {
	for seq := uint64(1); ; {
		b := &remote.MessageBatch{Targets: []string{"bourse"}, TypeNames: []string{"bourse.wire.Parcel"}}
		for range 50 {
			e, err := wire.Encode("broker:mallory", "site:north", agents.OfferRequest{Cycle: seq, Horizon: grid.Time(time.Now().UnixMilli()).Add(grid.Day)})
			if err != nil {
				return
			}
			data, err := proto.Marshal(&wire.Parcel{Session: 1, Seq: seq, Envelope: e})
			if err != nil {
				return
			}
			b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{MessageData: data})
			seq++
		}
		select {
		case <-stop:
			return
		default:
		}
		if s.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}}) != nil {
			return
		}
		sent.Add(50)
	}
}

// hugeRequest posts 100 MB to the broker's API, which refuses it before it has
// read it.
func (f *federation) hugeRequest() {
	f.t.Helper()
	store, err := certificate.Load(certificate.In(filepath.Join(f.dir, "ca"), certificate.Operator, "olga"), certificate.Options{})
	must(f.t, err)
	c := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{TLSClientConfig: store.Client(certificate.Want{Role: certificate.Broker, Host: f.broker.host}),
		TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}}}
	body := io.LimitReader(endless('x'), 100<<20)
	r, err := http.NewRequest(http.MethodPost, f.broker.api()+"/v1/batches", body)
	must(f.t, err)
	r.Header.Set("Content-Type", "application/json")
	before := f.broker.memory()
	answer, err := c.Do(r)
	if err == nil {
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusRequestEntityTooLarge {
			f.t.Errorf("100 MB posted to the API: %s, want 413", answer.Status)
		}
	} else if !strings.Contains(err.Error(), "reset") && !strings.Contains(err.Error(), "broken pipe") && !strings.Contains(err.Error(), "closed") {
		f.t.Error(err)
	}
	most := 50
	if raceFlag != "" {
		most *= 2 // the race detector keeps a shadow of all memory
	}
	if after := f.broker.memory(); after > before+most {
		f.t.Errorf("the broker has %d MB after a post of 100 MB, %d before", after, before)
	}
}

// endless is a reader of one letter.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// memory is what a process holds of the machine's memory, and peak the most that
// it has held, in MB.
func (a *agent) memory() int { return a.status("VmRSS:") }
func (a *agent) peak() int   { return a.status("VmHWM:") }

// status is a line of what the system says of the process, in MB.
func (a *agent) status(field string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", a.pid()))
	must(a.f.t, err)
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kb, err := strconv.Atoi(strings.Fields(rest)[0])
			must(a.f.t, err)
			return kb / 1024
		}
	}
	return 0
}
