//go:build linux

package drill

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// villain is a party with certificates of one VO that does another one what harm it can:
// it knows each of its legs and claims them, under its own names and others', floods every
// site as fast as that reads, calls the other VO's doors and sends its gossip noise. Once
// it is revoked it goes on trying.
type villain struct {
	s          *shared
	of, victim string
	pause      time.Duration                 // between two batches of messages of a stream
	stores     map[string]*certificate.Store // by the name in the certificate

	sent, refused atomic.Int64 // messages; connections and streams that ended in a refusal
	mu            sync.Mutex
	legs          []grid.LegID // of the victim
	session       atomic.Uint64
}

// rampage begins, until the function that it returns is called.
func (v *villain) rampage() (stop func()) {
	v.stores = map[string]*certificate.Store{}
	for _, name := range []string{"main", "villain"} {
		files := certificate.In(filepath.Join(v.s.of[v.of].dir, "ca"), certificate.Broker, name)
		files.Revoked = "" // it does not care
		var err error
		v.stores[name], err = certificate.Load(files, certificate.Options{})
		must(v.s.t, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var crew sync.WaitGroup
	crew.Go(func() { v.spy(ctx) })
	for i, site := range v.s.agents[len(v.s.of):] {
		for _, as := range [][2]string{{"villain", "villain"}, {"villain", "main"}, {"main", "main"}, {"villain", v.victim + "/main"}} {
			crew.Go(func() {
				r := rand.New(rand.NewPCG(*seed, uint64(i)))
				for ctx.Err() == nil {
					v.speak(ctx, r, site, as[0], as[1])
					v.refused.Add(1)
					rest(ctx, time.Duration(50+r.IntN(200))*time.Millisecond)
				}
			})
		}
		crew.Go(func() { v.knock(ctx, site) })
	}
	return func() { cancel(); crew.Wait() }
}

func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// spy learns the victim's legs: from its journal, which no member of another VO sees.
func (v *villain) spy(ctx context.Context) {
	for ; ctx.Err() == nil; rest(ctx, 2*time.Second) {
		h, err := readLegs(v.s.of[v.victim].broker.facts())
		if err != nil {
			continue // it is being written
		}
		var legs []grid.LegID
		for tx, x := range h.txs {
			for i := range x.Legs {
				legs = append(legs, grid.LegID{Tx: tx, Leg: i})
			}
		}
		v.mu.Lock()
		v.legs = legs
		v.mu.Unlock()
	}
}

// speak opens a stream to a site by one certificate and says all there is to say in a
// broker's name, as fast as the site takes it, until the stream ends.
func (v *villain) speak(ctx context.Context, r *rand.Rand, site *agent, by, as string) {
	cc, err := grpc.NewClient(fmt.Sprintf("%s:%d", site.host, voPort(1)), grpc.WithNoProxy(),
		grpc.WithTransportCredentials(credentials.NewTLS(v.stores[by].Client(certificate.Want{Role: certificate.Site, Name: site.name}))))
	if err != nil {
		v.s.t.Error(err)
		return
	}
	defer func() { _ = cc.Close() }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := remote.NewRemotingClient(cc).Receive(ctx)
	if err != nil {
		return
	}
	session := v.session.Add(1)<<20 | uint64(time.Now().UnixNano())>>40
	for seq := uint64(1); ctx.Err() == nil; {
		b := &remote.MessageBatch{Targets: []string{"bourse"}, TypeNames: []string{"bourse.wire.Parcel"}}
		for _, m := range v.lines(r, as, session, seq) {
			e, err := wire.Encode(agents.ID("broker:"+as), agents.ID(site.id()), m)
			if err != nil {
				v.s.t.Error(err)
				return
			}
			data, err := proto.Marshal(&wire.Parcel{Session: session, Seq: seq, Envelope: e})
			if err != nil {
				v.s.t.Error(err)
				return
			}
			b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{MessageData: data})
			seq++
		}
		if stream.Send(&remote.RemoteMessage{MessageType: &remote.RemoteMessage_MessageBatch{MessageBatch: b}}) != nil {
			return
		}
		v.sent.Add(int64(len(b.Envelopes)))
		rest(ctx, v.pause)
	}
}

// lines are what is said next in the name of a broker.
func (v *villain) lines(r *rand.Rand, as string, session, seq uint64) (said []agents.Message) {
	now := grid.Time(time.Now().UnixMilli())
	v.mu.Lock()
	for range min(3, len(v.legs)) {
		leg := v.legs[r.IntN(len(v.legs))]
		leg.Tx.Broker = as
		said = append(said, agents.Prepare{Leg: leg, For: grid.Hour}, agents.Confirm{Leg: leg, DecidedBy: 1}, agents.Cancel{Leg: leg, DecidedBy: 1},
			agents.Release{Leg: leg, DecidedBy: 9, Full: true}, agents.LegOutputRequest{Leg: leg, Ref: 1}, agents.Noted{Leg: leg},
			agents.Answer{Leg: leg, Verdict: agents.Abort, DecidedBy: 9},
			agents.Reassert{Leg: agents.ListedLeg{Leg: leg, State: grid.Released}, Incarnation: 9, Nonce: 9})
	}
	v.mu.Unlock()
	what := grid.Leg{Group: "main", Nodes: 8, Start: now.Add(grid.Hour), End: now.Add(2 * grid.Hour)}
	for i := range uint64(8) {
		id := grid.LegID{Tx: grid.TxID{Broker: as, Incarnation: 9, Nonce: session, Seq: seq + i}, Leg: 1}
		said = append(said, agents.Hold{Leg: id, What: what, User: spite.user, For: grid.Minute, Version: 1}, // at no price
			agents.OfferRequest{Cycle: seq + i, Horizon: now.Add(grid.Day)}, agents.QuoteRequest{Ref: seq + i, Legs: []grid.Leg{what}})
	}
	return said
}

// knock calls the victim's doors at a site with certificates of another VO, and sends its
// gossip noise.
func (v *villain) knock(ctx context.Context, site *agent) {
	noise, err := net.Dial("udp", net.JoinHostPort(site.host, fmt.Sprint(voPort(0)+1)))
	if err != nil {
		v.s.t.Error(err)
		return
	}
	defer func() { _ = noise.Close() }()
	packet := make([]byte, 1200)
	for ; ctx.Err() == nil; rest(ctx, 20*time.Millisecond) {
		for i := range packet {
			packet[i] = byte(rand.Uint32())
		}
		_, _ = noise.Write(packet)
		cc, err := grpc.NewClient(fmt.Sprintf("%s:%d", site.host, voPort(0)), grpc.WithNoProxy(), grpc.WithTransportCredentials(credentials.NewTLS(anyServer(v.stores["main"]))))
		if err != nil {
			v.s.t.Error(err)
			return
		}
		one, stop := context.WithTimeout(ctx, 5*time.Second)
		stream, err := remote.NewRemotingClient(cc).Receive(one)
		if err == nil {
			_, err = stream.Recv()
		}
		if err == nil {
			v.s.t.Errorf("%s answers a certificate of %s where it listens to %s", site.name, v.of, v.victim)
		}
		v.refused.Add(1)
		stop()
		_ = cc.Close()
	}
}
