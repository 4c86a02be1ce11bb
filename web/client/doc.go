// Package client is the other end of package web: it finds a broker and its
// sites by a context file, calls their APIs, and reads event streams.
//
// A call that a caller may repeat without harm is repeated when its answer was
// lost; so is a submission, which the batch's identity makes safe. It decides
// nothing and stores nothing but the context file, where it is told to.
package client
