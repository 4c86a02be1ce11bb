package live

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/rs/zerolog"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/grid"
)

// legOf is a leg of a broker's transaction.
func legOf(broker string) grid.LegID {
	return grid.LegID{Tx: grid.TxID{Broker: broker, Incarnation: 1, Nonce: 2, Seq: 3}}
}

// sealed is a message in its parcel, as a link sends it.
func sealed(t testing.TB, from, to agents.ID, m agents.Message) *wire.Parcel {
	t.Helper()
	e, err := wire.Encode(from, to, m)
	if err != nil {
		t.Fatal(err)
	}
	return &wire.Parcel{Session: 1, Seq: 1, Envelope: e}
}

// batchOf is a batch as Proto.Actor's writer makes it.
func batchOf(t testing.TB, messages ...proto.Message) *remote.MessageBatch {
	t.Helper()
	b := &remote.MessageBatch{Targets: []string{inbox}}
	for i, m := range messages {
		data, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		b.TypeNames = append(b.TypeNames, string(m.ProtoReflect().Descriptor().FullName()))
		b.Envelopes = append(b.Envelopes, &remote.MessageEnvelope{TypeId: int32(i), MessageData: data})
	}
	return b
}

// guardAt is the guard of an agent, and who a peer is to it.
func guardAt(self, other agents.ID) (*Guard, peer) {
	return newGuard(self, zerolog.Nop(), nil), peer{name: string(other), agent: other}
}

const siteNorth, brokerOne agents.ID = "site:north", "broker:vo1"

func TestGuard_LetsThroughWhatAgentsSayToEachOther(t *testing.T) {
	t.Parallel()
	g, p := guardAt(siteNorth, brokerOne)
	b := batchOf(t,
		sealed(t, brokerOne, siteNorth, agents.Hold{Leg: legOf("vo1"), Replaces: legOf("vo1")}),
		&wire.Ack{Session: 7, Upto: 9},
		&wire.ClockRequest{From: string(brokerOne), ReplyTo: "127.0.0.1:7400", Nonce: 1},
		&wire.ClockReply{From: string(brokerOne), Nonce: 1, Now: 1},
		sealed(t, brokerOne, siteNorth, agents.List{Broker: "vo1", Known: []grid.LegID{legOf("vo1")}}))
	size, left, breach := g.batch(p, b)
	if breach != nil || len(left) != 0 || len(b.Envelopes) != 5 || size.messages != 5 || size.bytes == 0 {
		t.Errorf("%v, %v, %d envelopes, %+v", breach, left, len(b.Envelopes), size)
	}
	g, p = guardAt(brokerOne, siteNorth)
	b = batchOf(t, sealed(t, siteNorth, brokerOne, agents.Held{Leg: legOf("vo1")}), sealed(t, siteNorth, brokerOne, agents.Offers{Cycle: 1}))
	if _, _, breach := g.batch(p, b); breach != nil {
		t.Error(breach)
	}
}

// A site of several VOs knows brokers as VO/NAME: no broker may have such a name itself.
func TestGuard_RefusesANameWithASlashAtASiteOfSeveralVOs(t *testing.T) {
	t.Parallel()
	const slashed agents.ID = "broker:atlas/main"
	g, p := guardAt(siteNorth, slashed)
	hold := func() *remote.MessageBatch {
		return batchOf(t, sealed(t, slashed, siteNorth, agents.Hold{Leg: legOf("atlas/main")}))
	}
	if _, _, breach := g.batch(p, hold()); breach != nil {
		t.Errorf("at a site of one VO it is a name as any: %v", breach)
	}
	g.vo = "cms"
	if _, _, breach := g.batch(p, hold()); breach == nil || breach.Cause != BadFrom {
		t.Errorf("%v", breach)
	}
}

// A newer peer may send types that this build does not know, and unknown kinds in an
// envelope. What it sends beside them is heard.
func TestGuard_LeavesOutWhatIsNewAndHearsTheRest(t *testing.T) {
	t.Parallel()
	g, p := guardAt(siteNorth, brokerOne)
	b := batchOf(t, &wire.Ack{Session: 1, Upto: 1}, &wire.Ack{Session: 1, Upto: 2}, &wire.Ack{Session: 1, Upto: 3})
	b.TypeNames[1] = "bourse.wire.Hello"
	_, left, breach := g.batch(p, b)
	if breach != nil || len(left) != 1 || left[0].Cause != NewType || len(b.Envelopes) != 2 {
		t.Errorf("%v, %v, %d left", breach, left, len(b.Envelopes))
	}
	newer := sealed(t, brokerOne, siteNorth, agents.Prepare{Leg: legOf("vo1")})
	newer.Envelope.Body = nil
	newer.Envelope.Version = 99
	newer.Envelope.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 200, protowire.BytesType), []byte("x")))
	if _, _, breach := g.batch(p, batchOf(t, newer)); breach != nil {
		t.Errorf("a kind that is new never reaches the host, which would tell the peer: %v", breach)
	}
}

func TestGuard_RefusesWhatOnlyAHostilePeerSends(t *testing.T) {
	t.Parallel()
	hold := agents.Hold{Leg: legOf("vo1")}
	mine := func() *remote.MessageBatch { return batchOf(t, sealed(t, brokerOne, siteNorth, hold)) }
	changed := func(change func(*remote.MessageBatch)) *remote.MessageBatch {
		b := mine()
		change(b)
		return b
	}
	says := func(from, to agents.ID, m agents.Message) *remote.MessageBatch {
		return batchOf(t, sealed(t, from, to, m))
	}
	for _, c := range []struct {
		name  string
		batch *remote.MessageBatch
		cause Cause
	}{
		{"another broker's name", says("broker:vo2", siteNorth, hold), BadFrom},
		{"a site's name", says("site:south", siteNorth, agents.Held{Leg: legOf("vo1")}), BadFrom},
		{"no name", says("", siteNorth, hold), BadFrom},
		{"to the cluster behind it", says(brokerOne, "cluster:north", hold), BadTo},
		{"to another site", says(brokerOne, "site:south", hold), BadTo},
		{"a reply of a site", says(brokerOne, siteNorth, agents.Held{Leg: legOf("vo1")}), BadKind},
		{"another broker's leg", says(brokerOne, siteNorth, agents.Cancel{Leg: legOf("vo2")}), BadLeg},
		{"another broker's leg to replace", says(brokerOne, siteNorth, agents.Hold{Leg: legOf("vo1"), Replaces: legOf("vo2")}), BadLeg},
		{"the list of another broker", says(brokerOne, siteNorth, agents.List{Broker: "vo2"}), BadLeg},
		{"legs of another broker in a list", says(brokerOne, siteNorth, agents.List{Broker: "vo1", Known: []grid.LegID{legOf("vo1"), legOf("vo2")}}), BadLeg},
		{"an assertion of another broker's leg", says(brokerOne, siteNorth, agents.Reassert{Leg: agents.ListedLeg{Leg: legOf("vo2")}}), BadLeg},
		{"no leg where there must be one", says(brokerOne, siteNorth, agents.Confirm{}), BadLeg},
		{"a stop", batchOf(t, &actor.Stop{}), BadType},
		{"a poison pill", batchOf(t, &actor.PoisonPill{}), BadType},
		{"a watch", batchOf(t, &actor.Watch{}), BadType},
		{"a termination", batchOf(t, &actor.Terminated{}), BadType},
		{"a spawn", batchOf(t, &remote.ActorPidRequest{}), BadType},
		{"a type nobody uses", changed(func(b *remote.MessageBatch) { b.TypeNames = append(b.TypeNames, "nonsense") }), BadType},
		{"an envelope of wire alone", changed(func(b *remote.MessageBatch) { b.TypeNames[0] = "" }), BadType},
		{"another actor", changed(func(b *remote.MessageBatch) { b.Targets[0] = "EndpointSupervisor" }), BadTarget},
		{"a type beyond the list", changed(func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = 1 }), BadIndex},
		{"a type before the list", changed(func(b *remote.MessageBatch) { b.Envelopes[0].TypeId = -1 }), BadIndex},
		{"a target beyond the list", changed(func(b *remote.MessageBatch) { b.Envelopes[0].Target = 1 }), BadIndex},
		{"a target before the list", changed(func(b *remote.MessageBatch) { b.Envelopes[0].Target = -1 }), BadIndex},
		{"no types", changed(func(b *remote.MessageBatch) { b.TypeNames = nil }), BadIndex},
		{"a sender that is not there", changed(func(b *remote.MessageBatch) { b.Envelopes[0].Sender = 1 }), BadForm},
		{"a sender", changed(func(b *remote.MessageBatch) { b.Senders = []*actor.PID{{Address: "10.0.0.9:1", Id: "x"}} }), BadForm},
		{"a nil sender", changed(func(b *remote.MessageBatch) { b.Senders = []*actor.PID{nil} }), BadForm},
		{"a request", changed(func(b *remote.MessageBatch) { b.Envelopes[0].TargetRequestId = 1 }), BadForm},
		{"a header", changed(func(b *remote.MessageBatch) { b.Envelopes[0].MessageHeader = &remote.MessageHeader{} }), BadForm},
		{"JSON", changed(func(b *remote.MessageBatch) { b.Envelopes[0].SerializerId = 1 }), BadForm},
		{"an empty place", changed(func(b *remote.MessageBatch) { b.Envelopes[0] = nil }), BadForm},
		{"bytes that are nothing", changed(func(b *remote.MessageBatch) { b.Envelopes[0].MessageData = []byte{0xff} }), Garbled},
		{"no envelope", batchOf(t, &wire.Parcel{}), Garbled},
		{"a question for the time in another's name", batchOf(t, &wire.ClockRequest{From: "broker:vo2"}), BadFrom},
		{"a question for the time of nobody", batchOf(t, &wire.ClockRequest{}), BadFrom},
		{"a question to be answered nowhere", batchOf(t, &wire.ClockRequest{From: "broker:vo1", ReplyTo: "nowhere"}), BadAddress},
		{"the time in another's name", batchOf(t, &wire.ClockReply{From: "broker:vo2", Now: 1}), BadFrom},
		{"the time of a site", batchOf(t, &wire.ClockReply{From: "site:south", Now: 1}), BadFrom},
		{"an answer to nowhere", batchOf(t, &wire.Parcel{ReplyTo: "nowhere", Envelope: &wire.Envelope{}}), BadAddress},
		{"too many envelopes", changed(func(b *remote.MessageBatch) {
			for len(b.Envelopes) <= maxBatch {
				b.Envelopes = append(b.Envelopes, b.Envelopes[0])
			}
		}), TooMany},
		{"too many types", changed(func(b *remote.MessageBatch) { b.TypeNames = make([]string, maxKinds+1) }), TooMany},
		{"too many targets", changed(func(b *remote.MessageBatch) { b.Targets = make([]string, maxKinds+1) }), TooMany},
		{"too long", changed(func(b *remote.MessageBatch) { b.Envelopes[0].MessageData = make([]byte, wire.MaxMessage+parcelExtra+1) }), TooLarge},
		{"few bytes and many parts", batchOf(t, fewBytes(t)), Garbled},
	} {
		g, p := guardAt(siteNorth, brokerOne)
		// Whether it comes alone or behind something that may pass.
		behind := batchOf(t, &wire.Ack{})
		_, _, breach := g.batch(p, c.batch)
		if breach == nil || breach.Cause != c.cause || breach.Peer != "broker:vo1" {
			t.Errorf("%s: %+v, want %s", c.name, breach, c.cause)
		}
		if _, _, b := g.batch(p, behind); b != nil {
			t.Errorf("%s: and then nothing may pass: %v", c.name, b)
		}
	}
	g, p := guardAt(brokerOne, siteNorth)
	for _, c := range []struct {
		m     agents.Message
		cause Cause
	}{
		{hold, BadKind},
		{agents.Confirmed{Leg: legOf("vo2")}, BadLeg},
		{agents.Listing{Legs: []agents.ListedLeg{{Leg: legOf("vo2")}}}, BadLeg},
	} {
		if _, _, breach := g.batch(p, says(siteNorth, brokerOne, c.m)); breach == nil || breach.Cause != c.cause {
			t.Errorf("%s from a site: %v, want %s", c.m.Kind(), breach, c.cause)
		}
	}
}

// fewBytes is a parcel whose bytes would take fifty times their size in memory.
func fewBytes(t testing.TB) *wire.Parcel {
	p := sealed(t, brokerOne, siteNorth, agents.List{Broker: "vo1"})
	list := p.Envelope.GetList()
	for range maxParts {
		list.Known = append(list.Known, &wire.LegID{})
	}
	return p
}

// saidToSites is something of every kind that a broker says to a site.
var saidToSites = []agents.Message{
	agents.OfferRequest{Cycle: 1}, agents.QuoteRequest{Ref: 1, Legs: []grid.Leg{{Group: "main", Nodes: 1}}, Users: []string{"ana"}},
	agents.Hold{Leg: legOf("vo1"), Replaces: legOf("vo1"), Job: "job"}, agents.Prepare{Leg: legOf("vo1"), For: 1}, agents.Confirm{Leg: legOf("vo1")},
	agents.Cancel{Leg: legOf("vo1")}, agents.Release{Leg: legOf("vo1")}, agents.Answer{Leg: legOf("vo1")}, agents.Noted{Leg: legOf("vo1")},
	agents.List{Broker: "vo1", Known: []grid.LegID{legOf("vo1"), legOf("vo1")}}, agents.Reassert{Leg: agents.ListedLeg{Leg: legOf("vo1")}},
	agents.Cancel{Leg: legOf("vo2")}, agents.Held{Leg: legOf("vo1")},
}

// FuzzGuard sends a batch with a parcel of whatever bytes, and something of whatever type
// behind it. What passes the link can read to the end without a fault, and it is about the
// peer's own legs.
func FuzzGuard(f *testing.F) {
	packed := func(m proto.Message) []byte {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	for _, m := range saidToSites {
		f.Add(packed(sealed(f, brokerOne, siteNorth, m)), ackType, int32(1), int32(0), packed(&wire.Ack{Session: 1}))
	}
	parcel := packed(sealed(f, brokerOne, siteNorth, saidToSites[0]))
	f.Add(parcel, asksType, int32(1), int32(0), packed(&wire.ClockRequest{From: string(brokerOne), ReplyTo: "127.0.0.1:7400", Nonce: 1}))
	f.Add(parcel, tellsType, int32(1), int32(0), packed(&wire.ClockReply{From: string(brokerOne), Nonce: 1, Now: 1}))
	f.Add(parcel, linkTypes+"Hello", int32(0), int32(1), parcel)
	f.Fuzz(func(t *testing.T, parcel []byte, kind string, typeID, target int32, other []byte) {
		b := &remote.MessageBatch{TypeNames: []string{parcelType, kind}, Targets: []string{inbox},
			Envelopes: []*remote.MessageEnvelope{{MessageData: parcel}, {TypeId: typeID, Target: target, MessageData: other}}}
		g, p := guardAt(siteNorth, brokerOne)
		in, left, breach := g.batch(p, b)
		if breach != nil {
			return
		}
		if len(in.list) != len(b.Envelopes) || len(in.list)+len(left) != 2 {
			t.Fatalf("%d messages and %d left out in %d envelopes", len(in.list), len(left), len(b.Envelopes))
		}
		for i, e := range b.Envelopes {
			switch m := in.list[i].(type) {
			case *wire.Ack, *wire.ClockRequest, *wire.ClockReply:
			case *wire.Parcel:
				if m.Envelope.From != string(brokerOne) || m.Envelope.To != string(siteNorth) || !slices.Contains([]string{"", m.Envelope.To}, addressee(e.MessageData)) {
					t.Fatalf("%v", m)
				}
				if said, err := wire.Decode(m.Envelope); err == nil {
					ownLegs(t, reflect.ValueOf(said))
				}
			default:
				t.Fatalf("a %T", m)
			}
		}
	})
}

// ownLegs checks that all legs within v are of the broker vo1.
func ownLegs(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if id, ok := v.Interface().(grid.LegID); ok && id != (grid.LegID{}) && id.Tx.Broker != "vo1" {
			t.Fatalf("leg %v of another broker may pass", id)
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				ownLegs(t, v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			ownLegs(t, v.Index(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			ownLegs(t, v.Elem())
		}
	}
}

// The guard and the receiver read the same bytes: of two addressees the last
// counts for both.
func TestAddressee_IsTheOneThatTheReceiverReads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for range rapid.IntRange(0, 3).Draw(t, "envelopes") {
			b, err := proto.Marshal(&wire.Envelope{To: rapid.SampledFrom([]string{"", "site:a", "site:b"}).Draw(t, "to"), Trace: "x"})
			if err != nil {
				t.Fatal(err)
			}
			data = protowire.AppendBytes(protowire.AppendTag(data, envelopeField, protowire.BytesType), b)
		}
		p := &wire.Parcel{}
		if err := proto.Unmarshal(data, p); err != nil {
			t.Fatal(err)
		}
		// Two envelopes in one parcel are merged, which this process never writes.
		if got := addressee(data); got != p.GetEnvelope().GetTo() && got != "" {
			t.Fatalf("%q, want %q", got, p.GetEnvelope().GetTo())
		}
	})
}

func TestCountParts_CountsMessagesAndTextsAtEveryDepth(t *testing.T) {
	t.Parallel()
	p := sealed(t, brokerOne, siteNorth, agents.List{Broker: "vo1", Known: []grid.LegID{legOf("vo1"), legOf("vo1")}})
	data, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	const parts = 4 // the envelope, the list, two legs
	if n, err := countParts(data, p.ProtoReflect().Descriptor(), parts); err != nil || n != parts {
		t.Errorf("%d parts, %v", n, err)
	}
	if _, err := countParts(data, p.ProtoReflect().Descriptor(), parts-1); err == nil {
		t.Error("one too many is let through")
	}
	if _, err := countParts(data[:len(data)-1], p.ProtoReflect().Descriptor(), parts); err == nil {
		t.Error("a torn message is let through")
	}
}

// FuzzCountParts: whatever can be parsed can be counted, and no more messages and texts are
// made of it, at any depth, than were counted.
func FuzzCountParts(f *testing.F) {
	for _, m := range saidToSites {
		b, err := proto.Marshal(sealed(f, brokerOne, siteNorth, m))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &wire.Parcel{}
		d := m.ProtoReflect().Descriptor()
		if proto.Unmarshal(data, m) != nil {
			return
		}
		parts, err := countParts(data, d, len(data))
		if made := made(m.ProtoReflect()); err != nil || made > parts {
			t.Fatalf("%d made of %d parts, %v", made, parts, err)
		}
		if n, err := countParts(data, d, parts); err != nil || n != parts {
			t.Fatalf("of %d parts at most there are %d, %v", parts, n, err)
		}
		if _, err := countParts(data, d, parts-1); parts > 0 && err == nil {
			t.Fatalf("%d parts are let through where there may be one less", parts)
		}
	})
}

// made is how many messages and texts of lists there are within a message.
func made(m protoreflect.Message) (n int) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch message := f.Message() != nil; {
		case f.IsList() && (message || !f.IsPacked()):
			for i := range v.List().Len() {
				if n++; message {
					n += made(v.List().Get(i).Message())
				}
			}
		case message && !f.IsList():
			n += 1 + made(v.Message())
		}
		return true
	})
	return n
}

func TestRate_SlowsDownAndThenEnds(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	var r rate
	now := start
	for range rateBurst * rateMessages / 100 {
		if wait, over := r.take(now, cost{messages: 100}); wait != 0 || over {
			t.Fatalf("a burst is slowed by %v, %v", wait, over)
		}
	}
	// From here on it sends as fast as it is let.
	sent := 0
	for now.Sub(start) < ratePatience {
		wait, over := r.take(now, cost{messages: 100})
		if over {
			t.Fatalf("ended after %v", now.Sub(start))
		}
		sent += 100
		now = now.Add(max(wait, time.Microsecond))
	}
	if rate := float64(sent) / now.Sub(start).Seconds(); rate > 1.01*rateMessages {
		t.Errorf("%.0f messages a second come through", rate)
	}
	over := false
	for now.Sub(start) < ratePatience+5*time.Second && !over {
		var wait time.Duration
		wait, over = r.take(now, cost{messages: 100})
		now = now.Add(max(wait, time.Microsecond))
	}
	if !over || !r.keptOut(now) || r.keptOut(now.Add(ratePenalty)) {
		t.Errorf("over %v, kept out %v", over, r.keptOut(now))
	}
}

func TestRate_BytesCountToo(t *testing.T) {
	t.Parallel()
	var r rate
	now := time.Unix(1000, 0)
	if wait, _ := r.take(now, cost{messages: 1, bytes: rateBurst * rateBytes}); wait != 0 {
		t.Errorf("%v", wait)
	}
	if wait, _ := r.take(now, cost{messages: 1, bytes: rateBytes}); wait < 900*time.Millisecond || wait > 1100*time.Millisecond {
		t.Errorf("%v", wait)
	}
}

// A peer that sends slower than the rate is never cut off, however long it goes on.
func TestRate_ForgivesWhoKeepsWithinIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var r rate
		now := time.Unix(1000, 0)
		for range 500 {
			n := rapid.IntRange(1, rateMessages/2).Draw(t, "messages")
			if _, over := r.take(now, cost{messages: n}); over {
				t.Fatal("ended")
			}
			now = now.Add(time.Duration(float64(n)*1.05/rateMessages*float64(time.Second)) + time.Microsecond)
		}
		if !r.idle(now.Add(2*rateBurst*time.Second)) || r.keptOut(now) {
			t.Fatal("not forgiven")
		}
	})
}

func TestDoor_BoundsEachHostAndAgentByItself(t *testing.T) {
	t.Parallel()
	var d connBound
	for i := range maxHandshakesOf {
		if !d.enter("10.0.0.1") {
			t.Fatalf("handshake %d", i)
		}
	}
	if d.enter("10.0.0.1") {
		t.Error("one host takes more than its share")
	}
	if !d.enter("10.0.0.2") {
		t.Error("one host shuts out another")
	}
	d.leave("10.0.0.1")
	if !d.enter("10.0.0.1") {
		t.Error("what has ended is still counted")
	}
	for i := range maxConnectionsOf {
		if !d.admit("site:a") {
			t.Fatalf("connection %d", i)
		}
	}
	if d.admit("site:a") || !d.admit("site:b") {
		t.Error("connections are not counted by agent")
	}
	d.close("site:a")
	if !d.admit("site:a") {
		t.Error("a closed connection is still counted")
	}
	for i := range maxHandshakes {
		d.enter(fmt.Sprint(i))
	}
	if d.enter("new") {
		t.Error("handshakes have no bound")
	}
}

func BenchmarkGuard_Hold(b *testing.B) {
	g, p := guardAt(siteNorth, brokerOne)
	benchmarkGuard(b, g, p, sealed(b, brokerOne, siteNorth, agents.Hold{Leg: legOf("vo1"), Job: "wave", User: "ana"}))
}

func BenchmarkGuard_Offers1000Steps(b *testing.B) {
	g, p := guardAt(brokerOne, siteNorth)
	var profile grid.Profile
	for i := range 1000 {
		profile = append(profile, grid.Step{At: grid.Time(i * 60_000), Free: i % 7})
	}
	benchmarkGuard(b, g, p, sealed(b, siteNorth, brokerOne, agents.Offers{Groups: []agents.GroupOffer{{Admissible: profile, Clear: profile}}}))
}

func benchmarkGuard(b *testing.B, g *Guard, p peer, m proto.Message) {
	batch := batchOf(b, m)
	b.SetBytes(int64(len(batch.Envelopes[0].MessageData)))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, breach := g.batch(p, batch); breach != nil {
			b.Fatal(breach)
		}
	}
}
