package study

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/policy/backfill"
	"github.com/bourse-grid/bourse/policy/formula"
	"github.com/bourse-grid/bourse/policy/names"
)

// replayOrders holds the flags of orders by formula.
type replayOrders struct {
	order, backfill *string // nil: none
	list            bool
}

func (o *replayOrders) flags(cmd *cobra.Command) {
	flags.AddFlag(cmd, &o.order, flags.Optional(flags.AsOrder), "order", nil, "order of the queue, the least value first: a formula such as 'estimate * nodes', or its name (see --orders)")
	flags.AddFlag(cmd, &o.backfill, flags.Optional(flags.AsOrder), "backfill-order", nil, "order of the jobs that overtake, once the heads hold their places; likewise")
	cmd.Flags().BoolVar(&o.list, "orders", false, "list the orders with names, the variables and the functions, and do nothing else")
}

// of returns a policy with the orders.
func (o *replayOrders) of(p backfill.Policy) (backfill.Policy, error) {
	return p.Ordered(given(o.order), given(o.backfill))
}

// given is the text of a formula; a blank one, which is none, if it was given empty.
func given(s *string) string {
	switch {
	case s == nil:
		return ""
	case *s == "":
		return " "
	}
	return *s
}

func (o *replayOrders) print(out io.Writer) error {
	var b strings.Builder
	for _, part := range []struct {
		title string
		list  []names.Policy
	}{
		{"orders", formula.Orders()},
		{"variables", formula.Variables()},
		{"functions", formula.Functions()},
	} {
		fmt.Fprintf(&b, "%s:\n%s", part.title, names.Lines(part.list))
	}
	b.WriteString("operators: + - * / ^ (a whole exponent, 0 to 16) < <= > >= == != and or not\n")
	_, err := io.WriteString(out, b.String())
	return err
}
