package study

import (
	"bytes"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
)

// workloadCommand runs a command line of this group in this process.
func workloadCommand(args ...string) (stdout, stderr string, code int) {
	var out, msg bytes.Buffer
	root := &cobra.Command{Use: "bourse", SilenceUsage: true, SilenceErrors: true}
	root.SetFlagErrorFunc(flags.BadFlag)
	root.AddCommand(Commands()...)
	root.SetOut(&out)
	root.SetErr(&msg)
	root.SetArgs(args)
	err := root.Execute()
	switch {
	case failure.Is(err):
		code = 1
	case err != nil:
		code = 2
	}
	if err != nil {
		msg.WriteString(err.Error())
	}
	return out.String(), msg.String(), code
}
