package configs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/policy/choice"
	"github.com/bourse-grid/bourse/policy/names"
	"github.com/bourse-grid/bourse/policy/search"
)

//go:generate go test -run TestReference -update

var update = flag.Bool("update", false, "write docs/CONFIG.md")

const referenceFile = "../docs/CONFIG.md"

const referenceHead = `# The keys of files

<!-- made by go generate ./configs from the tables of keys; edit the code, not this page -->

Files are TOML. A key that is not listed is an error, and ` + "`bourse check FILE`" + ` says what is wrong with a file.

- **Durations** are seconds, ` + "`90`" + ` or ` + "`90.5`" + `, or strings such as ` + "`\"30m\"`, `\"2h\"`, `\"7d\"`" + `. **Sizes** are bytes or strings such as ` + "`\"64GiB\"`" + `.
- **Numbers** have at most three decimals, money at most six. **Names** have 1 to 100 bytes.
- **File names** are relative to the file that they stand in.
- A key in **bold** must be given. What has a meaning *only with* another is an error elsewhere.
`

// The reference is what the tables of keys say, in a page.
func TestReference_IsUpToDate(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(referenceHead)
	file, told := "", []telling{}
	for _, table := range Tables() {
		if table.File != file {
			file = table.File
			fmt.Fprintf(&b, "\n## %s\n", titles[file])
		}
		told = append(told, writeTable(&b, table, told))
	}
	writePolicies(&b)
	if *update {
		if err := os.WriteFile(referenceFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referenceFile)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/CONFIG.md is not what the tables say (%v); run go generate ./configs", err)
	}
}

// writePolicies writes what the words mean that name policies.
func writePolicies(b *strings.Builder) {
	b.WriteString("\n## The words of policies\n\nWhen to choose which: [POLICIES.md](POLICIES.md).\n\n| key | word | does |\n|---|---|---|\n")
	told := map[string]bool{}
	for _, table := range Tables() {
		for _, k := range table.Keys {
			if told[k.Name] || len(k.Policies) == 0 {
				continue
			}
			told[k.Name] = true
			for _, p := range k.Policies {
				fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", k.Name, p.Name, p.Means)
			}
		}
	}
}

// Each word that names a policy stands in the page that says when to choose it.
func TestPolicies_AreAllInThePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/POLICIES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range Tables() {
		for _, k := range table.Keys {
			for _, p := range k.Policies {
				if !strings.Contains(string(page), "`"+p.Name+"`") && !strings.Contains(string(page), `"`+p.Name+`"`) {
					t.Errorf("docs/POLICIES.md does not say when to choose %s = %q", k.Name, p.Name)
				}
			}
		}
	}
}

// titles name the files.
var titles = map[string]string{
	"scenario": "A scenario", "batch": "A batch of jobs", "sweep": "A sweep", "site": "A site's snapshot, for quotes",
	"site process": "The process of a site", "broker process": "The process of a broker",
}

// telling is a table that the page describes.
type telling struct {
	name  string
	names []string
	rows  []string
}

// writeTable writes a table, or the difference to one that was described before.
func writeTable(b *strings.Builder, table Table, told []telling) telling {
	out := telling{name: "`" + table.Name + "`"}
	if table.Name == "" {
		out.name = "The root"
	}
	for _, k := range table.Keys {
		out.names, out.rows = append(out.names, k.Name), append(out.rows, row(k))
	}
	fmt.Fprintf(b, "\n### %s\n\n", out.name)
	if table.Doc != "" {
		fmt.Fprintf(b, "%s.\n\n", strings.ToUpper(table.Doc[:1])+table.Doc[1:])
	}
	rows, said := out.rows, ""
	for _, before := range told {
		beside := slices.DeleteFunc(slices.Clone(out.rows), func(r string) bool { return slices.Contains(before.rows, r) })
		if len(before.rows) == 0 || len(beside) > len(out.rows)/2 || len(beside) >= len(rows) {
			continue
		}
		rows, said = beside, "As "+before.name
		for i, r := range before.rows {
			if !slices.Contains(out.rows, r) {
				said += ", without `" + before.names[i] + "`"
			}
		}
	}
	out.name += " of " + strings.ToLower(titles[table.File][:1]) + titles[table.File][1:]
	switch {
	case len(out.rows) == 0:
		b.WriteString("Tables only.\n")
		return out
	case said != "" && len(rows) == 0:
		b.WriteString(said + ".\n")
		return out
	case said != "":
		b.WriteString(said + ", and:\n\n")
	}
	b.WriteString("| key | kind | default | allowed | meaning |\n|---|---|---|---|---|\n" + strings.Join(rows, ""))
	return out
}

func row(k keys.Reference) string {
	name := "`" + k.Name + "`"
	if k.Must {
		name = "**" + name + "**"
	}
	var allowed []string
	for _, w := range k.Words {
		allowed = append(allowed, "`"+w+"`")
	}
	if k.Limits != "" {
		allowed = append(allowed, k.Limits)
	}
	def, doc := k.Default, k.Doc
	if strings.HasPrefix(def, `"`) && strings.HasSuffix(def, `"`) && strings.Count(def, `"`) == 2 {
		def = "`" + def + "`"
	}
	if k.Must {
		def = ""
	}
	if k.With != "" {
		doc += ". Only " + k.With
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s |\n", name, k.Kind, def, strings.Join(allowed, ", "), doc)
}

func TestWords_AreThoseThatAKeyTakes(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][]string{"broker.algorithm": names.Of(search.Algorithms()), "site.pricing": {"adaptive", "fixed"}, "log.level": {"debug", "info", "warn", "error"}, "until": nil, "no.such": nil} {
		if got := Words(path); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// Every word that the tables list for a site and a broker is one that is taken.
func TestWords_AreTaken(t *testing.T) {
	t.Parallel()
	for path, words := range map[string][]string{"site.policy": Words("site.policy"), "broker.strategy": Words("broker.strategy"), "broker.algorithm": Words("broker.algorithm")} {
		for _, w := range words {
			keys := map[string]any{}
			if _, err := toml.Decode(twoSites, &keys); err != nil {
				t.Fatal(err)
			}
			if err := set(keys, strings.Split(path, "."), strings.Replace(w, "=K", "=3", 1)); err != nil {
				t.Fatal(err)
			}
			if path == "broker.strategy" && slices.Contains(choice.Asking(), w) {
				if err := set(keys, []string{"broker", "chooser"}, []any{"my.py"}); err != nil {
					t.Fatal(err)
				}
			}
			if path == "site.policy" && w == bySlurm.Name {
				conf := filepath.Join(t.TempDir(), "slurm.conf")
				if err := os.WriteFile(conf, []byte("NodeName=n[1-128]\nPartitionName=main Nodes=ALL\n"), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := set(keys, []string{"site", "slurm"}, map[string]any{"conf": conf}); err != nil {
					t.Fatal(err)
				}
			}
			var b strings.Builder
			if err := toml.NewEncoder(&b).Encode(keys); err != nil {
				t.Fatal(err)
			}
			if _, err := ParseScenario("f", []byte(b.String())); err != nil {
				t.Errorf("%s = %q: %v", path, w, err)
			}
		}
	}
}
