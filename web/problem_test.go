package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Whatever is wrong with a request, the answer is a problem that says what would
// be right, and repeats no more than a line of what was sent.
func TestProblem_SaysWhatWouldBeRightAndIsShort(t *testing.T) {
	t.Parallel()
	s := brokerAPI(t, world(t))
	many := `{"id": "b-3f9k2m7q", "jobs": [` + strings.Repeat(`{"name": "wave", "nodes": 1, "length": 60, "budget": 1},`, 5999) +
		`{"name": "wave", "nodes": 1, "length": 60, "budget": 1}]}`
	for _, c := range []struct {
		method, path, body string
		code               int
		words              string
	}{
		{"GET", "/v1/nonsense", "", http.StatusNotFound, `there is nothing at "/v1/nonsense"; /openapi.json lists all paths`},
		{"GET", "/" + strings.Repeat("x", 9000), "", http.StatusNotFound, "there is nothing at"},
		{"PUT", "/v1/batches", "{}", http.StatusMethodNotAllowed, `PUT is not allowed for "/v1/batches"; use POST`},
		{"POST", "/v1/batches", many, http.StatusUnprocessableEntity, "body.jobs: 6000 entries; must be at most 5000 in a batch; submit several batches"},
		{"POST", "/v1/batches", `{"id": "` + strings.Repeat("x", 50_000), http.StatusBadRequest, "body: "},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
		r.Header.Set("Test-Caller", olga)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		var p struct {
			Status int
			Detail string
		}
		length := w.Body.Len()
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s %.20s: %v, %q", c.method, c.path, err, w.Header().Get("Content-Type"))
		}
		if w.Code != c.code || p.Status != c.code || !strings.Contains(p.Detail, c.words) || length > 1000 {
			t.Errorf("%s %.20s: %d, %d bytes, %.200s", c.method, c.path, w.Code, length, p.Detail)
		}
	}
}
