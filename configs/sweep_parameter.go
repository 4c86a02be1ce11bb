package configs

import (
	"fmt"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
)

// Parameter is a key of the scenario with its values, or several keys whose values change
// together.
type Parameter struct {
	Name   string     // the names of its keys, with commas
	Keys   [][]string // the words of each; see set
	Values []any      // as read from TOML: strings, numbers, booleans and arrays of them; with several keys, an array with a value for each
	Search *Search    // in a sweep with a target, instead of Values

	key any // as read
}

// Names returns the name of each of its keys: the words joined by dots.
func (p *Parameter) Names() []string {
	names := make([]string, len(p.Keys))
	for i, words := range p.Keys {
		names[i] = strings.Join(words, ".")
	}
	return names
}

// at is the value that each of its keys has under a choice.
func (p *Parameter) at(choice int) []any {
	if len(p.Keys) == 1 {
		return p.Values[choice : choice+1]
	}
	return p.Values[choice].([]any)
}

// Shown is a value of a key in words: an array as [1, 2].
func Shown(v any) string {
	list, ok := v.([]any)
	if !ok {
		return fmt.Sprint(v)
	}
	words := make([]string, len(list))
	for i, one := range list {
		words[i] = Shown(one)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// keys lists the keys of [[parameter]].
func (p *Parameter) keys(names map[string]int) keys.List {
	return keys.List{
		keys.Custom("key", keys.About{Kind: "string, or array of strings"}, func(t *keys.Table, _ string) { p.key, _ = t.Take("key") },
			"the key to vary, with the tables around it; a name picks one of several tables: `broker.vo1.algorithm`. Several keys that change together are an array, "+
				"and so is each of their values: `[\"site.north.price\", \"site.south.price\"]` with `[[1.0, 2.0], [3.0, 4.0]]`. "+
				"An array whose values are not such arrays has the words of one key, for names with a dot: `[\"site\", \"grid.ici.ro\", \"policy\"]`; it may also stand among several keys").Must(`"broker.algorithm"`),
		keys.Custom("values", keys.About{Kind: "array of strings, numbers, booleans and arrays"}, func(t *keys.Table, _ string) { p.readValues(t) }, "its values, one or more; a value may be an array, as its key has it").ByDefault("must be given without a `range`"),
		keys.Custom("range", keys.About{Kind: "array of two numbers"}, func(t *keys.Table, _ string) { p.readRange(t) }, "in a sweep with a target, instead of `values`: the least and the greatest value to try").ByDefault("none"),
		keys.Custom("precision", keys.About{Kind: "number"}, func(t *keys.Table, _ string) { p.readPrecision(t) }, "with a `range`: how close to the exact value the search must come").ByDefault("a hundredth of the range; at least 1 for whole numbers"),
		keys.Rule(func(t *keys.Table) { p.readKeys(t, names) }),
	}
}

// readKeys reads the words of the keys, once the values are known.
func (p *Parameter) readKeys(t *keys.Table, names map[string]int) {
	list, isList := p.key.([]any)
	switch v := p.key.(type) {
	case nil:
	case string:
		p.Keys = [][]string{strings.Split(v, ".")}
	case []any:
		if p.zipped(len(v)) {
			for _, one := range list {
				p.Keys = append(p.Keys, p.words(t, one))
			}
		} else {
			p.Keys = [][]string{p.words(t, v)}
		}
	default:
		t.Wrong("key", "is %s; must be like \"broker.algorithm\" or [\"site\", \"grid.ici.ro\", \"policy\"]", keys.TypeOf(v))
	}
	p.Name = strings.Join(p.Names(), ", ")
	for _, name := range p.Names() {
		if t.Clean("key") && (name == "" || strings.Contains("."+name+".", "..")) {
			t.Wrong("key", "%q has an empty word", name)
		}
		if names[name]++; names[name] == 2 {
			t.Wrong("key", "%q is varied twice", name)
		}
	}
	if isList && len(list) == 0 {
		t.Wrong("key", "is an empty array; must name a key")
	}
}

// zipped reports whether an array of n is one of keys: each value is an array of as many.
func (p *Parameter) zipped(n int) bool {
	for _, v := range p.Values {
		if list, ok := v.([]any); !ok || len(list) != n {
			return false
		}
	}
	return len(p.Values) > 0 && n > 0
}

// words reads one key: a string with dots, or an array of words.
func (p *Parameter) words(t *keys.Table, v any) (words []string) {
	if s, ok := v.(string); ok {
		return strings.Split(s, ".")
	}
	list, ok := v.([]any)
	if !ok {
		t.Wrong("key", "is an array with %s; must hold strings", keys.TypeOf(v))
	}
	for _, word := range list {
		s, ok := word.(string)
		if !ok {
			what := keys.TypeOf(word)
			if _, nested := word.([]any); nested {
				what += fmt.Sprintf(" (several keys need values that are arrays of %d)", len(list))
			}
			t.Wrong("key", "is an array with %s; must hold strings", what)
			continue
		}
		words = append(words, s)
	}
	return words
}

// readValues reads the values of the keys.
func (p *Parameter) readValues(t *keys.Table) {
	if t.Has("range") {
		if t.Has("values") {
			t.Wrong("values", "cannot be combined with range; leave one of them out")
		}
		return
	}
	v, ok := t.Take("values")
	if !ok {
		t.Need("values", `["alp", "amp"]`)
	}
	if p.Values, _ = v.([]any); ok && len(p.Values) == 0 {
		t.Wrong("values", "is %s; must be an array with at least one value", keys.TypeOf(v))
	}
	for _, one := range p.Values {
		if bad, is := notValue(one); is {
			t.Wrong("values", "has %s; must be strings, numbers, booleans or arrays of them", keys.TypeOf(bad))
		}
	}
}

// notValue finds what no key can have as its value.
func notValue(v any) (bad any, is bool) {
	switch v := v.(type) {
	case string, int64, float64, bool:
		return nil, false
	case []any:
		for _, one := range v {
			if bad, is := notValue(one); is {
				return bad, is
			}
		}
		return nil, false
	}
	return v, true
}
