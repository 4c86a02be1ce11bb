package configs

import (
	"fmt"
	"strings"
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
func (p *Parameter) keys(names map[string]int) keys {
	return keys{
		custom("key", about{kind: "string, or array of strings"}, func(t *table, _ string) { p.key, _ = t.take("key") },
			"the key to vary, with the tables around it; a name picks one of several tables: `broker.vo1.algorithm`. Several keys that change together are an array, "+
				"and so is each of their values: `[\"site.north.price\", \"site.south.price\"]` with `[[1.0, 2.0], [3.0, 4.0]]`. "+
				"An array whose values are not such arrays has the words of one key, for names with a dot: `[\"site\", \"grid.ici.ro\", \"policy\"]`; it may also stand among several keys").must(`"broker.algorithm"`),
		custom("values", about{kind: "array of strings, numbers, booleans and arrays"}, func(t *table, _ string) { p.readValues(t) }, "its values, one or more; a value may be an array, as its key has it").byDefault("must be given without a `range`"),
		custom("range", about{kind: "array of two numbers"}, func(t *table, _ string) { p.readRange(t) }, "in a sweep with a target, instead of `values`: the least and the greatest value to try").byDefault("none"),
		custom("precision", about{kind: "number"}, func(t *table, _ string) { p.readPrecision(t) }, "with a `range`: how close to the exact value the search must come").byDefault("a hundredth of the range; at least 1 for whole numbers"),
		rule(func(t *table) { p.readKeys(t, names) }),
	}
}

// readKeys reads the words of the keys, once the values are known.
func (p *Parameter) readKeys(t *table, names map[string]int) {
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
		t.wrong("key", "is %s; must be like \"broker.algorithm\" or [\"site\", \"grid.ici.ro\", \"policy\"]", kind(v))
	}
	p.Name = strings.Join(p.Names(), ", ")
	for _, name := range p.Names() {
		if t.clean("key") && (name == "" || strings.Contains("."+name+".", "..")) {
			t.wrong("key", "%q has an empty word", name)
		}
		if names[name]++; names[name] == 2 {
			t.wrong("key", "%q is varied twice", name)
		}
	}
	if isList && len(list) == 0 {
		t.wrong("key", "is an empty array; must name a key")
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
func (p *Parameter) words(t *table, v any) (words []string) {
	if s, ok := v.(string); ok {
		return strings.Split(s, ".")
	}
	list, ok := v.([]any)
	if !ok {
		t.wrong("key", "is an array with %s; must hold strings", kind(v))
	}
	for _, word := range list {
		s, ok := word.(string)
		if !ok {
			what := kind(word)
			if _, nested := word.([]any); nested {
				what += fmt.Sprintf(" (several keys need values that are arrays of %d)", len(list))
			}
			t.wrong("key", "is an array with %s; must hold strings", what)
			continue
		}
		words = append(words, s)
	}
	return words
}

// readValues reads the values of the keys.
func (p *Parameter) readValues(t *table) {
	if t.has("range") {
		if t.has("values") {
			t.wrong("values", "cannot be combined with range; leave one of them out")
		}
		return
	}
	v, ok := t.take("values")
	if !ok {
		t.need("values", `["alp", "amp"]`)
	}
	if p.Values, _ = v.([]any); ok && len(p.Values) == 0 {
		t.wrong("values", "is %s; must be an array with at least one value", kind(v))
	}
	for _, one := range p.Values {
		if bad, is := notValue(one); is {
			t.wrong("values", "has %s; must be strings, numbers, booleans or arrays of them", kind(bad))
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
