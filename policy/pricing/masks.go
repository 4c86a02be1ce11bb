package pricing

// masks tell which jobs may fit at an instant.
type masks struct{}

func (b *Book) prepareMasks() {}

// candidates returns word i of a set that holds every job that fits now.
func (b *Book) candidates(w *sweep, i, now int) uint64 {
	if now <= 0 {
		return 0
	}
	return w.rem[i]
}
