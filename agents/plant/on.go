//go:build plants

package plant

var on string

// On reports whether a planted bug is switched on.
func On(name string) bool { return on == name }

// Set switches one planted bug on and all others off; "" switches all off. It
// must not be called while anything runs.
func Set(name string) error {
	if name != "" {
		if err := known(name); err != nil {
			return err
		}
	}
	on = name
	return nil
}
