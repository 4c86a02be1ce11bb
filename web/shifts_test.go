package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

// Every {name} of a path reaches its operation: the framework passes over fields
// of an input that it cannot set, and the operation would see an empty name.
func TestAPI_EveryNameInAPathIsBound(t *testing.T) {
	t.Parallel()
	h := world(t)
	for _, s := range []*Server{brokerAPI(t, h), siteAPI(t, h)} {
		for path, item := range s.api.OpenAPI().Paths {
			for _, part := range strings.Split(path, "/") {
				name := strings.Trim(part, "{}")
				if name == part {
					continue
				}
				for method, op := range map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post,
					http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete} {
					bound := op == nil
					for i := 0; op != nil && i < len(op.Parameters); i++ {
						bound = bound || op.Parameters[i].In == "path" && op.Parameters[i].Name == name
					}
					if !bound {
						t.Errorf("%s %s: %s is not bound", method, path, name)
					}
				}
			}
		}
	}
}
