// Package parallel does pieces of work on all processors and hands over what
// they came to in order, so that it does not show how many processors there
// were. It knows nothing of the work.
package parallel

import (
	"runtime"
	"sync"
)

// Do does the pieces 0..n-1, as many at once as there are processors, and hands
// what each came to to done, in order of the pieces and in the caller's
// goroutine. Each worker has memory of its own: worker is called once for each
// and returns what does a piece. The first error of done ends the work: no piece
// begins after it, and Do returns it once those under way have ended. At most
// two pieces a processor are ahead of done.
func Do[T any](n int, worker func() func(piece int) T, done func(piece int, result T) error) error {
	type future struct {
		piece  int
		result chan T
	}
	workers := min(n, runtime.GOMAXPROCS(0))
	begun := make(chan future)
	inOrder := make(chan future, 2*workers)
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(begun)
		defer close(inOrder)
		for i := range n {
			f := future{i, make(chan T, 1)}
			for _, c := range [...]chan future{inOrder, begun} {
				select {
				case c <- f:
				case <-stop:
					return
				}
			}
		}
	})
	for range workers {
		all.Go(func() {
			do := worker()
			for f := range begun {
				f.result <- do(f.piece)
			}
		})
	}
	defer all.Wait()
	defer close(stop)
	for f := range inOrder {
		if err := done(f.piece, <-f.result); err != nil {
			return err
		}
	}
	return nil
}
