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
	b.WriteString(strings.ReplaceAll(referenceHead, "~", "`"))
	both := map[string]*huma.Schema{}
	operations(&b, "The broker", broker.OpenAPI(), both)
	operations(&b, "A site", site.OpenAPI(), both)
	schemas(&b, both)
	want := wrapped(b.String())
	if *update {
		if err := os.WriteFile(referenceFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(referenceFile)
	if err != nil || string(have) != want {
		t.Errorf("docs/API.md is not what the API is (%v); run go generate ./web", err)
	}
}

// wrapped breaks the lines of prose at 100 columns, as all documents do; rows of tables
// stay whole.
func wrapped(page string) string {
	var b strings.Builder
	for line := range strings.Lines(page) {
		if len(line) <= 101 || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<!--") {
			b.WriteString(line)
			continue
		}
		indent := ""
		if strings.HasPrefix(line, "- ") {
			indent = "  "
		}
		width := 0
		for i, word := range strings.Fields(line) {
			switch {
			case i == 0:
			case width+1+len(word) > 100:
				b.WriteString("\n" + indent)
				width = len(indent)
			default:
				b.WriteString(" ")
				width++
			}
			b.WriteString(word)
			width += len(word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// referenceHead is the part of the page that is written by hand; ~ stands for a backquote.
const referenceHead = `# The HTTP API

<!-- made by go generate ./web from the API itself; edit the code, not this page -->

A broker and each site serve an API over HTTPS with client certificates ([SECURITY](SECURITY.md)). Where
the configuration asks for it, they also serve plain HTTP to programs on the same machine. The
command line uses this API alone: a program can do whatever ~bourse submit~, ~jobs~, ~explain~,
~modify~, ~drain~ and the other commands do.

- **OpenAPI 3.1** is at ~/openapi.json~ and ~/openapi.yaml~. This page is made from it.
- **Callers.** The certificate, or the token, says who calls. *Users* submit in their own names, and
  see and change their own jobs. *Operators* see and may do everything. A job of someone else looks
  as if it did not exist (404). Submitting under someone else's name is refused (403).
- **Values.** Times are RFC 3339 in UTC, to the millisecond. Spans are in seconds, money is in
  credits, and prices are in credits per node-hour: decimal numbers, exact. Empty fields are omitted.
- **Problems** are ~application/problem+json~ (RFC 9457). ~detail~ says what is wrong and what would
  be right, ~errors~ names the keys.
- **Bounds** of requests, streams and webhooks are in [BOUNDS](BOUNDS.md).
- **Health.** ~/healthz~ is 200 while the agent answers. ~/readyz~ is 200 once it can serve, and 503
  with the reason until then. ~/metrics~ is for Prometheus.
- **The live page** is at ~/~. It reads ~/live~, which is private and may change at any time.

| status | means |
|---|---|
| 400, 422 | the request makes no sense; ~errors~ names the keys |
| 401 | the broker cannot tell who calls: show another token, or a certificate |
| 403 | this caller may not do it |
| 404 | not there |
| 408, 413 | the body came too slowly, or is too large |
| 409 | it contradicts what is there |
| 429, 503 | come again, after ~Retry-After~ where it is given |

## Repeating a submission

A client gives each batch a random identity. Sending the same batch again under the same identity
changes nothing and gets the same answer, even after a restart of the broker. So a client that missed
the answer sends the batch again. This holds for as long as the broker keeps one of its jobs: seven
days after the job's end.

- Different content under a known identity is refused (409).
- Identities belong to users. Those of other users are never in the way, and nobody is told of them.
  What an operator submits in a user's name counts as that user's.
- A job's ID is its name, a dash and eight letters, which follow from the batch's identity and the
  user. (In journals of older brokers they follow from the identity alone. Such IDs stay as they
  are.) The name works in place of the ID while only one of the caller's jobs has it.

## Webhooks

The broker posts a [Turn](#turn) to the ~notify~ address of a batch, and to one of its own
configuration, whenever something happens to a job.

- **Order.** Deliveries about one user's jobs to one address come in order.
- **Repeats.** Without a 2xx answer within 10 s a delivery is sent again, after 1 s, 2 s and so on, 8
  times in all. ~Bourse-Delivery~ names a delivery, and is the same on each try.
- **Losses.** Delivery is at least once, but only while the process runs. After a restart, poll the
  job's state.
- **Signature.** ~Bourse-Signature: t=UNIX,v1=HEX~ is the HMAC-SHA256 of ~UNIX.BODY~ under the
  configured secret.
- **Addresses.** The broker's journal keeps the address with the job. Only https is called. Addresses
  of the broker's machine, of private networks and of other special-purpose ranges (IANA's
  registries, with NAT64 and 6to4) are not called unless the broker's operator allows them.
- **Revoked users.** While the list of revoked members names a user (~user/NAME~), webhooks of that
  user's jobs are not called. Revoking a certificate by its number changes nothing for them, nor does
  its expiry, because the user may have another.
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
