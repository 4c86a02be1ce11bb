package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"slices"

	"github.com/bourse-grid/bourse/report/view"
)

//go:embed page
var pageFiles embed.FS

// pagePolicy lets the live page run the scripts of its own host and call that host. It can
// load and send nothing else, and no page can frame it. Scripts set the styles of elements.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ServePage serves the live page at the root of a host, with its files: its own under page,
// those of the view under view. The page itself is public; its calls are not.
func ServePage(mux *http.ServeMux) {
	mux.Handle("GET /{$}", fileOf(pageFiles, "page/index.html"))
	for _, from := range []struct {
		files fs.FS
		under string
	}{{pageFiles, ""}, {view.Files, "view"}} {
		_ = fs.WalkDir(from.files, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && path.Base(name) != "index.html" {
				mux.Handle("GET /"+path.Join(from.under, name), fileOf(from.files, name))
			}
			return err // never happens with embedded files
		})
	}
}

// fileOf serves an embedded file.
func fileOf(files fs.FS, name string) http.Handler {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // it is embedded
	}
	kinds := []string{".html", "text/html; charset=utf-8", ".js", "text/javascript; charset=utf-8", ".css", "text/css; charset=utf-8", ".svg", "image/svg+xml"}
	kind := "text/plain; charset=utf-8"
	if i := slices.Index(kinds, path.Ext(name)); i >= 0 {
		kind = kinds[i+1]
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Content-Security-Policy", pagePolicy)
		w.Header().Set("Referrer-Policy", "no-referrer")
		_, _ = w.Write(text) // fails only if the reader is gone
	})
}
