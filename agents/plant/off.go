//go:build !plants

package plant

import "errors"

// On reports whether a planted bug is switched on. In this build none ever is.
func On(string) bool { return false }

// Set fails unless name is empty, because this build has no planted bugs.
func Set(name string) error {
	if name == "" {
		return nil
	}
	if _, err := Find(name); err != nil {
		return err
	}
	return errors.New("this build has no planted bugs; build with the flags that go run ./cmd/plants prints")
}
