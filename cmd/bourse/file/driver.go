package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cluster/command"
	"github.com/bourse-grid/bourse/cluster/command/conformance"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

// newDriver builds "bourse driver".
func newDriver() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "driver",
		Short: "Check a driver of your own for a resource manager",
		Args:  cobra.NoArgs,
	}
	cmd.AddCommand(newDriverCheck())
	return cmd
}

func newDriverCheck() *cobra.Command {
	var submit, pilots, asJSON bool
	cmd := &cobra.Command{
		Use:   "check [flags] COMMAND [ARG]...",
		Short: "Run the numbered checks of the protocol against a driver",
		Long: `Starts a driver, as a site with [cluster] kind = "command" does, and checks that it does
what docs/DRIVERS.md asks. It prints a line for each check: ok, FAILED or skipped, with
one sentence. The driver runs in this folder. Without --submit nothing is submitted.

--submit runs short jobs on nodes that are idle, as the account that runs the check, and
deletes them: a name is submitted once, its exit and output come back, it is told to
end before it is killed, and nothing is lost or made twice when the driver is killed.
Some checks start the driver several times; all take about half a minute.

--pilots submits two pilots of one node, for a driver with claim and grant: one leaves by
itself while the driver is stopped, the other is prolonged and becomes work. It takes
half a minute once nodes are free.

Exit status 1 if a check has failed.`,
		Example: "  bourse driver check ./driver.py --folder /tmp/work --nodes 2\n  bourse driver check --submit ./flux-driver --queue batch",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("the driver is missing; write bourse driver check ./driver.py, with its arguments")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := exec.LookPath(args[0]); err != nil {
				return fmt.Errorf("the driver cannot be started: %w", err)
			}
			list, err := checkDriver(cmd.Context(), args, submit, pilots, cmd.ErrOrStderr())
			if err != nil {
				return failure.Of(err)
			}
			if asJSON {
				err = flags.WriteJSON(cmd.OutOrStdout(), list)
			} else {
				_, err = fmt.Fprintln(cmd.OutOrStdout(), driverTable(list))
			}
			if err == nil && !conformance.Passed(list) {
				err = errors.New("the driver does not do what the protocol asks; see docs/DRIVERS.md")
			}
			return failure.Of(err)
		},
	}
	cmd.Flags().SetInterspersed(false) // what follows the driver's name is the driver's
	cmd.Flags().BoolVar(&submit, "submit", false, "also submit short jobs, and delete them")
	cmd.Flags().BoolVar(&pilots, "pilots", false, "also submit pilots, and delete them")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as JSON")
	return cmd
}

// checkDriver runs the checks. What the driver writes to standard error is passed on.
func checkDriver(ctx context.Context, program []string, submit, pilots bool, log io.Writer) ([]conformance.Result, error) {
	me, err := user.Current()
	if err != nil {
		return nil, err
	}
	var one sync.Mutex // its lines and what it does wrong are told by two goroutines
	tell := func(line string) {
		one.Lock()
		defer one.Unlock()
		fmt.Fprintf(log, "%s: %s\n", program[0], flags.Visible(line))
	}
	return conformance.Check(ctx, conformance.Options{
		Driver: command.Config{Command: program, Site: "check", Prefix: "bourse.check.", Log: tell},
		Submit: submit, Pilots: pilots, User: me.Username, Names: fmt.Sprintf("%d-%d.", time.Now().Unix(), os.Getpid())}), nil
}

func driverTable(list []conformance.Result) string {
	t := report.NewTable("check", "<what", "<", "<says")
	for _, r := range list {
		t.AppendRow(table.Row{r.Number, r.Name, r.State, r.Words})
	}
	return t.Render()
}
