//go:build plants

package plant

import "errors"

var on string

// On reports whether a planted bug is switched on.
func On(name string) bool { return on == name }

// Set switches one planted bug on and all others off; "" switches all off. Do not call it
// during a run.
func Set(name string) error {
	if name != "" {
		if _, err := Find(name); err != nil {
			return err
		}
		if !overlaid {
			return errors.New("this build has the tag plants but not the planted bugs; build with the flags that go run ./cmd/plants prints")
		}
	}
	on = name
	return nil
}
