package configs

import (
	"maps"
	"reflect"
	"slices"

	"github.com/BurntSushi/toml"
)

// Changed lists, sorted, the keys and tables at the top level that differ between two texts
// of a file. Both must be TOML; nothing else is checked.
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
