package sites

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/backfill"

	"pgregory.net/rapid"
)

// said are all messages to a site that can come from outside its process, or pretend to,
// some to others, and one of no kind.
var said = func() []agents.Message {
	list := []agents.Message{agents.Submit{}, agents.Offers{}, agents.Held{}, agents.Listing{}, agents.JobCancel{}, agents.ClusterHold{}, odd{}}
	for _, p := range agents.Messages() {
		if p.To == agents.Site && p.Kind() != (agents.Reload{}).Kind() { // whose settings nobody outside can make
			list = append(list, p.Message)
		}
	}
	return list
}()

var (
	wildNumbers = []int64{0, 1, -1, 2, 3, 4, 1000, 30_000, 100_000, 1_000_000, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1,
		int64(grid.MaxTime), -int64(grid.MaxTime), int64(grid.MaxTime) + 1, int64(grid.Never), int64(grid.MaxBudget), int64(grid.MaxCredits), math.MaxInt32, math.MinInt32}
	wildWords = []string{"", "main", "vo1", "vo2", "ana", "Settled", "Degraded", "gpu", string(make([]byte, 70_000))}
)

// scramble gives every field below v an arbitrary value.
func scramble(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(t, v.Field(i))
		}
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "length")
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			scramble(t, v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			scramble(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.SampledFrom(wildWords).Draw(t, "word"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case reflect.Int, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(rapid.SampledFrom(wildNumbers).Draw(t, "number"))
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(rapid.SampledFrom(wildNumbers).Draw(t, "number")) & (1<<v.Type().Bits() - 1))
	case reflect.Float64:
		v.SetFloat(float64(rapid.SampledFrom(wildNumbers).Draw(t, "number")))
	case reflect.Pointer: // none
	default:
		t.Fatalf("a message has a %v", v.Kind())
	}
}

// sensible brings most fields of a message back to what is not refused at once,
// so that the others are looked at.
func sensible(t *rapid.T, w *wild, m agents.Message) agents.Message {
	v := reflect.New(reflect.TypeOf(m)).Elem()
	v.Set(reflect.ValueOf(m))
	some := func(name string) reflect.Value {
		if f := v.FieldByName(name); f.IsValid() && rapid.IntRange(0, 9).Draw(t, "sense") > 0 {
			return f
		}
		return reflect.Value{}
	}
	if f := some("Leg"); f.IsValid() && f.Type() == reflect.TypeOf(grid.LegID{}) {
		f.Set(reflect.ValueOf(w.leg("leg")))
	} else if f.IsValid() && f.Type() == reflect.TypeOf(agents.ListedLeg{}) {
		f.FieldByName("Leg").Set(reflect.ValueOf(w.leg("leg")))
	}
	if f := some("What"); f.IsValid() && f.Type() == reflect.TypeOf(grid.Leg{}) {
		start := w.now.Add(grid.Duration(rapid.IntRange(0, 300).Draw(t, "ahead")) * grid.Second)
		f.Set(reflect.ValueOf(grid.Leg{Group: "main", Nodes: rapid.IntRange(1, 4).Draw(t, "nodes"), Start: start, End: start + 50_000}))
	}
	if f := some("Limit"); f.IsValid() {
		f.SetInt(int64(10 * grid.Credit))
	}
	if f := some("Replaces"); f.IsValid() {
		f.Set(reflect.ValueOf(rapid.SampledFrom([]grid.LegID{{}, {}, w.leg("old")}).Draw(t, "replaces")))
	}
	for _, x := range []struct {
		name  string
		value int64
	}{{"For", 30_000}, {"Run", 0}, {"Start", int64(w.now) + 100_000}, {"End", int64(w.now) + 200_000}} {
		if f := some(x.name); f.IsValid() && f.CanInt() {
			f.SetInt(x.value)
		}
	}
	for _, name := range []string{"Incarnation", "DecidedBy", "Nonce"} {
		if f := some(name); f.IsValid() {
			f.SetUint(uint64(rapid.IntRange(1, 3).Draw(t, name)))
		}
	}
	for _, name := range []string{"Group", "Broker", "Name", "Job", "User"} {
		if f := some(name); f.IsValid() && f.Kind() == reflect.String {
			f.SetString(map[string]string{"Group": "main", "Broker": "vo1", "Name": "floor", "Job": "job", "User": "ana"}[name])
		}
	}
	return v.Interface().(agents.Message)
}

// Nothing that anybody can say brings a site down or its books out of balance:
// every message of every kind, with any values in it, from anybody.
func TestSite_NobodyCanBringItDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, anything)
}

// The same, for a fuzzer that looks for paths not taken yet. A life has a step for every eight
// bytes, all of which follows from these alone: another step leaves the others as they are.
func FuzzSite_Step(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for n := 8; n <= 8*maxSteps; n *= 2 {
		seed := make([]byte, n)
		_, _ = r.Read(seed)
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := &wild{}
		steps := max(1, min(len(data)/8, maxSteps))
		for i := range steps {
			var seed [8]byte
			copy(seed[:], data[min(8*i, len(data)):])
			broken := drawn(binary.LittleEndian.Uint64(seed[:]), func(t *rapid.T) {
				if w.t = t; w.tale == nil {
					w = newWild(t)
				}
				if w.anything(); i == steps-1 {
					w.replays()
				}
			})
			if broken != "" {
				t.Fatalf("step %d of %d: %s", i+1, steps, broken)
			}
		}
	})
}

// maxSteps is how long a life is for a fuzzer.
const maxSteps = 64

// drawn carries out what draws from a stream of its own, and returns what it has failed with.
// rapid.MakeFuzz would take bytes for every draw, and spend most of the time on a log of them.
func drawn(seed uint64, do func(*rapid.T)) (broken string) {
	rapid.Custom(func(t *rapid.T) bool {
		defer func() {
			if r := recover(); r != nil {
				broken = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		do(t)
		return true
	}).Example(int(seed))
	return broken
}

// anything is a life of a site to which anybody says anything.
func anything(t *rapid.T) {
	w := newWild(t)
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		w.anything()
	}
	w.replays()
}

func newWild(t *rapid.T) *wild {
	cfg := storyConfig(4)
	cfg.Key = agents.DerivedKey(1, cfg.Name)
	cfg.VOShares, cfg.VOShare = map[string]int{"vo1": rapid.SampledFrom([]int{0, 500, 1000}).Draw(t, "share")}, 900
	cfg.Cap, cfg.MaxKept, cfg.MaxWork = 4_000_000, 40, 10
	return &wild{tale: newStory(cfg, backfill.EASY, []grid.LocalJob{{ID: 1, Nodes: 2, Run: 60 * grid.Second, Estimate: 90 * grid.Second}}), t: t}
}

// anything is one thing that happens or is said, by anybody.
func (w *wild) anything() {
	t := w.t
	from := rapid.SampledFrom([]agents.ID{"broker:vo1", "broker:vo1", "broker:vo1", "broker:vo2", "broker:", "", "operator:olga", "user:ana", "site:north"}).Draw(t, "from")
	switch rapid.IntRange(0, 5).Draw(t, "what") {
	case 0:
		w.advance(w.now.Add(grid.Duration(rapid.SampledFrom([]int{1, 3000, 31_000, 1_000_000, 100_000_000}).Draw(t, "time"))))
	case 1:
		w.born()
	case 2:
		m := w.natural()
		if m == nil {
			m = w.message()
		}
		w.say("broker:vo1", m)
	default:
		m := rapid.SampledFrom(said).Draw(t, "message")
		v := reflect.New(reflect.TypeOf(m)).Elem()
		scramble(t, v)
		w.say(from, sensible(t, w, v.Interface().(agents.Message)))
	}
	w.trace = nil
	w.sound()
	if rapid.IntRange(0, 9).Draw(t, "replay") == 0 {
		w.replays()
	}
}

// sound checks what must hold of a site whatever is said.
func (w *wild) sound() {
	if err := w.site.Ledger().Check(); err != nil {
		w.t.Fatalf("I8: %v", err)
	}
	if err := w.cluster.Audit(w.now); err != nil {
		w.t.Fatalf("I1: %v", err)
	}
	if n := len(w.site.kept); n > w.cfg.MaxKept+1 {
		w.t.Fatalf("%d legs are kept, %d at most were allowed", n, w.cfg.MaxKept)
	}
	w.site.Status(w.now, 3, grid.Hour)
}

// replays checks that a life from the facts so far stands where this one does.
func (w *wild) replays() {
	replayed := New(w.cfg)
	for _, f := range w.facts {
		replayed.Replay(f.at, f.fact)
	}
	w.same("replaying the facts", replayed.Image(), w.site.Image())
}

// A broker that begins life after life is remembered by its latest, and fenced
// all the same.
func TestSite_RemembersTheLatestLivesOfABroker(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	for inc := range uint32(100) {
		s.say("broker:vo1", agents.List{Broker: "vo1", Incarnation: inc + 1, Nonce: uint64(inc + 1)})
	}
	if n := len(s.site.lives["vo1"].seen); n != maxLives {
		t.Errorf("%d lives are remembered", n)
	}
	s.trace = nil
	s.say("broker:vo1", agents.Hold{Leg: testLeg(1), What: window(1, 1000, 1100), Limit: grid.MaxBudget, For: 30_000})
	again := New(s.cfg)
	again.Replay(0, s.site.Image())
	if len(s.trace) != 1 || len(s.site.legs) > 0 || again.lives["vo1"].listed != 100 {
		t.Errorf("an old life is taken: %q; the image says listed %d", s.trace, again.lives["vo1"].listed)
	}
}

// More legs than a question may have are not even priced.
func TestSite_CountsAQuestionThatIsTooLong(t *testing.T) {
	t.Parallel()
	s := newStory(storyConfig(4), backfill.EASY, nil)
	s.say("broker:vo1", agents.QuoteRequest{Legs: make([]grid.Leg, maxLegs+1)})
	if s.site.Stray() != 1 || len(s.trace) > 0 {
		t.Errorf("%d strays, %q", s.site.Stray(), s.trace)
	}
}
