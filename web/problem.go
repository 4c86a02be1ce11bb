package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/bourse-grid/bourse/grid"
)

// The library's settings are global, but no other package uses the library. Here lists are
// never null; a problem's detail says what is wrong, not only that something is; and a
// problem does not repeat the whole request.
func init() {
	huma.DefaultArrayNullable = false
	plain := huma.NewError
	huma.NewError = func(status int, message string, errs ...error) huma.StatusError {
		switch {
		case message == "validation failed" && len(errs) > 0:
			message = reworded(errs[0])
		case status == http.StatusRequestTimeout:
			message = fmt.Sprintf("the body arrives too slowly: after %v it must average at least %d bytes per second; send smaller batches", bodyGrace, bodyRate)
		}
		for i, err := range errs {
			if d, ok := err.(huma.ErrorDetailer); ok {
				detail := *d.ErrorDetail()
				detail.Value = brief(detail.Value)
				errs[i] = &detail
			}
		}
		return plain(status, message, errs...)
	}
}

// reworded says what is wrong, where, and what the value must be.
func reworded(err error) string {
	d, ok := err.(huma.ErrorDetailer)
	if !ok {
		return err.Error()
	}
	detail := d.ErrorDetail()
	words := detail.Message
	most := 0
	if strings.HasPrefix(words, "unknown content type") {
		words += "; send application/json"
	} else if n, _ := fmt.Sscanf(words, "expected array length <= %d", &most); n == 1 {
		words = fmt.Sprintf("%s; must be at most %d", counted(detail.Value), most)
		if detail.Location == "body.jobs" {
			words += " in a batch; submit several batches"
		}
	}
	if detail.Location == "" {
		return words
	}
	return detail.Location + ": " + words
}

// counted describes the length of a list.
func counted(list any) string {
	if l, ok := list.([]any); ok {
		return grid.Count(len(l), "entry", "entries")
	}
	return "too many entries"
}

// maxEcho bounds how much of a received value a problem repeats, in bytes.
const maxEcho = 100

// brief shortens a value for a problem: to the beginning of a long text; lists and objects
// are left out.
func brief(value any) any {
	switch v := value.(type) {
	case string:
		if len(v) > maxEcho {
			return strings.ToValidUTF8(v[:maxEcho], "") + "..."
		}
		return v
	case nil, bool, int, int64, float64, json.Number:
		return v
	}
	return nil
}

// sendProblem answers with a problem outside the API's library.
func sendProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(huma.NewError(status, detail)) // fails only if the reader is gone
}

// unknownPath answers requests without an operation: 405 if there is one for another method,
// else 404.
func unknownPath(mux *http.ServeMux, w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPatch, http.MethodPost, http.MethodPut} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	path := brief(r.URL.Path)
	if len(allowed) == 0 {
		sendProblem(w, http.StatusNotFound, fmt.Sprintf("there is nothing at %q; /openapi.json lists all paths", path))
		return
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	sendProblem(w, http.StatusMethodNotAllowed, fmt.Sprintf("%s is not allowed for %q; use %s", brief(r.Method), path, strings.Join(allowed, " or ")))
}
