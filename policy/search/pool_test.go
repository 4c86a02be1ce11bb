package search

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/bourse-grid/bourse/grid"
)

// Thousands of slots, of which most expire before they matter: the heaps, which forget
// these now and then, serve as a list does that is sorted at each step.
func TestPool_HeapsOfManySlotsEqualASortedList(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for _, need := range []int{1, 40, 300} {
		var p, grown pool // heaps from the first slot on, and an array until it is too long
		p.reset(need, grid.MaxCredits)
		p.heaps = p.spare.from(nil, need)
		grown.reset(need, grid.MaxCredits)
		var list []kept
		for i := range int64(6000) {
			at := grid.Time(i / 4)
			k := kept{key: r.Int64N(1000), latest: at + grid.Time(r.IntN(20)*r.IntN(20)), pos: i, count: int32(1 + r.IntN(3))}
			p.expire(at)
			p.add(k, at)
			grown.add(k, at)
			list = slices.DeleteFunc(list, func(k kept) bool { return k.latest < at })
			before, _ := slices.BinarySearchFunc(list, k, func(a, b kept) int {
				if a.key <= b.key {
					return -1
				}
				return 1
			})
			list = slices.Insert(list, before, k)
			if i%50 > 0 {
				continue
			}
			var want []kept
			least, left, live := sum{}, need, 0
			for _, k := range list {
				if live += int(k.count); left > 0 {
					k.count = int32(min(left, int(k.count)))
					left -= int(k.count)
					least = least.plus(k.key, int(k.count))
					want = append(want, k)
				}
			}
			if grown.expire(at); grown.live != live || left == 0 && !slices.Equal(grown.choose(nil), want) {
				t.Fatalf("of the pool that has grown %d nodes are live, want %d, chosen %v, want %v", grown.live, live, grown.choose(nil), want)
			}
			if p.live != live {
				t.Fatalf("%d nodes are live, want %d", p.live, live)
			}
			if left > 0 {
				continue
			}
			if got := p.choose(nil); !slices.Equal(got, want) || p.least() != least || p.dearest() != want[len(want)-1].key {
				t.Fatalf("chosen %v, at %v; want %v, at %v", got, p.least(), want, least)
			}
		}
		if grown.heaps == nil {
			t.Error("a long array has not become heaps")
		}
		if n := len(p.heaps.items); n > 2500 {
			t.Errorf("%d items are kept, of %d live", n, len(list))
		}
	}
}

// Sums are what big numbers say.
func TestSum_Has128Bits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		whole := func(s sum) *big.Int {
			x := new(big.Int).Lsh(new(big.Int).SetUint64(s.hi), 64)
			return x.Or(x, new(big.Int).SetUint64(s.lo))
		}
		draw := func(what string) int64 {
			return rapid.Int64Range(0, math.MaxInt64>>rapid.IntRange(0, 62).Draw(t, "bits")).Draw(t, what)
		}
		product := func(a, b int64) *big.Int { return new(big.Int).Mul(big.NewInt(a), big.NewInt(b)) }
		key, n, more := draw("key"), draw("n"), draw("more")
		x := sum{}.plus(key, int(n))
		y := x.plus(more, int(n))
		want := new(big.Int).Add(product(key, n), product(more, n))
		if whole(x).Cmp(product(key, n)) != 0 || whole(y).Cmp(want) != 0 {
			t.Fatalf("%d x %d is %v, with %d x %d it is %v", key, n, whole(x), more, n, whole(y))
		}
		if back := y.minus(more, int(n)); back != x {
			t.Fatalf("%v less %d x %d is %v", whole(y), more, n, whole(back))
		}
		for _, p := range [][2]sum{{x, y}, {y, x}, {x, x}} {
			if p[0].less(p[1]) != (whole(p[0]).Cmp(whole(p[1])) < 0) {
				t.Fatalf("%v is less than %v: %t", whole(p[0]), whole(p[1]), p[0].less(p[1]))
			}
		}
		c := draw("bound")
		if x.atMost(grid.Credits(c)) != (whole(x).Cmp(big.NewInt(c)) <= 0) || !(sum{lo: uint64(c)}).atMost(grid.Credits(c)) {
			t.Fatalf("%v is at most %d: %t", whole(x), c, x.atMost(grid.Credits(c)))
		}
		if got, want := whole(x.without(uint64(c), uint64(more))), new(big.Int).Sub(whole(x), product(c, more)); want.Sign() < 0 && got.Sign() != 0 || want.Sign() >= 0 && got.Cmp(want) != 0 {
			t.Fatalf("%v without %d x %d is %v", whole(x), c, more, got)
		}
		if c > 0 {
			want := new(big.Int).Quo(whole(x), big.NewInt(c))
			if !want.IsInt64() {
				want.SetInt64(math.MaxInt64)
			}
			if got := x.over(uint64(c)); got != want.Int64() {
				t.Fatalf("%v over %d is %d, want %v", whole(x), c, got, want)
			}
		}
		if got := x.credits(); got != grid.Credits(min(int64(grid.MaxCredits), map[bool]int64{true: whole(x).Int64(), false: math.MaxInt64}[whole(x).IsInt64()])) {
			t.Fatalf("%v is %v", whole(x), got)
		}
	})
	if x := (sum{lo: math.MaxUint64}).plus(1, 1); x != (sum{hi: 1}) || x.minus(1, 1) != (sum{lo: math.MaxUint64}) {
		t.Errorf("one more than 64 bits is %v", x)
	}
	if (sum{hi: 1}).over(0) != math.MaxInt64 || (sum{lo: 1}).over(0) != math.MaxInt64 {
		t.Error("over nothing it is a number")
	}
}
