package journal

import (
	"fmt"
	"testing"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
)

// A fact of a group of n that is made durable by one sync, on a real disk.
func BenchmarkSync_RealDisk(b *testing.B) {
	for _, n := range []int{1, 50} {
		b.Run(fmt.Sprintf("group=%d", n), func(b *testing.B) {
			disk, err := OpenFolder(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = disk.Close() }()
			j, _ := mustOpen(b, disk, north)
			f := leg(7)
			for i := 1; b.Loop(); i++ {
				if err := j.Append(1, f); err != nil {
					b.Fatal(err)
				}
				if i%n == 0 {
					if err := j.Sync(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkDecode_LegMoved(b *testing.B) {
	c := NewCodec()
	payload, err := c.Append(nil, 1500, leg(7))
	if err != nil {
		b.Fatal(err)
	}
	d := newReader(c)
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	for b.Loop() {
		if _, _, err := d.record(payload); err != nil {
			b.Fatal(err)
		}
	}
}

// The cost of Append without the disk.
func BenchmarkAppend_LegMoved(b *testing.B) {
	j, _ := mustOpen(b, &Memory{}, north)
	f := leg(7)
	b.ReportAllocs()
	for b.Loop() {
		if err := j.Append(1, f); err != nil {
			b.Fatal(err)
		}
		j.wait = j.wait[:0]
	}
}

// Three facts for each confirmed reservation: what a restart of a site reads.
func BenchmarkOpen_Reservations(b *testing.B) {
	for _, n := range []int{100_000} {
		b.Run(fmt.Sprintf("reservations=%d", n), func(b *testing.B) {
			path := b.TempDir()
			disk, err := OpenFolder(path)
			if err != nil {
				b.Fatal(err)
			}
			j, _ := mustOpen(b, disk, north)
			for i := range n {
				f := leg(i).(facts.LegMoved)
				for _, s := range []grid.LegState{grid.Held, grid.Prepared, grid.Confirmed} {
					f.State = s
					if err := j.Append(grid.Time(i), f); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := j.Sync(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				facts := 0
				if _, err := Open(disk, north, func(grid.Time, agents.Fact) { facts++ }); err != nil || facts != 3*n {
					b.Fatal(facts, err)
				}
			}
		})
	}
}

// The same after a snapshot: one record holds all.
func BenchmarkOpen_Image(b *testing.B) {
	for _, n := range []int{100_000} {
		b.Run(fmt.Sprintf("reservations=%d", n), func(b *testing.B) {
			disk, err := OpenFolder(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = disk.Close() }()
			image := facts.SiteImage{Facts: uint64(3 * n), Accounts: []grid.Account{{Name: "income"}}}
			for i := range n {
				m := facts.LegMemory{LegMoved: leg(i).(facts.LegMoved), Charged: true, HeldAt: 1, At: 2}
				m.State = grid.Confirmed
				image.Legs = append(image.Legs, m)
			}
			j, _ := mustOpen(b, disk, north)
			if err := j.Snapshot(1, image); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				legs := 0
				if _, err := Open(disk, north, func(_ grid.Time, f agents.Fact) { legs = len(f.(facts.SiteImage).Legs) }); err != nil || legs != n {
					b.Fatal(legs, err)
				}
			}
		})
	}
}
