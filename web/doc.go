// Package web is the HTTP API of a broker process and of a site process: OpenAPI 3.1 under
// /v1, metrics, health and readiness, and a small live page.
//
// The API is a client of its agent like any other. It reads the agent's state between two of
// the agent's steps (Host.View, at most a page of rows at a time), sends it messages
// (Host.Ask) and watches its facts once they are durable (Host.Watch). It decides nothing
// about jobs, money or nodes, and keeps nothing that a restart would need: its memory is an
// index of the agent's state. Certificates or tokens identify callers (Options.Identify):
// users see and cancel their own jobs and submit in their own names; operators see
// everything.
//
// All queues and sizes are bounded: the size of a body, the jobs of a batch, the rows of a
// page, concurrent requests and event streams, the events that wait for a slow reader or
// webhook. docs/BOUNDS.md says what happens at each bound.
package web
