package configs

import (
	"maps"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// Changed lists the keys and tables at the top of a file that another text of it has in
// another way, in order of their names. Both are TOML; no more is asked of them.
func Changed(was, is []byte) ([]string, error) {
	var before, after map[string]any
	for _, x := range []struct {
		text []byte
		keys *map[string]any
	}{{was, &before}, {is, &after}} {
		if _, err := toml.Decode(string(x.text), x.keys); err != nil {
			return nil, err
		}
	}
	names := map[string]bool{}
	for _, keys := range []map[string]any{before, after} {
		for name := range keys {
			if !reflect.DeepEqual(before[name], after[name]) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}
