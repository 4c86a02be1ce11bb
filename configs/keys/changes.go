package keys

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/grid"
)

// Changed lists, sorted, the keys and tables at the top level that differ between two texts
// of a file. Both must be TOML; nothing else is checked.
func Changed(was, is []byte) ([]string, error) {
	before, after, err := bothTables(was, is)
	if err != nil {
		return nil, err
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

// bothTables decodes two texts of a file.
func bothTables(was, is []byte) (before, after map[string]any, err error) {
	if _, err = toml.Decode(string(was), &before); err == nil {
		_, err = toml.Decode(string(is), &after)
	}
	return before, after, err
}

// Differences lists, sorted by key, what differs between two texts of a file below some keys
// at the top level. A table of a list is named by its name, or by its place from 1: "group
// main: price", "account 2: as". Both must be TOML; nothing else is checked.
func Differences(was, is []byte, keys []string) ([]grid.Setting, error) {
	before, after, err := bothTables(was, is)
	if err != nil {
		return nil, err
	}
	var list []grid.Setting
	for _, key := range slices.Sorted(slices.Values(keys)) {
		list = differ(list, key, before[key], after[key])
	}
	return list, nil
}

// differ adds what differs below a key.
func differ(list []grid.Setting, key string, was, is any) []grid.Setting {
	if reflect.DeepEqual(was, is) {
		return list
	}
	before, one := tableOf(was)
	after, two := tableOf(is)
	if !one && !two {
		return append(list, grid.Setting{Key: short(key), Was: settingWords(was), Is: settingWords(is)})
	}
	between := ": "
	if isList(was) || isList(is) {
		between = " "
	}
	names := maps.Clone(after)
	if names == nil {
		names = map[string]any{}
	}
	maps.Copy(names, before)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		list = differ(list, key+between+name, before[name], after[name])
	}
	return list
}

func isList(v any) bool { _, is := v.([]map[string]any); return is }

// tableOf is a table by its keys, or a list of tables by their names. A value that is not
// there is an empty table beside one that is.
func tableOf(v any) (map[string]any, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case []map[string]any:
		byName := map[string]any{}
		for i, one := range v {
			name, named := one["name"].(string)
			if _, twice := byName[name]; !named || twice {
				name = fmt.Sprint(i + 1)
			}
			byName[name] = one
		}
		return byName, true
	}
	return nil, false
}

// settingWords is a value as a file has it, but for strings, which have no quotes.
func settingWords(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return short(v)
	case []any, map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return short(fmt.Sprint(v))
		}
		return short(string(text))
	}
	return short(fmt.Sprint(v))
}

// short cuts a text to what a Setting may have.
func short(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= grid.MaxSetting {
		return s
	}
	end := grid.MaxSetting - len("...")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}
