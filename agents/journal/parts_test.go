package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// piece is a part of an image.
type piece struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

func (piece) Kind() string { return "piece" }

// large is an agent whose image has parts of some size.
type large struct{ parts, size int }

func (large) Step(grid.Time, agents.ID, agents.Message, *agents.Outbox) {}
func (large) Replay(grid.Time, agents.Fact)                             {}
func (l large) Image() agents.Fact                                      { panic("it has an image in parts") }
func (l large) Parts() int                                              { return l.parts }
func (l large) Part(i int) agents.Fact                                  { return piece{i, strings.Repeat("x", l.size)} }

var withPieces = Options{Agent: "site:north", Codec: NewCodec(image{}, piece{}), Keep: grid.Second}

// inParts checks that the journal begins with an image in a number of parts, and returns
// what follows.
func inParts(t *testing.T, got []entry, parts int) []entry {
	t.Helper()
	for i := range parts {
		if p, ok := got[i].fact.(piece); !ok || p.N != i {
			t.Fatalf("what is replayed in place %d is %T, not part %d of %d", i, got[i].fact, i, parts)
		}
	}
	return got[parts:]
}

// gauge is a disk that knows how much was written at once.
type gauge struct {
	*Memory
	most int
}

func (g *gauge) Append(name string, data []byte) error {
	g.most = max(g.most, len(data))
	return g.Memory.Append(name, data)
}

// All parts are replayed in order before the facts after them, whose numbers go
// on; and no write is larger than a megabyte and a part.
func TestSnapshotOf_IsWrittenAndReadInParts(t *testing.T) {
	t.Parallel()
	for _, parts := range []int{1, 2, 3, 40, 3000} {
		disk := &gauge{Memory: &Memory{}}
		j, _ := mustOpen(t, disk, withPieces)
		mustAppend(t, j, 0, 4)
		if err := j.SnapshotOf(9, large{parts, 100_000 / (1 + parts/100)}); err != nil {
			t.Fatal(err)
		}
		want := mustAppend(t, j, 4, 7)
		if most := maxWaiting + 101_000; disk.most > most {
			t.Errorf("%d parts: %d bytes are written at once, more than %d", parts, disk.most, most)
		}
		j, got := mustOpen(t, disk, withPieces)
		equal(t, inParts(t, got, parts), want)
		if j.Facts() != 7 || j.Since() != 3 {
			t.Errorf("%d parts: %d facts, %d of them since", parts, j.Facts(), j.Since())
		}
		images := 0
		list, err := Read(disk, withPieces.Codec, func(r Record) error {
			if r.Image {
				images++
			}
			if r.Image != (r.Fact.Kind() == "piece") || r.Image && r.Number != 4 {
				return fmt.Errorf("%s is number %d, an image: %t", r.Fact.Kind(), r.Number, r.Image)
			}
			return nil
		})
		if err != nil || images != parts || list[len(list)-1].Facts != 3 {
			t.Errorf("%d parts: %d are read, and %+v: %v", parts, images, list, err)
		}
		to := &Memory{}
		if copied, err := Copy(disk, to, true); err != nil || copied[0].Facts != 3 || copied[0].Parts != parts && parts > 1 {
			t.Errorf("%d parts: the copy is %+v: %v", parts, copied, err)
		}
	}
}

// A snapshot of several writes may be interrupted before each of them, and after any byte
// that the disk has taken.
func TestSnapshotOf_MayBeBrokenOffAtEveryStep(t *testing.T) {
	t.Parallel()
	const parts = 12 // of 300 kB: three writes
	died := errors.New("died")
	for _, unsynced := range []bool{false, true} {
		for step, done := 0, false; !done; step++ {
			disk := &Memory{}
			j, _ := mustOpen(t, disk, withPieces)
			all := mustAppend(t, j, 1, 7)
			left := step
			disk.Fault = func(Op, string) error {
				if left--; left < 0 {
					return died
				}
				return nil
			}
			err := j.SnapshotOf(20_000, large{parts, 300_000})
			if done = err == nil; !done && !errors.Is(err, died) {
				t.Fatal(err)
			}
			disk.Fault = nil
			var keep func(string, int, int) int
			if unsynced {
				keep = func(_ string, _, written int) int { return written }
			}
			disk.Crash(keep, unsynced)
			j, got := mustOpen(t, disk, withPieces)
			if _, ok := got[0].fact.(piece); ok {
				equal(t, inParts(t, got, parts), nil)
			} else {
				equal(t, got, all)
			}
			if j.Facts() != 6 || step > 20 {
				t.Fatalf("step %d: %d facts", step, j.Facts())
			}
		}
	}
}

// An image of which a part is missing, stands twice or is cut is damage: it was
// synced before the file had its name.
func TestOpen_RefusesAnImageWithoutAllItsParts(t *testing.T) {
	t.Parallel()
	disk := &Memory{}
	j, _ := mustOpen(t, disk, withPieces)
	mustAppend(t, j, 0, 4)
	if err := j.SnapshotOf(9, large{3, 50}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, 4, 7)
	data, ends := file(t, disk, 2)
	cut := func(from, to int) []byte { return slices.Concat(data[:from], data[to:]) }
	for what, text := range map[string][]byte{
		"cut after two parts":    data[:ends[2]],
		"cut within the third":   data[:ends[3]-5],
		"cut after its header":   data[:ends[0]],
		"without the second":     cut(ends[1], ends[2]),
		"with the second twice":  slices.Concat(data[:ends[2]], data[ends[1]:]),
		"with a fact in between": slices.Concat(data[:ends[2]], data[ends[3]:ends[4]], data[ends[2]:]),
	} {
		disk.Write(segmentName(2), text)
		if _, err := Open(disk, withPieces, func(grid.Time, agents.Fact) {}); !isCorrupt(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	disk.Write(segmentName(2), data)
	_, got := mustOpen(t, disk, withPieces)
	inParts(t, got, 3)
}

// record is a record by the letter of docs/JOURNAL.md.
func record(number uint64, text string) []byte {
	b := make([]byte, 16)
	binary.LittleEndian.PutUint32(b, uint32(len(text)))
	binary.LittleEndian.PutUint64(b[8:], number)
	b = append(b, text...)
	binary.LittleEndian.PutUint32(b[4:], checksum(b))
	return b
}

// A segment whose header does not speak of parts has its image in one record, as
// all had once; and what a header must not say of parts is refused.
func TestOpen_ReadsAnImageInOneRecord(t *testing.T) {
	t.Parallel()
	const at = `{"agent":"broker:vo1","segment":2,"records":2,"at":8,`
	jobs := `{"job":{"nodes":1,"length":60,"minPerformance":1,"maxPrice":1,"budget":1,"ready":0,"deadline":null,"name":"wave","user":"ana","submit":3},"state":0,"fresh":true}`
	old := record(2, `{"at":8,"kind":"broker-image","fact":{"seq":0,"cycles":1,"lives":null,"sites":["north"],"jobs":[`+jobs+`],"txs":null,"accounts":null}}`+"\n")
	fact := record(3, `{"at":9,"kind":"site-left","fact":{"site":"north"}}`+"\n")
	for header, ok := range map[string]bool{
		`"image":true}`:             true,
		`"image":true,"parts":1}`:   true,
		`"image":true,"parts":2}`:   false,
		`"image":true,"parts":-1}`:  false,
		`"image":false,"parts":1}`:  false,
		`"image":true,"parts":1e9}`: false,
	} {
		disk := &Memory{}
		disk.Write(segmentName(2), bytes.Join([][]byte{[]byte("bourse journal 1\n"), record(2, at+header+"\n"), old, fact}, nil))
		var got []entry
		j, err := Open(disk, Options{Agent: "broker:vo1"}, collect(&got))
		switch {
		case !ok:
			if !isCorrupt(err) {
				t.Errorf("%s: %v", header, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", header, err)
			continue
		}
		image, _ := got[0].fact.(facts.BrokerImage)
		if len(got) != 2 || len(image.Jobs) != 1 || image.Jobs[0].Job.Name != "wave" || got[1].fact != (facts.SiteLeft{Site: "north"}) || j.Facts() != 3 {
			t.Errorf("%s: %+v", header, got)
		}
	}
}
