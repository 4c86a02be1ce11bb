package journal

import (
	"math/rand/v2"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// After a disk has said that it has synced and has not, a journal is a beginning of what was
// appended, with all that was truly synced before, or its start is refused: pages are missing,
// names are old, an image has its name and not its content.
func TestJournal_AfterASyncThatWasNoneItIsABeginningOrRefused(t *testing.T) {
	t.Parallel()
	refused, shorter := 0, 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 1))
		disk := &Memory{}
		opt := withImage
		if r.IntN(2) == 0 {
			opt.Keep = 20
		}
		j, _ := mustOpen(t, disk, opt)
		var want []entry
		grow := func(least int) {
			for n := range least + r.IntN(30) {
				want = append(want, mustNote(t, j, len(want)))
				if err := j.Sync(); err != nil {
					t.Fatal(err)
				}
				if r.IntN(8) == 0 {
					if err := j.Snapshot(grid.Time(10*n), image{uint64(len(want))}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		grow(1)
		synced := len(want)
		disk.Lie()
		grow(0)
		disk.FailPower(func(n int) int { return r.IntN(n + 1) }, func(data []byte, synced int) []byte {
			for page := synced; page < len(data); page += 64 {
				if r.IntN(6) == 0 {
					clear(data[page:min(page+64, len(data))])
				}
			}
			if r.IntN(2) == 0 {
				return data[:synced+r.IntN(len(data)-synced+1)]
			}
			return data
		})
		var got []entry
		j, err := Open(disk, opt, collect(&got))
		if err != nil {
			if !isCorrupt(err) {
				t.Fatalf("seed %d: a start is told: %v", seed, err)
			}
			refused++
			continue
		}
		has := int(j.Facts())
		if has < synced || has > len(want) {
			t.Fatalf("seed %d: %d facts, of %d that were synced and %d that were said to be", seed, has, synced, len(want))
		}
		if has < len(want) {
			shorter++
		}
		first := has - int(j.Since())
		if first > 0 {
			if x, ok := got[0].fact.(image); !ok || x.Facts != uint64(first) {
				t.Fatalf("seed %d: the image is %v, of %d facts", seed, got[0].fact, first)
			}
			got = got[1:]
		}
		equal(t, got, want[first:has])
	}
	if refused < 100 || shorter < 100 {
		t.Errorf("%d starts were refused, %d journals were shorter", refused, shorter)
	}
	t.Logf("%d starts were refused, %d journals were shorter", refused, shorter)
}
