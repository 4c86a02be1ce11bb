package web

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
)

//go:generate go test -run TestReference -update

var update = flag.Bool("update", false, "write docs/API.md")

const referenceFile = "../docs/API.md"

// The reference is what the OpenAPI documents say, in a page.
func TestReference_IsUpToDate(t *testing.T) {
	t.Parallel()
	broker := brokerAPI(t, world(t))
	site, err := NewSite(Options{Host: world(t), Agent: "site:north", Identify: byHeader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { site.Close(context.Background()) })
	var b strings.Builder
	b.WriteString(referenceHead)
	both := map[string]*huma.Schema{}
	operations(&b, "The broker", broker.OpenAPI(), both)
	operations(&b, "A site", site.OpenAPI(), both)
	schemas(&b, both)
	if *update {
		if err := os.WriteFile(referenceFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referenceFile)
	if err != nil || string(have) != b.String() {
		t.Errorf("docs/API.md is not what the API is (%v); run go generate ./web", err)
	}
}

const referenceHead = `# The HTTP API

<!-- made by go generate ./web from the API itself; edit the code, not this page -->

A broker and each site serve an API of their own, by HTTPS with client certificates ([SECURITY.md](SECURITY.md)) or, only where the
configuration asks for it, by plain HTTP to programs of the same machine. The command line is its first client: ` + "`bourse submit`, `jobs`,\n`explain`, `cancel`, `sites`, `offers`, `reservations`, `accounts`, `drain`, `maintenance`, `close`, `open`,\n`modify`, `site lost`" + ` do nothing that a program cannot.

- **OpenAPI 3.1** at ` + "`/openapi.json` and `/openapi.yaml`" + `; this page is made from it.
- **Who asks** is in the certificate. *Users* see and cancel their own jobs and submit in their own names; *operators* see and may do
  all. What another owns is answered as if it were not there (404), another's name as refused (403).
- **Values.** Times are RFC 3339 in UTC, to the millisecond. Spans are seconds, money is credits, prices are credits per node-hour: decimal
  numbers, exact. Fields that say nothing are left out.
- **Problems** are ` + "`application/problem+json`" + ` (RFC 9457): ` + "`detail`" + ` says what is wrong and what would be right, ` + "`errors`" + ` names the keys.
  400 and 422: what was sent makes no sense. 401: a broker cannot tell who calls; show another token, or a certificate. 403: not for this caller. 404: not there. 409: it contradicts what is there. 429 and 503: come
  again, after ` + "`Retry-After`" + ` where it is given.
- **Beside it**: ` + "`/metrics`" + ` for Prometheus; ` + "`/healthz`" + ` (200 while the agent answers), ` + "`/readyz`" + ` (200 once it can serve, 503 with the
  reason); and at ` + "`/`" + ` the live page. What feeds
  that, ` + "`/live`" + `, is its own and changes with it.

## Repeating a submission

A batch carries an identity that its client has made at random. The same batch under the same identity changes nothing and gets the same
answer, also after a restart of the broker, for as long as the broker keeps one of its jobs (seven days after its end). So a client whose answer
was lost sends it again. Other content under the identity is refused with 409. Identities belong to users: those of other users are never in the
way, and nobody is told of them; what an operator submits in users' names counts as theirs. A job's ID is its name, a dash and eight letters that
follow from the batch's identity and the job's user (in journals of older brokers from the identity alone; such IDs stay as they are). The name serves in place of
the ID while only one job of the caller's has it.

## Webhooks

The ` + "`notify`" + ` address of a batch, and one of the broker's own configuration, is sent every turn of a job as it is recorded: a POST of a
[Turn](#turn). Deliveries about one user's jobs to one address come in order. What is not answered by 2xx within 10 s is sent again after 1 s, 2 s and so on, 8 times in
all; at least once while the process lives, not beyond its end, so whoever must know asks for the state. ` + "`Bourse-Delivery`" + ` names a delivery:
the second try has the name of the first. ` + "`Bourse-Signature: t=UNIX,v1=HEX`" + ` is the HMAC-SHA256 of ` + "`UNIX.BODY`" + ` under the configured secret.
The address is kept in the broker's journal, with the job. Only https is called, and no address of the broker's machine, of private networks, or of another
special-purpose range (IANA's registries; NAT64 and 6to4 among them), unless the broker's operator allows them.
While the broker's list of revoked members has a user by name (` + "`user/NAME`" + `), webhooks of that user's jobs are not told; a certificate that
is revoked by its number, or has expired, changes nothing for them, because the user may have another.

## Bounds

| what | bound | at the bound |
|---|---|---|
| a request's body | 1 MiB, a batch 4 MiB | 413 |
| jobs of a batch | 5,000 | 422, nothing is taken |
| jobs that wait at the broker | 100,000 | the job is not taken: ` + "`queue-full`" + ` |
| jobs of one user that wait | the broker's ` + "`max_waiting`" + `, or the user's | the job is not taken: ` + "`queue-full`" + `, with the bound and how many there are |
| rows of a page | 500 | the page names the next |
| steps of an offer shown | 200 | ` + "`more`" + ` is set |
| requests at once | 256 | 503, counted (` + "`bourse_api_busy_total`" + `); health and metrics always get through |
| requests at once of one caller | a user 32, an operator 128 | 429, counted; others are served |
| explanations at once | 4, of a user 1, of an operator 2 | 503, of one caller 429, counted; ` + "`Retry-After`" + ` says when to come again |
| connections of one caller | a user 64, an operator 256 | 429 to the first request on one more, which is closed |
| how slowly a body may come | 5 s, and a second more for every 64 KiB that have come | 408, and the connection is closed |
| refusals of jobs in the broker's journal, in an hour | 100 of a user, 5,000 of all | they are answered and counted (` + "`bourse_submissions_refused_total`" + `), not recorded |
| the wait for the agent | 10 s | 503; a submission or a cancellation may be on record all the same: repeat it |
| event streams at once | 256, of one caller 32 | 429, counted |
| turns that wait for a slow reader | 256 | the stream ends with the event ` + "`lost`" + `, counted; it may go on where it ended |
| turns kept for readers whose streams broke | 4,096 of all users, with 20,000 legs | a stream from an earlier id begins with the event ` + "`missed`" + ` |
| an event stream whose caller's certificate has expired or is revoked | asked every second, and before an event is sent on an older answer | the stream ends with the event ` + "`denied`" + `, which says why |
| facts that wait to be told | 8,192 | they are not told to streams and webhooks; streams are sent the event ` + "`missed`" + `, counted (` + "`bourse_api_facts_untold_total`" + `) |
| turns that wait for a webhook | 256 | dropped, counted (` + "`bourse_webhook_deliveries_total`" + `) |
| webhook addresses at once | 64, for the jobs of one user 8 | turns for others are dropped, counted |
`

// operations writes the operations of a document in order of path and method.
func operations(b *strings.Builder, title string, doc *huma.OpenAPI, all map[string]*huma.Schema) {
	fmt.Fprintf(b, "\n## %s\n", title)
	maps.Copy(all, doc.Components.Schemas.Map())
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, x := range []struct {
			method string
			op     *huma.Operation
		}{{"GET", item.Get}, {"POST", item.Post}, {"PUT", item.Put}, {"DELETE", item.Delete}} {
			if x.op != nil {
				operation(b, x.method, path, x.op)
			}
		}
	}
}

func operation(b *strings.Builder, method, path string, op *huma.Operation) {
	fmt.Fprintf(b, "\n### %s %s\n\n%s.", method, path, op.Summary)
	if op.Description != "" {
		fmt.Fprintf(b, " %s", op.Description)
	}
	b.WriteString("\n\n")
	for _, p := range op.Parameters {
		fmt.Fprintf(b, "- `%s` (%s, %s): %s\n", p.Name, p.In, typeOf(p.Schema), p.Description)
	}
	if op.RequestBody != nil {
		fmt.Fprintf(b, "- body: %s\n", typeOf(op.RequestBody.Content["application/json"].Schema))
	}
	var refused []string
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[code]
		switch {
		case code == "default" || code >= "400":
			if code != "default" {
				refused = append(refused, code)
			}
		case r.Content["text/event-stream"] != nil:
			fmt.Fprintf(b, "- %s: events `job` ([Job](#job)), `turn` ([Turn](#turn)), `alive` ([Alive](#alive)), `lost` ([Lost](#lost)), `denied` ([Denied](#denied))\n", code)
		case r.Content["application/json"] != nil:
			fmt.Fprintf(b, "- %s: %s\n", code, typeOf(r.Content["application/json"].Schema))
		default:
			fmt.Fprintf(b, "- %s: %s\n", code, r.Description)
		}
	}
	if len(refused) > 0 {
		fmt.Fprintf(b, "- otherwise: %s\n", strings.Join(refused, ", "))
	}
}

// schemas writes what the bodies are made of.
func schemas(b *strings.Builder, all map[string]*huma.Schema) {
	b.WriteString("\n## Values\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		if strings.HasPrefix(name, "Error") || len(s.Properties) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n| key | type | |\n|---|---|---|\n", name)
		for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[key]
			about := p.Description
			if len(p.Enum) > 0 {
				words := make([]string, len(p.Enum))
				for i, v := range p.Enum {
					words[i] = fmt.Sprintf("`%v`", v)
				}
				about = strings.TrimSuffix("one of "+strings.Join(words, ", ")+". "+about, ". ")
			}
			mark := ""
			if slices.Contains(s.Required, key) {
				mark = ", always"
			}
			fmt.Fprintf(b, "| `%s` | %s%s | %s |\n", key, typeOf(p), mark, strings.ReplaceAll(about, "|", "\\|"))
		}
	}
}

// typeOf names a schema, with a link where it has a section.
func typeOf(s *huma.Schema) string {
	switch {
	case s == nil:
		return "anything"
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
	case s.Type == huma.TypeArray:
		return "list of " + typeOf(s.Items)
	case s.Format == "date-time":
		return "time"
	case s.Type == "":
		return "anything"
	}
	return s.Type
}
