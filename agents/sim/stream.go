package sim

import "github.com/bourse-grid/bourse/grid"

// stream is a seeded source of draws: splitmix64. Each purpose has a stream of its own, so
// the draws of one do not change those of others.
type stream uint64

// streamOf derives the stream of a purpose, named by words, from a seed.
func streamOf(seed uint64, words ...uint64) stream {
	s := stream(seed)
	for _, w := range words {
		s = stream(s.next() ^ w*0xff51afd7ed558ccd)
	}
	return s
}

// next draws 64 bits.
func (s *stream) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below draws from [0, n), 0 for n < 1.
func (s *stream) below(n int) int {
	if n < 1 {
		return 0
	}
	return int(s.next() >> 1 % uint64(n))
}

// within draws a duration of [lo, hi].
func (s *stream) within(lo, hi grid.Duration) grid.Duration {
	return lo + grid.Duration(s.below(int(hi-lo)+1))
}

// chance is true with a probability in thousandths.
func (s *stream) chance(thousandths int) bool { return s.below(1000) < thousandths }
