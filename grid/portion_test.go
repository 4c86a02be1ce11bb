package grid

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestPortion_On(t *testing.T) {
	g := Group{Slices: 8, Cores: 64, Machine: Machine{Memory: 512 << 30, GPUs: 8}}
	for _, c := range []struct {
		p      Portion
		g      Group
		slices int
		lacks  string
	}{
		{Portion{}, g, 8, ""},
		{Portion{GPUs: 4}, g, 4, ""},
		{Portion{GPUs: 1, Cores: 20}, g, 3, ""}, // 2.5
		{Portion{GPUs: 1, Memory: 64<<30 + 1}, g, 2, ""},
		{Portion{GPUs: 8}, g, 8, ""},
		{Portion{GPUs: 9}, g, 0, "gpus"},
		{Portion{Cores: 65}, g, 0, "cores"},
		{Portion{Slices: 9}, g, 0, "slices"},
		{Portion{Memory: 1}, Group{Slices: 8, Cores: 64}, 0, "memory"},
		{Portion{GPUs: 1}, Group{Machine: Machine{GPUs: 8}}, 1, ""},
		{Portion{Memory: 1<<62 + 1}, Group{Slices: 256, Machine: Machine{Memory: 1 << 62}}, 0, "memory"},
		{Portion{Memory: 1 << 61}, Group{Slices: 256, Machine: Machine{Memory: 1 << 62}}, 128, ""},
	} {
		if slices, lacks := c.p.On(&c.g); slices != c.slices || lacks != c.lacks {
			t.Errorf("%+v takes %d, lacks %q; want %d, %q", c.p, slices, lacks, c.slices, c.lacks)
		}
	}
}

func TestPortion_Words(t *testing.T) {
	for words, p := range map[string]Portion{"": {}, "1 GPU": {GPUs: 1}, "2 GPUs, 1 core, 1.5 GiB": {GPUs: 2, Cores: 1, Memory: 3 << 29}, "3 slices": {Slices: 3}} {
		if got := p.Words(); got != words {
			t.Errorf("%+v is %q, not %q", p, got, words)
		}
	}
	for lacks, words := range map[string]string{"gpus": "too few GPUs", "cores": "too few cores", "memory": "too little memory", "slices": "too few slices"} {
		if got := TooFew(lacks); got != words {
			t.Errorf("%s: %q, not %q", lacks, got, words)
		}
	}
}

// TestPortion_Fits says that what fits by slices fits in every resource.
func TestPortion_Fits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(name string) int { return rapid.IntRange(1, 40).Draw(t, name) }
		g := Group{Slices: rapid.IntRange(1, MaxSlices).Draw(t, "K"), Cores: n("cores"), Machine: Machine{GPUs: n("gpus"), Memory: int64(n("memory"))}}
		used, cores, gpus, memory := 0, 0, 0, int64(0)
		for range 50 {
			p := Portion{Cores: n("c"), GPUs: n("g"), Memory: int64(n("m"))}
			if u, lacks := p.On(&g); lacks == "" && used+u <= g.Slices {
				used, cores, gpus, memory = used+u, cores+p.Cores, gpus+p.GPUs, memory+p.Memory
			}
		}
		if cores > g.Cores || gpus > g.Machine.GPUs || memory > g.Machine.Memory {
			t.Fatalf("%d of %d slices hold %d cores, %d GPUs, %d bytes of %+v", used, g.Slices, cores, gpus, memory, g)
		}
	})
}

func TestCostOfSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, d := rapid.Int64Min(0).Draw(t, "price"), rapid.Int64Min(0).Draw(t, "time")
		of := rapid.IntRange(1, MaxSlices).Draw(t, "of")
		u := rapid.IntRange(1, of).Draw(t, "slices")
		want := new(big.Int).Mul(big.NewInt(p), big.NewInt(d))
		want.Mul(want, big.NewInt(int64(2*u)))
		whole := new(big.Int).Mul(big.NewInt(int64(Hour)), big.NewInt(int64(of)))
		want.Add(want, whole).Div(want, whole.Mul(whole, big.NewInt(2)))
		if !want.IsInt64() {
			want.SetInt64(int64(MaxCredits))
		}
		if got := CostOfSlices(Price(p), Duration(d), u, of); int64(got) != want.Int64() {
			t.Fatalf("%d x %d x %d / %d is %v, not %v", p, d, u, of, got, want)
		}
		if u == of && CostOfSlices(Price(p), Duration(d), u, of) != Cost(Price(p), Duration(d)) {
			t.Fatal("all slices cost other than the node")
		}
	})
	c, err := NewPriceCurve([]PricePiece{{0, Time(Hour), 2000}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := CostOfSlicesOver(8_000_000, c, 0, Time(2*Hour), 3, 8); got != 9*Credit {
		t.Errorf("costs %v, not 9", got)
	}
}

func TestOpened(t *testing.T) {
	o := Open(0, 10, 20, 5)
	o.Extend(30, 2)
	o.Take(12, 25, 2)
	var got []Time
	o.Spans(3, func(from, to Time) { got = append(got, from, to) })
	if len(got) != 2 || got[0] != 10 || got[1] != 20 {
		t.Errorf("three slices are free over %v", got)
	}
	got = nil
	o.Spans(1, func(from, to Time) { got = append(got, from, to) })
	if len(got) != 4 || got[1] != 20 || got[2] != 25 || got[3] != 30 || o.Least(10, 30) != 0 || o.Least(11, 20) != 3 {
		t.Errorf("one slice is free over %v: %v", got, o)
	}
}
