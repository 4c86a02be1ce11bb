// Package failure tells two kinds of errors apart: what was asked for was refused or has
// failed (exit status 1), or the request itself was wrong, such as a flag or a file (exit
// status 2).
package failure

import "errors"

// marked is an error that is not the caller's fault.
type marked struct{ error }

func (m marked) Unwrap() error { return m.error }

// Of marks err as "refused or failed"; nil stays nil. Unmarked errors are bad usage or
// bad input.
func Of(err error) error {
	if err == nil {
		return nil
	}
	return marked{err}
}

// Is reports whether err, or an error that it wraps, is marked.
func Is(err error) bool {
	var m marked
	return errors.As(err, &m)
}
