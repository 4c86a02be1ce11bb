// Package web is the HTTP API of a broker process and of a site process:
// OpenAPI 3.1 under /v1, metrics, health and readiness, and a small live page.
//
// It is a client of its agent like any other: it reads the agent's state in a
// step of the agent (Host.View, at most a page of rows at a time), hands it
// messages (Host.Ask) and hears its facts once they are durable (Host.Watch).
// It decides nothing about jobs, money or nodes and keeps nothing that a
// restart would need: what it remembers is an index of what the agent keeps.
// Who is asking is what the certificate says (Options.Identify): users see and
// cancel their own jobs and submit in their own names, operators see all.
//
// Everything that waits is bounded: the size of a body, the jobs of a batch,
// the rows of a page, the requests and event streams at once, the turns that
// wait for a slow reader or a slow webhook. docs/API.md, which is generated,
// says what happens at each bound.
package web
