package web

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/tree/thorough"

	"github.com/danielgtaylor/huma/v2"
)

// documents are the OpenAPI documents of a broker and a site.
func documents(t *testing.T) map[string]*huma.OpenAPI {
	t.Helper()
	site, err := NewSite(Options{Host: world(t), Agent: "site:north", Identify: byHeader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close(context.Background()) })
	return map[string]*huma.OpenAPI{"broker": brokerAPI(t, world(t)).OpenAPI(), "site": site.OpenAPI()}
}

// keywords are those that JSON Schema 2020-12 and OpenAPI 3.1 know and these documents use.
var keywords = strings.Fields(`$ref $schema title description type format enum const default example examples deprecated
	minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems maxProperties minProperties
	properties required additionalProperties items oneOf anyOf allOf not nullable readOnly writeOnly contentEncoding`)

// strange lists the keywords of a schema, and of those within, that no standard knows.
func strange(at string, schema any) (list []string) {
	switch s := schema.(type) {
	case []any:
		for _, x := range s {
			list = append(list, strange(at, x)...)
		}
	case map[string]any:
		for key, value := range s {
			switch {
			case !slices.Contains(keywords, key) && !strings.HasPrefix(key, "x-"):
				list = append(list, at+"."+key)
			case key == "properties":
				for name, x := range value.(map[string]any) {
					list = append(list, strange(at+"."+name, x)...)
				}
			case slices.Contains([]string{"items", "oneOf", "anyOf", "allOf", "not", "additionalProperties"}, key):
				list = append(list, strange(at, value)...)
			}
		}
	}
	return list
}

// Generators refuse a document for one keyword that they do not know.
func TestOpenAPI_UsesOnlyKeywordsOfTheStandard(t *testing.T) {
	t.Parallel()
	for name, doc := range documents(t) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		var all struct {
			Components struct{ Schemas map[string]any }
			Paths      map[string]map[string]struct {
				Parameters []struct {
					Name   string
					Schema any
				}
				RequestBody struct {
					Content map[string]struct{ Schema any }
				}
				Responses map[string]struct {
					Content map[string]struct{ Schema any }
				}
			}
		}
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		var list []string
		for of, schema := range all.Components.Schemas {
			list = append(list, strange(of, schema)...)
		}
		for path, operations := range all.Paths {
			for method, o := range operations {
				at := method + " " + path
				for _, p := range o.Parameters {
					list = append(list, strange(at+"."+p.Name, p.Schema)...)
				}
				for _, c := range o.RequestBody.Content {
					list = append(list, strange(at, c.Schema)...)
				}
				for _, r := range o.Responses {
					for _, c := range r.Content {
						list = append(list, strange(at, c.Schema)...)
					}
				}
			}
		}
		if len(list) > 0 || len(all.Paths) < 10 || len(all.Components.Schemas) < 10 {
			t.Errorf("the %s's document, with %d paths and %d schemas, uses %q", name, len(all.Paths), len(all.Components.Schemas), list)
		}
	}
}

// Other people's tools read both documents: a validator finds nothing, and the
// clients that a generator makes of them compile.
func TestOpenAPI_GeneratorsReadBothDocuments(t *testing.T) {
	t.Parallel()
	thorough.Only(t, "compiles a generator")
	dir := t.TempDir()
	for name, doc := range documents(t) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tool := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = "../tools/openapi"
		out, err := cmd.CombinedOutput()
		for _, away := range []string{"dial tcp", "no such host", "module lookup disabled", "403 Forbidden"} {
			if err != nil && strings.Contains(string(out), away) {
				t.Skipf("its modules cannot be fetched: %.300s", out)
			}
		}
		if err != nil {
			t.Fatalf("go %q: %v\n%s", args, err, out)
		}
	}
	tool("run", ".", dir, "broker", "site")
	for _, name := range []string{"broker", "site"} {
		tool("vet", filepath.Join(dir, name, "client.go"))
	}
}
