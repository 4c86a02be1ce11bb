package keys

import (
	"fmt"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"pgregory.net/rapid"
)

func TestLocate_FindsEveryFormOfKey(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"# = not.a.key", // 1
		"name = 'a # b'",
		"\"qu\\u006fted\" . part = 1", // 3
		"many = \"\"\"",
		"fake = 1 \\",
		"[[fake]]\"\"\"\"", // 6
		"list = [ # [1",
		"  1, [2,",
		"  3], # x = 1", // 9
		"]",
		"in = { a = 1, b.c = [ { d = 1 }, { d = '''",
		"''' } ] }", // 12
		"[[site]]",
		"name = 1\r",
		"  [[site.group]]", // 15
		"name = 2",
		"[[site.group]]", // 17
		"name = 3",
		"[ site . workload ]", // 19
		"load = 1979-05-27T07:32:00Z # c",
		"[[site]]", // 21
		"[[site.group]]",
		"name = 4", // 23
		"last = true",
	}, "\n")
	if err := toml.Unmarshal([]byte(text), new(map[string]any)); err != nil {
		t.Fatal(err)
	}
	l := locate(text)
	root := Path("")
	site := root.Key("site")
	for p, want := range map[Path]int{
		root.Key("name"):                                2,
		root.Key("quoted"):                              3,
		root.Key("quoted").Key("part"):                  3,
		root.Key("many"):                                4,
		root.Key("list").At(0):                          8,
		root.Key("list").At(1).At(1):                    9,
		root.Key("in").Key("a"):                         11,
		root.Key("in").Key("b").Key("c").At(1):          11,
		root.Key("in").Key("b").Key("c").At(1).Key("d"): 11,
		site:                          13,
		site.At(0):                    13,
		site.At(0).Key("name"):        14,
		site.At(0).Key("group").At(0): 15,
		site.At(0).Key("group").At(1).Key("name"): 18,
		site.At(0).Key("workload"):                19,
		site.At(0).Key("workload").Key("load"):    20,
		site.At(0).Key("workload").Key("none"):    19, // its table's
		site.At(1):                                21,
		site.At(1).Key("group").At(0).Key("name"): 23,
		site.At(1).Key("group").At(0).Key("last"): 24,
	} {
		if got := l.lineOf(p); got != want {
			t.Errorf("%q: line %d, want %d", p, got, want)
		}
	}
	if _, ok := l.lines[root.Key("fake")]; ok {
		t.Error("a key inside a string was taken for one")
	}
	if s := site.At(0).Key("group").At(1).Key("name").String(); s != "site.group.name" {
		t.Errorf("path %q", s)
	}
}

// TestLocate_KnowsEveryKeyOfTheReader draws documents and compares with what
// the TOML reader makes of them: every key it knows has a line, and the line
// holds the key.
func TestLocate_KnowsEveryKeyOfTheReader(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := drawTOML(t)
		var keys map[string]any
		if err := toml.Unmarshal([]byte(text), &keys); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		lines := strings.Split(text, "\n")
		l := locate(text)
		var walk func(p Path, v any)
		walk = func(p Path, v any) {
			switch v := v.(type) {
			case map[string]any:
				for k, e := range v {
					n, ok := l.lines[p.Key(k)]
					if !ok || !strings.Contains(lines[n-1], k) {
						t.Fatalf("%q at line %d of\n%s", p.Key(k), n, text)
					}
					if s, ok := e.(string); ok {
						if serial, _, _ := strings.Cut(s, "_"); !strings.Contains(lines[n-1], serial+"_") {
							t.Fatalf("%q: value %q is not on line %d of\n%s", p.Key(k), s, n, text)
						}
					}
					walk(p.Key(k), e)
				}
			case []map[string]any:
				for i, e := range v {
					walk(p.At(i), e)
				}
			case []any:
				for i, e := range v {
					walk(p.At(i), e)
				}
			}
		}
		walk("", keys)
	})
}

// drawTOML draws a valid document in which every string value is its own.
func drawTOML(t *rapid.T) string {
	var b strings.Builder
	serial := 0
	unique := func() string { serial++; return fmt.Sprintf("v%d_", serial) }
	var value func(depth int) string
	value = func(depth int) string {
		switch rapid.IntRange(0, 6+max(0, 2-depth)).Draw(t, "form") {
		case 0:
			return "-1.5e3"
		case 1:
			return `'` + unique() + ` # [x] = "'`
		case 2:
			return `"""` + unique() + ` \" '' [[y]] """`
		case 3:
			return "[\n# no = 1\n]"
		case 4:
			return `"` + unique() + `\\"`
		case 5:
			return "'''" + unique() + "'''"
		case 6:
			return "2026-01-01 00:00:00Z"
		case 7:
			return "[" + value(depth+1) + ", # ]\n " + value(depth+1) + ",]"
		}
		return "{ p" + unique() + " = 1, q" + unique() + ".r = 2 }"
	}
	pairs := func() {
		for range rapid.IntRange(0, 3).Draw(t, "pairs") {
			key := "k" + unique()
			if rapid.Bool().Draw(t, "dotted") {
				key += " . 'd" + unique() + "'"
			}
			fmt.Fprintf(&b, "%s = %s # c = 1\n", key, value(0))
		}
	}
	pairs()
	for range rapid.IntRange(0, 4).Draw(t, "tables") {
		switch rapid.IntRange(0, 2).Draw(t, "table") {
		case 0:
			fmt.Fprintf(&b, "[t%s]\n", unique())
		case 1:
			b.WriteString("[[many]]\n")
		case 2:
			fmt.Fprintf(&b, "[[many]]\n[[many . sub]] # [[no]]\n")
			pairs()
			fmt.Fprintf(&b, "[many.sub.t%s]\n", unique())
		}
		pairs()
	}
	return b.String()
}

func TestNearest_TakesTheFewestEdits(t *testing.T) {
	t.Parallel()
	known := []string{"budget", "budget_limit", "cycle", "horizon", "lead", "name"}
	for word, want := range map[string]string{
		"budgte": "budget", "budget-limit": "budget_limit", "cylce": "cycle", "leed": "lead", "nmae": "name",
		"colour": "", "x": "", "": "", strings.Repeat("name", 100): "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
}
