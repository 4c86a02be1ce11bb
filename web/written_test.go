package web

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/web/api"
)

// spelled is a value as a user of the API spells it.
func spelled[T any](text string) (w api.Written[T]) {
	_ = w.UnmarshalText([]byte(text)) // what is wrong is kept
	return w
}

// A request that is written again is the same, so that a batch which is repeated has the content
// that it had.
func TestJobRequest_KeepsItsSpelling(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"name":"a","nodes":1,"length":60,"budget":1,"ready":"30m","deadline":"1.5d","array":"0-9, 12%3","minimize":"finish","urgency":"05.0%"}`,
		`{"name":"a","nodes":1,"length":60,"budget":1,"ready":"2026-03-01T13:00:00+01:00","every":3600,"until":"10d"}`,
		`{"name":"a","nodes":1,"length":60,"budget":1}`,
		`{"name":"a","nodes":1,"length":60,"budget":1,"deadline":"soon","array":"-"}`,
	} {
		again, err := json.Marshal(requested(t, text))
		if err != nil || string(again) != text {
			t.Errorf("%s is written as %s (%v)", text, again, err)
		}
	}
}

// An error in a text is said at its key, and a text is searched for what cannot be seen.
func TestJobRequest_SaysWhichTextIsWrong(t *testing.T) {
	t.Parallel()
	for key, text := range map[string]string{"ready": `"tomorrow"`, "deadline": `"0s"`, "array": `"9-0"`, "minimize": `"fun"`, "urgency": `"much"`, "until": `"never"`} {
		r := requested(t, strings.Replace(`{"name":"a","nodes":1,"length":60,"budget":1,"every":3600,KEY}`, "KEY", `"`+key+`":`+text, 1))
		if _, at, err := r.Job(0); err == nil || at != key {
			t.Errorf("%s of %s: %s: %v", text, key, at, err)
		}
	}
	r := requested(t, `{"name":"a","ready":"1d\u0007","parts":[{"name":"b"}]}`)
	if wrong := unseen("body", r); len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "body.ready") {
		t.Errorf("%v", wrong)
	}
}
