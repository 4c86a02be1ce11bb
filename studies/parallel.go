package studies

import "github.com/bourse-grid/bourse/parallel"

// collect does the pieces 0..n-1 on all processors and returns the result of each. Each
// worker has its own memory, as for parallel.Do. progress, if set, is called after each
// piece.
func collect[T any](n int, worker func() func(piece int) T, progress func(done, total int)) []T {
	results := make([]T, n)
	_ = parallel.Do(n, worker, func(i int, r T) error {
		results[i] = r
		if progress != nil {
			progress(i+1, n)
		}
		return nil
	})
	return results
}
