package live

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/asynkron/protoactor-go/remote"
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/broker"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/queue"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/pricing"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/tree/thorough"
)

// Two VOs at the same three sites in virtual time, by the guard, the wire and the VOs
// that live sites have. atlas has a broker main with 300 jobs, many of several sites; so
// has cms a broker worker, and beside it a main of the same name as that of atlas and
// another one, which are hostile: they know every leg of atlas and say all that can be
// said of it, in bulk, by their own names and by others', until they are revoked in the
// middle and go on. The same seedless world is run without them, and compared.

const (
	hostileJobs  = 300
	hostileEvery = 4 * grid.Minute // a job of each VO is submitted
	hostileBeat  = 2 * grid.Hour   // those who are hostile strike
	hostileUntil = grid.Time(24 * grid.Hour)
	floodOf      = 20 // messages of a kind at each beat and site
)

// frame is what one process sends another: a batch of parcels, by the certificate of a
// member.
type frame struct {
	vo    string
	by    string // the name of the broker in that certificate
	batch []byte
}

// Kind names the message.
func (frame) Kind() string { return "Frame" }

// reply is an envelope that a site sends to a broker.
type reply struct{ envelope []byte }

// Kind names the message.
func (reply) Kind() string { return "Reply" }

// outer is how this world calls a broker of a VO.
func outer(vo, name string) agents.ID { return agents.ID("broker:" + grid.InVO(vo, name)) }

// border is a site behind its guards and VOs, as a process has it.
type border struct {
	t      *testing.T
	id     agents.ID
	site   *sites.Site
	vos    *VOs
	in     map[string]Local
	guards map[string]*Guard
	peers  map[string]*peer
	told   map[string][]string // what each VO was sent, in order

	network Network
	now     grid.Time
	out     *agents.Outbox
}

// Connect, Deliver, Tell and Stop make it the host of its VOs.
func (b *border) Connect(n Network) { b.network = n }

func (b *border) Deliver(e *wire.Envelope) bool {
	m, err := wire.Decode(e)
	if err != nil {
		return true // as a host, it drops what it cannot read
	}
	b.step(agents.ID(e.GetFrom()), m)
	return true
}

func (b *border) Tell(agents.ID, agents.ID, agents.Message) error { return nil }
func (b *border) Stop(context.Context) error                      { return nil }

// toVO is the network of one VO.
type toVO struct {
	b  *border
	vo string
}

func (n toVO) Send(to agents.ID, e *wire.Envelope) {
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(e)
	if err != nil {
		n.b.t.Fatal(err)
	}
	if n.vo == "atlas" {
		n.b.told[n.vo] = append(n.b.told[n.vo], masked(n.b.t, data))
	}
	n.b.out.Send(outer(n.vo, nameOf(to)), reply{data})
}

// masked is an envelope in words, without the one number that all VOs of a site share:
// how many facts it has recorded.
func masked(t *testing.T, data []byte) string {
	e := &wire.Envelope{}
	if err := proto.Unmarshal(data, e); err != nil {
		t.Fatal(err)
	}
	words := prototext.MarshalOptions{Multiline: true, Indent: " "}.Format(e)
	return stamps.ReplaceAllString(strings.ReplaceAll(words, ":  ", ": "), "stamp: *")
}

// stamps are numbers of facts.
var stamps = regexp.MustCompile(`stamp: \{[^}]*\}`)

func (b *border) step(from agents.ID, m agents.Message) {
	var o agents.Outbox
	b.site.Step(b.now, from, m, &o)
	b.out.Facts = append(b.out.Facts, o.Facts...)
	b.out.Alarms = append(b.out.Alarms, o.Alarms...)
	for _, s := range o.Sends {
		if roleOf(s.To) != "broker" {
			b.out.Send(s.To, s.Message)
			continue
		}
		e, err := wire.Encode(b.id, s.To, s.Message)
		if err != nil {
			b.t.Fatal(err)
		}
		b.network.Send(s.To, e)
	}
}

// Step takes a frame through the guard of its VO, and all else to the site.
func (b *border) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	b.now, b.out = now, out
	f, is := m.(frame)
	if !is {
		b.step(from, m)
		return
	}
	g, p := b.guards[f.vo], b.peers[grid.InVO(f.vo, f.by)]
	if g.still(p) != nil {
		p.number = 0 // its connection is closed, and the next one is verified anew
		return
	}
	batch := &remote.MessageBatch{}
	if err := proto.Unmarshal(f.batch, batch); err != nil {
		b.t.Fatal(err)
	}
	_, _, breach := g.batch(*p, batch)
	if breach != nil {
		g.refuse(breach)
		return
	}
	for _, e := range batch.Envelopes {
		parcel := &wire.Parcel{}
		if err := proto.Unmarshal(e.MessageData, parcel); err != nil {
			b.t.Fatal(err)
		}
		b.in[f.vo].Deliver(parcel.Envelope)
	}
}

// voBroker is a broker behind its wire.
type voBroker struct {
	t        *testing.T
	vo, name string
	agent    agents.Agent
	facts    []string
	cut      grid.Time // from when on nothing of it leaves; 0: never
}

func (b *voBroker) Step(now grid.Time, from agents.ID, m agents.Message, out *agents.Outbox) {
	if r, is := m.(reply); is {
		e := &wire.Envelope{}
		if err := proto.Unmarshal(r.envelope, e); err != nil {
			b.t.Fatal(err)
		}
		var err error
		if m, err = wire.Decode(e); err != nil {
			b.t.Fatal(err)
		}
	}
	if from == outer(b.vo, b.name) {
		from = agents.ID("broker:" + b.name)
	}
	var o agents.Outbox
	b.agent.Step(now, from, m, &o)
	out.Alarms = append(out.Alarms, o.Alarms...)
	for _, f := range o.Facts {
		text, err := json.Marshal(f)
		if err != nil {
			b.t.Fatal(err)
		}
		b.facts = append(b.facts, fmt.Sprint(now, " ", f.Kind(), " ", string(text)))
	}
	for _, s := range o.Sends {
		switch {
		case roleOf(s.To) != "site":
			out.Send(s.To, s.Message)
		case b.cut == 0 || now < b.cut:
			out.Send(s.To, framed(b.t, b.vo, b.name, agents.ID("broker:"+b.name), s.To, s.Message))
		}
	}
}

// framed is a message as a process sends it that has the certificate of a broker, and
// says whom it is from.
func framed(t *testing.T, vo, by string, from, to agents.ID, m agents.Message) frame {
	data, err := proto.Marshal(batchOf(t, sealed(t, from, to, m)))
	if err != nil {
		t.Fatal(err)
	}
	return frame{vo, by, data}
}

// crowd submits the jobs of a VO.
type crowd struct {
	broker agents.ID
	next   int
}

type nextJob struct{}

func (nextJob) Kind() string { return "NextJob" }

func (c *crowd) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	if _, answer := m.(agents.SubmitReply); answer || c.next == hostileJobs {
		return
	}
	i := c.next
	c.next++
	nodes := 1 + i*7%8
	if i%10 == 0 {
		nodes = 40 // more than a site has
	}
	j := grid.Job{Name: fmt.Sprint("job", i), User: fmt.Sprint("user", i%3), Submit: now,
		Request: grid.Request{Nodes: nodes, Length: grid.Duration(10+i*13%50) * grid.Minute, MinPerformance: grid.Unit,
			MaxPrice: grid.Price(3 * grid.Credit), Deadline: grid.Never}}
	j.Budget = j.DefaultBudget()
	out.Send(c.broker, agents.Submit{Job: j})
	out.Alarm(now.Add(hostileEvery), nextJob{})
}

// villain speaks as brokers of cms, and knows every leg of atlas.
type villain struct {
	t     *testing.T
	legs  *[]grid.LegID // of atlas, by the names that atlas has for them
	sites []agents.ID
	beats uint64
	sent  int
}

type beat struct{}

func (beat) Kind() string { return "Beat" }

func (v *villain) Step(now grid.Time, _ agents.ID, m agents.Message, out *agents.Outbox) {
	switch m.(type) {
	case agents.Started:
		out.Alarm(now.Add(hostileBeat), beat{})
		return
	case beat:
	default:
		return // whatever it is answered
	}
	out.Alarm(now.Add(hostileBeat), beat{})
	v.beats++
	for _, site := range v.sites {
		for _, by := range []string{"main", "evil"} {
			v.strike(now, site, by, out)
		}
	}
}

// strike says all there is to say, by one certificate and under three names.
func (v *villain) strike(now grid.Time, site agents.ID, by string, out *agents.Outbox) {
	say := func(as string, m agents.Message) {
		v.sent++
		out.Send(site, framed(v.t, "cms", by, agents.ID("broker:"+as), site, m))
	}
	legs := *v.legs
	for _, as := range []string{by, "main", "atlas/main"} {
		for _, leg := range legs[max(0, len(legs)-5):] {
			leg.Tx.Broker = as
			for _, m := range []agents.Message{
				agents.Prepare{Leg: leg, For: grid.Hour},
				agents.Confirm{Leg: leg, DecidedBy: 1},
				agents.Cancel{Leg: leg, DecidedBy: 1},
				agents.Release{Leg: leg, DecidedBy: 9, Full: true},
				agents.LegOutputRequest{Leg: leg, Ref: 1},
				agents.Noted{Leg: leg},
				agents.Answer{Leg: leg, Verdict: agents.Abort, DecidedBy: 9},
				agents.List{Broker: as, Incarnation: uint32(v.beats + 1), Nonce: v.beats, Known: []grid.LegID{leg}},
				agents.Reassert{Leg: agents.ListedLeg{Leg: leg, State: grid.Released}, Incarnation: 9, Nonce: 9},
			} {
				say(as, m)
			}
		}
	}
	// Holds of much that would cost more than it says it pays, and questions.
	soon := now.Add(grid.Hour)
	life := grid.TxID{Broker: by, Incarnation: uint32(v.beats + 1), Nonce: v.beats}
	for i := range floodOf {
		id := grid.LegID{Tx: life, Leg: 1}
		id.Tx.Seq = v.beats<<16 + uint64(i)
		say(by, agents.Hold{Leg: id, What: grid.Leg{Group: "main", Nodes: 8, Start: soon, End: soon.Add(grid.Hour)}, User: "ana", For: grid.Minute, Version: 1})
		say(by, agents.OfferRequest{Cycle: id.Tx.Seq, Horizon: now.Add(grid.Day)})
		say(by, agents.QuoteRequest{Ref: id.Tx.Seq, Legs: []grid.Leg{{Group: "main", Nodes: 8, Start: soon, End: soon.Add(grid.Hour)}}})
	}
}

// hostileWorld is the outcome of a run.
type hostileWorld struct {
	atlas, worker *voBroker
	borders       []*border
	villain       *villain
	refused       map[Cause]uint64
	most          int64 // node-milliseconds of a site's next day that cms held at most
}

// runHostile runs the world: without the worker of cms, or those who are hostile, or with
// the worker cut off in the middle, or revoked.
func runHostile(t *testing.T, worker, hostile bool, cut, revoke grid.Time) *hostileWorld {
	t.Helper()
	w := sim.New()
	r := &hostileWorld{refused: map[Cause]uint64{}}
	dir := t.TempDir()
	authorities := map[string]*certificate.Authority{}
	names := []string{"north", "south", "east"}
	of := map[string][]string{"atlas": {"main"}, "cms": {"main", "evil", "worker"}}
	for _, vo := range []string{"atlas", "cms"} {
		ca, err := certificate.Init(dir+"/"+vo, vo, certificate.InitOptions{})
		if err != nil {
			t.Fatal(err)
		}
		authorities[vo] = ca
		for _, name := range of[vo] {
			certify(t, ca, certificate.Broker, name)
		}
		for _, name := range names {
			certify(t, ca, certificate.Site, name)
		}
	}
	var stores []*certificate.Store
	var siteIDs []agents.ID
	var legs []grid.LegID
	for i, name := range names {
		id, clusterID := agents.ID("site:"+name), agents.ID("cluster:"+name)
		groups := []grid.Group{{Site: name, Name: "main", Nodes: 32, Performance: grid.Unit, Price: grid.Price(grid.Credit) * grid.Price(1+i) / 2}}
		b := &border{t: t, id: id, in: map[string]Local{}, guards: map[string]*Guard{}, peers: map[string]*peer{}, told: map[string][]string{}}
		b.site = sites.New(sites.Config{Name: name, Cluster: clusterID, Groups: groups, Pricing: pricing.Adaptive, VOShare: 1000, Span: grid.Day,
			VOShares: map[string]int{"atlas": 1000, "cms": 400}, Hold: 30 * grid.Second, InDoubt: 15 * grid.Minute, MaxWork: 1000, Lead: 10 * grid.Second})
		b.vos = NewVOs(b, zerolog.New(io.Discard))
		for _, vo := range []string{"atlas", "cms"} {
			in, err := b.vos.In(vo)
			if err != nil {
				t.Fatal(err)
			}
			in.Connect(toVO{b, vo})
			b.in[vo] = in
			ca := authorities[vo].Dir()
			store, err := certificate.Load(certificate.Files{Authority: ca + "/ca.pem", Certificate: ca + "/site-" + name + ".pem", Key: ca + "/site-" + name + ".key", Revoked: ca + "/revoked.txt"}, certificate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			stores = append(stores, store)
			if b.guards[vo], err = NewGuard(GuardOptions{Store: store, VO: vo, Log: zerolog.New(io.Discard)}); err != nil {
				t.Fatal(err)
			}
			for _, who := range of[vo] {
				p := &peer{name: who, chain: chainOf(t, ca+"/broker-"+who+".pem")}
				if err := b.guards[vo].verify(p); err != nil {
					t.Fatal(err)
				}
				b.peers[grid.InVO(vo, who)] = p
			}
		}
		w.Add(clusterID, cluster.New(cluster.Config{Site: id, Volatile: true}, queue.NewBackend(groups, []queue.Options{{Nodes: 32, Policy: backfill.EASY}}, nil)))
		w.Add(id, b)
		siteIDs, r.borders = append(siteIDs, id), append(r.borders, b)
	}
	join := func(vo, name string, nonce uint64) *voBroker {
		cfg := broker.Defaults(name)
		cfg.Budget, cfg.Cycle, cfg.Sites, cfg.Nonce = 1_000_000*grid.Credit, 5*grid.Minute, siteIDs, nonce
		cfg.Horizon, cfg.Lead, cfg.Phase = grid.Day, grid.Minute, broker.Phase(name, 5*grid.Minute)
		m := &voBroker{t: t, vo: vo, name: name, agent: broker.New(cfg)}
		w.Add(outer(vo, name), m)
		w.Add(agents.ID("users:"+vo+"/"+name), &crowd{broker: outer(vo, name)})
		return m
	}
	r.atlas = join("atlas", "main", 11)
	if worker {
		r.worker = join("cms", "worker", 12)
		r.worker.cut = cut
	}
	if hostile {
		r.villain = &villain{t: t, legs: &legs, sites: siteIDs}
		w.Add("broker:cms/main", r.villain)
		w.Add("broker:cms/evil", mute{})
	}
	w.After(func(_ grid.Time, _ agents.ID, out *agents.Outbox) {
		for _, f := range out.Facts {
			l, is := f.(facts.LegMoved)
			if is && l.State == grid.Held && grid.VOOf(l.Leg.Tx.Broker) == "cms" {
				for _, b := range r.borders {
					r.most = max(r.most, b.heldOf("cms"))
				}
			}
			if is && l.Leg.Tx.Broker == "atlas/main" && l.State == grid.Held {
				leg := l.Leg
				leg.Tx.Broker = "main"
				legs = append(legs, leg)
			}
		}
	})
	w.Run(hostileUntil / 2)
	if hostile || revoke > 0 {
		whom := []string{"main", "evil"}
		if revoke > 0 {
			whom = append(whom, "worker")
		}
		for _, name := range whom {
			if _, err := authorities["cms"].Revoke(certificate.Broker, name); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range stores {
			if err := s.Reload(); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Run(hostileUntil)
	for _, b := range r.borders {
		for cause, n := range b.guards["cms"].Stats() {
			r.refused[cause] += n
		}
	}
	return r
}

// heldOf is what a VO holds of the day to come, in node-milliseconds.
func (b *border) heldOf(vo string) (sum int64) {
	for _, l := range b.site.OpenLegs() {
		if grid.VOOf(l.Leg.Tx.Broker) == vo {
			sum += int64(l.What.Nodes) * max(0, int64(min(l.What.End, b.now.Add(grid.Day))-max(l.What.Start, b.now)))
		}
	}
	return sum
}

// mute says nothing.
type mute struct{}

func (mute) Step(grid.Time, agents.ID, agents.Message, *agents.Outbox) {}

func certify(t *testing.T, ca *certificate.Authority, role certificate.Role, name string) {
	t.Helper()
	if _, err := ca.Issue(certificate.Request{Role: role, Name: name, Hosts: []string{"127.0.0.1"}}); err != nil {
		t.Fatal(err)
	}
}

func chainOf(t *testing.T, file string) []*x509.Certificate {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return []*x509.Certificate{c}
}

// outcome is what users of a VO have got.
func (b *voBroker) outcome() string {
	x := b.agent.(*broker.Broker)
	placed, waits := 0, grid.Duration(0)
	for j := range x.Jobs() {
		if j.Last != nil && j.Last.Commit {
			placed++
			waits += j.Last.Legs[0].Start.Sub(j.Submit)
		}
	}
	return fmt.Sprintf("%d jobs placed, waits of %v in all, %v left of %v", placed, waits, x.Left(), x.Budget())
}

// differs compares all that a VO has recorded and been told.
func differs(t *testing.T, what string, a, b *hostileWorld) {
	t.Helper()
	compare := func(of string, x, y []string) {
		t.Helper()
		for i := range max(len(x), len(y)) {
			if i >= len(x) || i >= len(y) || x[i] != y[i] {
				one, other := "nothing", "nothing"
				if i < len(x) {
					one = x[i]
				}
				if i < len(y) {
					other = y[i]
				}
				t.Errorf("%s: %s %d of %d and %d:\n%s\n%s", what, of, i, len(x), len(y), one, other)
				return
			}
		}
	}
	compare("fact", a.atlas.facts, b.atlas.facts)
	for i := range a.borders {
		compare("message of "+string(a.borders[i].id), a.borders[i].told["atlas"], b.borders[i].told["atlas"])
	}
}

// Hostile brokers of one VO cost another VO nothing: every fact of its
// broker and every message that it is sent are those of a world without them, byte by
// byte, but for the number of facts that a site's stamps count. A VO that is revoked is
// to the other as one that falls silent. What VOs share is the nodes, and no more of
// those than the share.
func TestVOs_AHostileVOCostsAnotherNothingBeyondItsShare(t *testing.T) {
	thorough.Only(t, "runs days of virtual time")
	t.Parallel()
	honest := runHostile(t, true, false, 0, 0)
	hostile := runHostile(t, true, true, 0, 0)
	differs(t, "beside hostile brokers", honest, hostile)
	silent := runHostile(t, true, false, hostileUntil/2+1, 0)
	revoked := runHostile(t, true, true, 0, hostileUntil/2)
	differs(t, "beside a VO revoked", silent, revoked)
	alone := runHostile(t, false, false, 0, 0)
	for name, r := range map[string]*hostileWorld{"alone": alone, "honest": honest, "hostile": hostile, "revoked": revoked} {
		t.Logf("%s: atlas %s; cms held at most %d of %d; refused %v", name, r.atlas.outcome(), r.most, 400*32*int64(grid.Day)/1000, r.refused)
		if r.most > 400*32*int64(grid.Day)/1000 {
			t.Errorf("%s: cms holds %d", name, r.most)
		}
		for _, b := range r.borders {
			for _, said := range b.told["atlas"] {
				if strings.Contains(said, "cms") || strings.Contains(said, "worker") || strings.Contains(said, "evil") {
					t.Fatalf("%s: %s tells atlas: %s", name, b.id, said)
				}
			}
		}
	}
	if slices.Equal(alone.atlas.facts, honest.atlas.facts) {
		t.Error("cms takes no nodes at all: nothing is shown")
	}
	if hostile.villain.sent < 10_000 || hostile.refused[BadFrom] == 0 || hostile.refused["certificate-revoked"] == 0 {
		t.Errorf("nobody is hostile: %d messages, refused %v", hostile.villain.sent, hostile.refused)
	}
}
