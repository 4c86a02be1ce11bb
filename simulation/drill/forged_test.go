//go:build linux

package drill

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
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

// docs/SECURITY.md: a member with a broker's certificate asserts legs that the site
// never had, all its nodes for nothing and debts of a million, with no proof or with
// one that it has made up, to a site that drains and is closed to it. Nothing changes.
func TestForged_AReassertOfWhatASiteNeverSaidChangesNothing(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	f.start()
	north := f.site("north")
	f.place("all", 208, grid.Minute, patience) // every node of every site
	for _, args := range [][]string{{"close", "north", "--vo", "mallory", "--ahead"}, {"drain", "north"}} {
		if out, messages, exit := f.bourse(args...); exit != 0 {
			t.Fatalf("%v: exit %d\n%s%s", args, exit, out, messages)
		}
	}
	before := f.shown(north, "leg-moved")

	now := grid.Time(time.Now().UnixMilli())
	tx := grid.TxID{Broker: "mallory", Incarnation: 1, Nonce: 7, Seq: 1}
	mine := agents.ListedLeg{Leg: grid.LegID{Tx: tx}, Job: "mine", State: grid.Confirmed, Version: 1,
		What: grid.Leg{Group: "main", Nodes: 64, Start: now.Add(grid.Hour), End: now.Add(2 * grid.Hour)}}
	debt := mine
	debt.Leg.Tx.Seq, debt.State, debt.Refund = 2, grid.Released, 1_000_000*grid.Credit
	penalty := mine
	penalty.Leg.Tx.Seq, penalty.State, penalty.Fare.Base, penalty.Refund, penalty.Penalty = 3, grid.Lost, grid.Credit, grid.Credit, 1_000_000*grid.Credit
	list := []agents.ListedLeg{mine, debt, penalty}
	for _, a := range []agents.ListedLeg{mine, penalty} { // and with proofs of a key of its own
		a.Leg.Tx.Seq += 10
		a.Proof = agents.DerivedKey(1, "north").Prove(&a, agents.Stamp{Epoch: 5, Seq: 1 << 40})
		list = append(list, a)
	}
	var said []agents.Message
	for _, a := range list {
		said = append(said, agents.Reassert{Leg: a, Incarnation: 1, Nonce: 7})
	}
	// It is taken after them, and leaves a trace of its own.
	said = append(said, agents.List{Broker: "mallory", Incarnation: 1, Nonce: 7})
	f.speak("mallory", north, said)
	eventually(t, patience, "north has taken all that mallory says", func() bool {
		return strings.Contains(f.shown(north, "life-listed"), "mallory")
	})
	if got := f.shown(north, "leg-restored"); strings.TrimSpace(got) != "" {
		t.Errorf("north believes it:\n%s", got)
	}
	if got := f.shown(north, "tombstone"); strings.Contains(got, "mallory") {
		t.Errorf("north remembers it:\n%s", got)
	}
	if got := f.shown(north, "leg-moved"); strings.Contains(got, "mallory") || !strings.HasPrefix(got, before) {
		t.Errorf("legs have moved:\n%s", got)
	}
	f.stop()
	f.verify()
}

// speak has a member of that name, with a broker's certificate, say things to a site.
func (f *federation) speak(name string, to *agent, said []agents.Message) {
	f.t.Helper()
	_, err := f.ca.Issue(certificate.Request{Role: certificate.Broker, Name: name, Hosts: []string{"127.0.0.1"}})
	must(f.t, err)
	store, err := certificate.Load(certificate.In(filepath.Join(f.dir, "ca"), certificate.Broker, name), certificate.Options{})
	must(f.t, err)
	cc, err := grpc.NewClient(fmt.Sprintf("%s:%d", to.host, agentPort), grpc.WithNoProxy(),
		grpc.WithTransportCredentials(credentials.NewTLS(store.Client(certificate.Want{Role: certificate.Site, Name: to.name}))))
	must(f.t, err)
	f.t.Cleanup(func() { _ = cc.Close() })
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	f.t.Cleanup(stop)
	s, err := remote.NewRemotingClient(cc).Receive(ctx)
	must(f.t, err)
	b := &remote.MessageBatch{Targets: []string{"bourse"}, TypeNames: []string{"bourse.wire.Parcel"}}
	for i, m := range said {
		e, err := wire.Encode(agents.ID("broker:"+name), agents.ID(to.id()), m)
		must(f.t, err)
		data, err := proto.Marshal(&wire.Parcel{Session: 1, Seq: uint64(i + 1), Envelope: e})
		must(f.t, err)
		b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{MessageData: data})
	}
	must(f.t, s.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}}))
}
