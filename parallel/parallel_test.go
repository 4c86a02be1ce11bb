package parallel

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestDo_HandsOverInOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 7, 500} {
		var got []int
		err := Do(n, func() func(int) int { return func(i int) int { return i * i } }, func(i, r int) error {
			if r != i*i {
				t.Errorf("piece %d came to %d", i, r)
			}
			got = append(got, i)
			return nil
		})
		if err != nil || len(got) != n || !slices.IsSorted(got) {
			t.Errorf("%d pieces: %v, %v", n, got, err)
		}
	}
}

func TestDo_StopsAtTheFirstErrorAndLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	stop := errors.New("stop")
	var begun atomic.Int64
	err := Do(100_000, func() func(int) int {
		return func(i int) int { begun.Add(1); return i }
	}, func(i, _ int) error {
		if i == 3 {
			return stop
		}
		return nil
	})
	if err != stop {
		t.Errorf("error %v", err)
	}
	if n := begun.Load(); n > 10_000 {
		t.Errorf("%d pieces have begun after an error of the fourth", n)
	}
}
