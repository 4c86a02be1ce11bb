package wire

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// there and back goes over bytes.
func thereAndBack(m agents.Message) (agents.Message, error) {
	e, err := Encode("broker:vo1", "site:north", m)
	if err != nil {
		return nil, err
	}
	b, err := Marshal(e)
	if err != nil {
		return nil, err
	}
	if e, err = Unmarshal(b); err != nil {
		return nil, err
	}
	if Kind(e) != m.Kind() || e.Trace != agents.Trace(m) {
		return nil, fmt.Errorf("kind %q, trace %q; want %q, %q", Kind(e), e.Trace, m.Kind(), agents.Trace(m))
	}
	return Decode(e)
}

// A message type that a broker and a site send each other, and that has no form
// on the wire, would be lost without a word on a network alone.
func TestWire_EveryMessageBetweenProcessesHasAForm(t *testing.T) {
	t.Parallel()
	var want, have, forms []string
	for _, p := range agents.Messages() {
		if p.Crosses() {
			want = append(want, p.Kind())
		}
	}
	for _, m := range samples() {
		have = append(have, m.Kind())
	}
	for kind := range codecs {
		forms = append(forms, kind)
	}
	bodies := Kinds()
	for _, list := range [][]string{want, have, forms, bodies} {
		slices.Sort(list)
	}
	if !slices.Equal(want, bodies) || !slices.Equal(want, have) || !slices.Equal(want, forms) || len(forms) != len(steps)+len(recovery)+len(works)+len(pilots)+len(replicas) {
		t.Errorf("agents sends between processes\n%v, an envelope holds\n%v, codecs are for\n%v, and the samples of this test are\n%v", want, bodies, forms, have)
	}
}

// toy has the kind of a message, and is none.
type toy struct{}

func (toy) Kind() string { return "Hold" }

func TestWire_AnotherTypeOfThatNameHasNoForm(t *testing.T) {
	t.Parallel()
	if _, err := Encode("broker:vo1", "site:north", toy{}); err == nil || !strings.Contains(err.Error(), "Hold stays within a process") {
		t.Errorf("%v", err)
	}
}

var update = flag.Bool("update", false, "add golden bytes of kinds that have none yet")

// A message of an earlier build must be understood as it was meant, for as long
// as the version is spoken. The files are added to, never written again.
func TestWire_GoldenBytesAlwaysDecode(t *testing.T) {
	t.Parallel()
	for version := uint32(Oldest); version <= Version; version++ {
		name := fmt.Sprintf("testdata/v%d.txt", version)
		text, err := os.ReadFile(name)
		if err != nil && !*update {
			t.Fatal(err)
		}
		golden := map[string]string{}
		for line := range strings.Lines(string(text)) {
			kind, bytes, _ := strings.Cut(strings.TrimSpace(line), " ")
			golden[kind] = bytes
		}
		for _, m := range samples() {
			if golden[m.Kind()] == "" && *update {
				e, _ := EncodeAs(version, "broker:vo1", "site:north", m)
				b, _ := Marshal(e)
				text = fmt.Appendf(text, "%s %x\n", m.Kind(), b)
				continue
			}
			if golden[m.Kind()] == "" {
				t.Errorf("%s has no line for %s. If it is new, run go test ./agents/wire -run GoldenBytes -update, which adds the bytes of this build and changes no other line", name, m.Kind())
				continue
			}
			b, err := hex.DecodeString(golden[m.Kind()])
			if err != nil {
				t.Fatal(err)
			}
			e, err := Unmarshal(b)
			if err != nil {
				t.Errorf("version %d, %s: %v", version, m.Kind(), err)
				continue
			}
			got, err := Decode(e)
			if err != nil || !reflect.DeepEqual(got, m) {
				t.Errorf("version %d, %s: %+v, %v; want %+v", version, m.Kind(), got, err, m)
			}
			if e.Version != version || e.From != "broker:vo1" || e.To != "site:north" {
				t.Errorf("version %d, %s: envelope %d from %s to %s", version, m.Kind(), e.Version, e.From, e.To)
			}
		}
		if *update {
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestWire_WhatGoesOutComesBack(t *testing.T) {
	t.Parallel()
	for _, sample := range samples() {
		t.Run(sample.Kind(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				m := arbitrary(t, reflect.TypeOf(sample), "").Interface().(agents.Message)
				got, err := thereAndBack(m)
				if err != nil || !reflect.DeepEqual(got, m) {
					t.Fatalf("%v\n%+v\n%+v", err, got, m)
				}
			})
		})
	}
}

// arbitrary draws a value within the vocabulary's limits. field is the name of
// the struct's field that it is for.
func arbitrary(t *rapid.T, typ reflect.Type, field string) reflect.Value {
	v := reflect.New(typ).Elem()
	switch v.Interface().(type) {
	case grid.Profile:
		return reflect.ValueOf(arbitraryProfile(t))
	case *grid.PriceCurve:
		return reflect.ValueOf(arbitraryCurve(t))
	case grid.LegID:
		if field == "Replaces" && rapid.Bool().Draw(t, "none") {
			return v
		}
	case grid.Time:
		v.SetInt(rapid.Int64Range(-int64(grid.MaxTime), int64(grid.MaxTime)).Draw(t, field))
		return v
	case grid.Duration:
		v.SetInt(rapid.Int64Range(0, int64(grid.MaxDuration)).Draw(t, field))
		return v
	case grid.Credits:
		v.SetInt(rapid.Int64Range(0, int64(grid.MaxCredits)).Draw(t, field))
		return v
	case grid.Performance:
		v.SetInt(rapid.Int64Range(1, int64(grid.MaxPerformance)).Draw(t, field))
		return v
	case grid.Price:
		v.SetInt(rapid.Int64Range(0, int64(grid.MaxPrice)).Draw(t, field))
		return v
	case grid.LegState:
		v.SetUint(rapid.Uint64Range(0, uint64(grid.Lost)).Draw(t, field))
		return v
	case grid.LegPart:
		if rapid.Bool().Draw(t, field) {
			return v
		}
		return reflect.ValueOf(grid.LegPart{Slices: rapid.Int16Range(1, grid.MaxSlices-1).Draw(t, "slices"), Of: rapid.Int16Range(2, grid.MaxSlices).Draw(t, "of"),
			Cores: rapid.Int16Min(0).Draw(t, "cores"), Memory: rapid.Int64Range(0, maxMachine).Draw(t, "memory"), GPUs: rapid.Int16Min(0).Draw(t, "gpus")})
	case grid.Opened:
		at := rapid.Int64Range(-int64(grid.MaxTime), int64(grid.MaxTime))
		return reflect.ValueOf(grid.Opened{Start: grid.Time(at.Draw(t, "start")), End: grid.Time(at.Draw(t, "end")), Free: arbitraryProfile(t)})
	case grid.Work:
		return reflect.ValueOf(arbitraryWork(t))
	case agents.Verdict:
		v.SetUint(rapid.Uint64Range(0, uint64(agents.Unknown)).Draw(t, field))
		return v
	}
	switch typ.Kind() {
	case reflect.Pointer: // to what need not be there
		if rapid.Bool().Draw(t, field) {
			v.Set(reflect.New(typ.Elem()))
			v.Elem().Set(arbitrary(t, typ.Elem(), field))
		}
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(arbitrary(t, typ.Field(i).Type, typ.Field(i).Name))
		}
	case reflect.Slice:
		most := 3
		if field == "Users" { // no more than legs, which arbitrary draws by itself
			most = 0
		}
		for range rapid.IntRange(0, most).Draw(t, field) {
			v.Set(reflect.Append(v, arbitrary(t, typ.Elem(), field)))
		}
	case reflect.String:
		most := map[string]int{"Code": maxCode, "Step": maxCode, "Detail": maxDetail, "OS": maxText}[field]
		v.SetString(rapid.StringOfN(rapid.Rune().Filter(func(c rune) bool { return !control(c) }), 1, 60, max(most, maxCode)).Draw(t, field))
	case reflect.Int, reflect.Int64:
		most := map[string]int64{"Slices": grid.MaxSlices, "Level": 100}[field]
		v.SetInt(rapid.Int64Range(1, cmp.Or(most, 1000)).Draw(t, field))
	case reflect.Uint32:
		v.SetUint(uint64(rapid.Uint32().Draw(t, field)))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(t, field))
	case reflect.Uint8:
		most := uint8(math.MaxUint8)
		if typ == reflect.TypeFor[grid.Reading]() {
			most = grid.Readings - 1
		}
		v.SetUint(uint64(rapid.Uint8Range(0, most).Draw(t, field)))
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).Set(arbitrary(t, typ.Elem(), field))
		}
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, field))
	default:
		t.Fatalf("%s is a %v: how is one drawn?", field, typ)
	}
	return v
}

func arbitraryCurve(t *rapid.T) *grid.PriceCurve {
	repeat := grid.Duration(rapid.SampledFrom([]int64{0, int64(grid.MinPriceRepeat), int64(grid.Day)}).Draw(t, "repeat"))
	at := grid.Time(0)
	if repeat == 0 {
		at = grid.Time(rapid.Int64Range(-int64(grid.MaxTime), int64(grid.MaxTime)/2).Draw(t, "first"))
	}
	var list []grid.PricePiece
	for range rapid.IntRange(0, 5).Draw(t, "factors") {
		list = append(list, grid.PricePiece{From: at, Factor: rapid.IntRange(0, grid.MaxPriceFactor).Draw(t, "factor")})
		at += grid.Time(rapid.Int64Range(1, int64(grid.MinPriceRepeat)/5).Draw(t, "later"))
	}
	c, err := grid.PriceCurveOf(list, repeat)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func arbitraryWork(t *rapid.T) grid.Work {
	w := grid.Work{Dir: "/scratch", Output: rapid.SampledFrom([]string{"", "out-%j.%l"}).Draw(t, "output"), Rendezvous: rapid.Bool().Draw(t, "rendezvous")}
	text := rapid.StringOf(rapid.Rune().Filter(func(c rune) bool { return c != 0 }))
	if rapid.Bool().Draw(t, "a script") {
		w.Script = "#!" + text.Draw(t, "script")
	} else {
		w.Command = append([]string{"sh"}, rapid.SliceOf(text).Draw(t, "command")...)
	}
	for _, name := range []string{"A", "B"}[rapid.IntRange(0, 2).Draw(t, "env"):] {
		w.Env = append(w.Env, grid.EnvVar{Name: name, Value: text.Draw(t, name)})
	}
	return w
}

func arbitraryProfile(t *rapid.T) grid.Profile {
	at := rapid.Int64Range(-1000, 1_000_000).Draw(t, "opens")
	p := grid.Profile{{At: grid.Time(at), Free: rapid.IntRange(-maxNodes, maxNodes).Draw(t, "free")}}
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		at += rapid.Int64Range(1, int64(grid.Day)).Draw(t, "after")
		p = append(p, grid.Step{At: grid.Time(at), Free: rapid.IntRange(-10, 10).Draw(t, "free")})
	}
	return p
}

// An empty list comes back as nil, so no code may tell the two apart.
func TestWire_EmptyListsComeBackAsNil(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sent, want agents.Message }{
		{agents.QuoteRequest{Users: []string{}, Legs: []grid.Leg{}}, agents.QuoteRequest{}},
		{agents.Quotes{Quotes: []grid.Quote{}}, agents.Quotes{}},
		{agents.List{Broker: "vo1", Known: []grid.LegID{}}, agents.List{Broker: "vo1"}},
		{agents.Listing{Legs: []agents.ListedLeg{}}, agents.Listing{}},
		{agents.Offers{Groups: []agents.GroupOffer{}}, agents.Offers{}},
	} {
		if got, err := thereAndBack(c.sent); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v, %v; want %+v", got, err, c.want)
		}
	}
	users := agents.QuoteRequest{Users: []string{"", "ana"}, Legs: make([]grid.Leg, 2)}
	if got, err := thereAndBack(users); err != nil || !reflect.DeepEqual(got, users) {
		t.Errorf("%+v, %v; want %+v", got, err, users)
	}
}

// An instant that is not foreseen at all is later than every instant of a schedule, and must come back so.
func TestWire_ForecastsComeBack(t *testing.T) {
	t.Parallel()
	for _, m := range []agents.Message{
		agents.QuoteRequest{Ref: 9, Queued: []grid.Queueing{{Group: "main", Nodes: 8, Limit: 3_600_000}}},
		agents.PilotsRequest{Ref: 9, Broker: "vo1", Job: "train", Nodes: 8, Limit: 3_600_000, Foresee: true},
		agents.Pilots{Ref: 9, Group: "main", Likely: grid.BestEffort{Median: 1_790_000_060_000, Lower: 1_790_000_000_000, Upper: grid.Never, Level: 80, Calibrated: true, Held: 7, Of: 9}},
		agents.Quotes{Ref: 9, BestEffort: []grid.BestEffort{
			{Median: 1_790_000_600_000, Lower: 1_790_000_000_000, Upper: grid.Never, Level: 80, Calibrated: true, Held: 79, Of: 100}, {}}},
	} {
		if got, err := thereAndBack(m); err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v, %v; want %+v", got, err, m)
		}
	}
}

// A text that is too long is cut, and invalid UTF-8 is replaced: a word too much
// must not lose the answer.
func TestWire_LongAndBrokenTextsAreMended(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", maxDetail)
	m := agents.Refused{Leg: someLeg, Step: "Hold", Reason: grid.Reason{Code: grid.Busy, Detail: "a" + long}}
	got, err := thereAndBack(m)
	if err != nil || got.(agents.Refused).Reason.Detail != "a"+long[:maxDetail-2] {
		t.Errorf("%v, %+v", err, got)
	}
	m.Reason.Detail = "one\ntwo\x1b[2J\xff"
	if got, err = thereAndBack(m); err != nil || got.(agents.Refused).Reason.Detail != "one two [2J\uFFFD" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestWire_WhatStaysWithinAProcessIsRefused(t *testing.T) {
	t.Parallel()
	for _, m := range []agents.Message{agents.Started{}, agents.Submit{}, agents.SubmitReply{}, agents.JobCancel{}, agents.JobModify{},
		agents.JobReply{}, agents.ClusterHold{}, agents.Snapshot{}, agents.NodesLost{}, agents.SiteJoined{}, agents.SiteLeft{}} {
		if _, err := Encode("a:b", "c:d", m); err == nil || !strings.Contains(err.Error(), m.Kind()+" stays within a process") {
			t.Errorf("%s: %v", m.Kind(), err)
		}
		if _, _, known := Ends(m.Kind()); known {
			t.Errorf("%s has ends", m.Kind())
		}
	}
}

func TestWire_UnknownVersionsAndTypesAreToldApart(t *testing.T) {
	t.Parallel()
	e, err := Encode("broker:vo1", "site:north", agents.OfferRequest{Cycle: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint32{0, Oldest - 1, Version + 1, 1 << 31} {
		e.Version = version
		var unknown *UnknownError
		if _, err := Decode(e); !errors.As(err, &unknown) || *unknown != (UnknownError{version, "OfferRequest"}) {
			t.Errorf("version %d: %v", version, err)
		}
		if _, err := EncodeAs(version, "a:b", "c:d", agents.OfferRequest{}); !errors.As(err, &unknown) {
			t.Errorf("version %d: %v", version, err)
		}
	}
	// A body of a number that nobody has used yet.
	b := protowire.AppendTag(nil, 1, protowire.VarintType)
	b = protowire.AppendVarint(b, Version)
	b = protowire.AppendTag(b, 900, protowire.BytesType)
	b = protowire.AppendBytes(b, []byte("what is this"))
	if e, err = Unmarshal(b); err != nil || Kind(e) != "" {
		t.Fatal(err, Kind(e))
	}
	var unknown *UnknownError
	if _, err := Decode(e); !errors.As(err, &unknown) || *unknown != (UnknownError{Version, ""}) {
		t.Errorf("unknown body: %v", err)
	}
	if _, err := Decode(nil); !errors.As(err, &unknown) {
		t.Errorf("no envelope: %v", err)
	}
}

// A field that a newer build has added is passed over.
func TestWire_NewFieldsArePassedOver(t *testing.T) {
	t.Parallel()
	m := agents.Prepare{Leg: someLeg, For: 5}
	e, err := Encode("broker:vo1", "site:north", m)
	if err != nil {
		t.Fatal(err)
	}
	e.GetPrepare().ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 77, protowire.VarintType), 7))
	b, err := Marshal(e)
	if err != nil || !bytes.Contains(b, []byte{7}) {
		t.Fatal(err)
	}
	if e, err = Unmarshal(b); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(e); err != nil || got != m {
		t.Errorf("%+v, %v", got, err)
	}
}

// A site stamps what it sends, but for the output of work and what is known of pilots; brokers and replicas stamp
// nothing.
func TestWire_EndsOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, m := range samples() {
		want := [2]agents.Role{agents.Broker, agents.Site}
		if _, stamped := m.(agents.Stamped); stamped || m.Kind() == (agents.LegOutput{}).Kind() || m.Kind() == (agents.Pilots{}).Kind() {
			want = [2]agents.Role{agents.Site, agents.Broker}
		}
		if strings.HasPrefix(m.Kind(), "Replica") {
			want = [2]agents.Role{agents.Replica, agents.Replica}
		}
		if from, to, known := Ends(m.Kind()); !known || from != want[0] || to != want[1] {
			t.Errorf("%s goes from %q to %q, known=%t; want %v", m.Kind(), from, to, known, want)
		}
	}
}

// FuzzDecode has any bytes read. What is taken is a message that goes out again
// as it came.
func FuzzDecode(f *testing.F) {
	for _, m := range samples() {
		e, err := Encode("site:north", "broker:vo1", m)
		if err != nil {
			f.Fatal(err)
		}
		b, err := proto.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Unmarshal(b)
		if err != nil {
			return
		}
		m, err := Decode(e)
		if err != nil {
			return
		}
		again, err := thereAndBack(m)
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Fatalf("%v\n%+v\n%+v", err, m, again)
		}
	})
}
