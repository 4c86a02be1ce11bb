package parallel

// Collect does the pieces 0..n-1 as Do does and returns the result of each. progress, if set,
// is called after each piece.
func Collect[T any](n int, worker func() func(piece int) T, progress func(done, total int)) []T {
	results := make([]T, n)
	_ = Do(n, worker, func(i int, r T) error {
		results[i] = r
		if progress != nil {
			progress(i+1, n)
		}
		return nil
	})
	return results
}
