package studies

import (
	"runtime"
	"sync"
)

// onAll does the pieces of work 0..total-1 on all processors. Each worker has
// memory of its own: worker is called once for each and returns what does a
// piece. Pieces are begun in order and end in any; done, if there is one, is
// called after each, never twice at once. Results belong into places by piece,
// so that they do not depend on how many workers there were.
func onAll(total int, worker func() func(piece int), done func(done, total int)) {
	var mu sync.Mutex
	next, ended := 0, 0
	var workers sync.WaitGroup
	for range min(total, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			do := worker()
			for {
				mu.Lock()
				piece := next
				next++
				mu.Unlock()
				if piece >= total {
					return
				}
				do(piece)
				mu.Lock()
				if ended++; done != nil {
					done(ended, total)
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
}
