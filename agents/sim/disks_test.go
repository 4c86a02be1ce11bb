package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// several makes lines of faults of the counter, one of each kind in turn, every few seconds.
func several(from, to, step int, kinds ...string) (list []string) {
	for at := from; at < to; at += step {
		kind := kinds[at/step%len(kinds)]
		list = append(list, fmt.Sprintf("%s at=%d.3 for=1 host=counter salt=%d", kind, at, at))
	}
	return list
}

// Of steps that share a sync nothing leaves before it, and all are lost together. What hooks
// see of them is in order, and the agent is no further than that once a batch is closed.
func TestBatch_NothingLeavesBeforeItsSync(t *testing.T) {
	t.Parallel()
	shared, lost := 0, 0
	for seed := range uint64(20) {
		list := append(several(5, 190, 4, "crash-sync", "crash-send", "torn-journal", "sync-failed", "disk-full", "mirror"), "batch at=1 for=250 host=counter size=1500", "delay at=2 for=180 share=400 size=900")
		opt := Options{Seed: seed, Faults: faults(t, list...), Snapshot: 15, Record: true, Trace: func(line string) {
			if strings.Contains(line, "had not synced") {
				lost++
			}
		}}
		w, a := exchange(opt)
		durable := map[int]bool{}
		took := func(f any) {
			if n, ok := f.(counted); ok {
				durable[n.N] = true
			}
		}
		w.Began(func(l *Life) {
			if l.Amnesia || l.Facts < len(durable) {
				t.Fatalf("seed %d: a life begins with %d facts of %d", seed, l.Facts, len(durable))
			}
			for _, f := range l.Last { // of a torn write, which nobody has seen
				took(f)
			}
		})
		w.After(func(s *Step) {
			if s.ID != "counter" {
				return
			}
			for _, f := range s.Facts {
				took(f)
			}
			for _, x := range s.Sends {
				if n := int(x.Message.(number)); !durable[n] {
					t.Fatalf("seed %d at %v: %d is answered and not durable", seed, s.At, n)
				}
			}
			if c, ok := w.AgentOf(s.Process).(*counter); ok && !s.Open && len(c.order) != len(durable) {
				t.Fatalf("seed %d at %v: the agent has counted %d, and %d are durable", seed, s.At, len(c.order), len(durable))
			}
		})
		runToRest(t, seed, w, a)
		if err := w.Rerun(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		shared += w.Count(Batch)
	}
	if shared < 400 || lost < 20 {
		t.Errorf("%d syncs were shared, %d batches lost in 20 runs", shared, lost)
	}
	t.Logf("%d syncs were shared, %d batches lost", shared, lost)
}

// After a disk has lied its process begins with a past, or not before the operator has put
// back a copy; what is there is what was recorded. With a mirror nothing is missing.
func TestLyingSync_IsAPastOrRefused(t *testing.T) {
	t.Parallel()
	for _, mirrored := range []bool{false, true} {
		pasts, refused, struck := 0, 0, 0
		for seed := range uint64(25) {
			list := []string{"batch at=30 for=60 host=counter size=900"}
			for at := 5; at < 180; at += 25 {
				list = append(list, fmt.Sprintf("lying-sync at=%d for=%d host=counter salt=%d", at, 3+at%17, at))
			}
			if mirrored {
				list = append(list, "mirror at=299 for=1 host=counter")
			}
			opt := Options{Seed: seed, Faults: faults(t, list...), Snapshot: 10, Keep: 20_000, Record: true, Trace: func(line string) {
				if strings.Contains(line, "cannot begin") {
					refused++
				}
			}}
			w, a := exchange(opt)
			var told []counted
			w.After(func(s *Step) {
				for _, f := range s.Facts {
					told = append(told, f.(counted))
				}
			})
			w.Began(func(l *Life) {
				switch {
				case l.Facts > len(told):
					t.Fatalf("seed %d: %d facts of %d", seed, l.Facts, len(told))
				case l.Facts < len(told) && !l.Amnesia:
					t.Fatalf("seed %d: a life forgets %d facts", seed, len(told)-l.Facts)
				case l.Facts < len(told):
					pasts++
				}
				told = told[:l.Facts]
				for i, f := range l.Last {
					if f.(counted) != told[l.Facts-len(l.Last)+i] {
						t.Fatalf("seed %d: fact %d is %v, recorded was %v", seed, i, f, told[l.Facts-len(l.Last)+i])
					}
				}
			})
			runToRest(t, seed, w, a)
			c := w.Agent("counter").(*counter)
			if !slices.EqualFunc(c.order, told, func(n int, f counted) bool { return n == f.N }) {
				t.Fatalf("seed %d: counted %v, recorded %v", seed, c.order, told)
			}
			if err := w.Rerun(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			struck += w.Count(LyingSync)
		}
		t.Logf("mirrored %t: of %d lies %d led to a past, %d to a refusal", mirrored, struck, pasts, refused)
		if !mirrored && (pasts < 50 || refused < 15) || mirrored && pasts > 0 || struck < 80 {
			t.Errorf("mirrored %t: of %d lies %d led to a past, %d to a refusal", mirrored, struck, pasts, refused)
		}
	}
}

// A wrong bit in an older segment changes nothing for the process, is found by whoever reads
// the journal, and is put back.
func TestRot_IsFoundAndPutBack(t *testing.T) {
	t.Parallel()
	struck, found := 0, 0
	for seed := range uint64(12) {
		list := append(several(4, 190, 9, "crash-sync", "crash-send", "torn-journal", "mirror"), several(31, 190, 8, "rot")...)
		opt := Options{Seed: seed, Faults: faults(t, list...), Snapshot: 10, Trace: func(line string) {
			if strings.Contains(line, "is put back: 0000") {
				found++
			}
		}}
		w, a := exchange(opt)
		w.Began(func(l *Life) {
			if l.Amnesia {
				t.Fatalf("seed %d: a life begins with amnesia", seed)
			}
		})
		runToRest(t, seed, w, a)
		struck += w.Count(Rot)
	}
	if struck < 100 || found < struck*9/10 {
		t.Errorf("%d bits were wrong, %d were found", struck, found)
	}
	t.Logf("%d bits were wrong, %d were found", struck, found)
}
