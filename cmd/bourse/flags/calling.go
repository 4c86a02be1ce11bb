package flags

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web/client"
)

// Calling holds the flags of every command that calls a federation: where it is, and
// how to print the answer.
type Calling struct {
	Context string
	JSON    bool
}

// AddFlags adds the flags that all of them have.
func (c *Calling) AddFlags(cmd *cobra.Command) {
	AddFlag(cmd, &c.Context, AsContext, "context", "", "context file of the federation (default $"+client.Variable+", then "+client.Default+")")
	cmd.Flags().BoolVar(&c.JSON, "json", false, "print JSON")
}

// Find reads the context file.
func (c *Calling) Find() (*client.Context, error) {
	found, err := client.Find(c.Context)
	return found, OfKind(cmp.Or(c.Context, os.Getenv(client.Variable), client.Default), kinds.Context, err)
}

// Broker is the client of the federation's broker.
func (c *Calling) Broker() (*client.Client, error) {
	found, err := c.Find()
	if err != nil {
		return nil, err
	}
	return found.ToBroker()
}

// PrintAnswer prints what the broker answers, as JSON or in words.
func PrintAnswer[T any](ctx context.Context, c *Calling, out io.Writer, ask func(context.Context, *client.Client) (T, error), words func(*T) string) error {
	api, err := c.Broker()
	if err != nil {
		return err
	}
	answer, err := ask(ctx, api)
	if err != nil {
		return Refused(err)
	}
	if c.JSON {
		return WriteJSON(out, answer)
	}
	_, err = fmt.Fprintln(out, words(&answer))
	return err
}

// Site is the client of a site.
func (c *Calling) Site(name string) (*client.Client, error) {
	found, err := c.Find()
	if err != nil {
		return nil, err
	}
	return found.ToSite(name)
}

// Refused marks an error as a failure (exit 1) if the API refused the call or cannot be
// reached. A call that makes no sense is bad input (exit 2).
func Refused(err error) error {
	var p *client.Problem
	var m misuse
	if err == nil || errors.As(err, &p) && p.Input() || errors.As(err, &m) {
		return err
	}
	return failure.Of(err)
}

// Misuse marks an error as bad usage (exit 2) that shows only while a command runs.
func Misuse(err error) error { return misuse{err} }

type misuse struct{ error }

// Arguments refuses a call with fewer or more arguments than a command takes.
func Arguments(least, most int, wanted string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s takes %s; see %s --help", strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" "), wanted, cmd.CommandPath())
		}
		return nil
	}
}
