package operate

import (
	"context"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/dash"
)

// newDash builds "bourse dash".
func newDash() *cobra.Command {
	var c calling
	var port int
	var only bool
	cmd := &cobra.Command{
		Use:   "dash",
		Short: "Open the live page of a federation in a browser",
		Long: `Dash serves the live page on this machine until Ctrl-C, and opens it in a browser.
The page shows what runs where and at what price, what waits and why, sites and
accounts. Users can cancel jobs there; operators can also drain and close sites.

The browser needs no certificate: dash calls the broker and the sites with the
certificate of the context file, and the page can do what that certificate allows.
The link admits one browser, once, within 10 minutes. A session lasts 12 hours, or
until dash ends. Dash refuses connections from other machines.

On a machine without a browser: give --port, forward that port with ssh
(ssh -L 7413:127.0.0.1:7413 HOST), and open the link on your own machine.`,
		Example: "  bourse dash\n  bourse dash --print --port 7413",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return fmt.Errorf("--port %d: must be 1 to 65535, or 0 for any free port", port)
			}
			return c.dash(cmd.Context(), port, only, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	c.AddFlags(cmd)
	flags.AddFlag(cmd, &port, flags.AsNumber, "port", 0, "port to listen on (default: any free port)")
	cmd.Flags().BoolVar(&only, "print", false, "print the link, do not open a browser")
	return cmd
}

func (c *calling) dash(ctx context.Context, port int, only bool, stdout, stderr io.Writer) error {
	found, err := c.Find()
	if err != nil {
		return flags.Refused(err)
	}
	who, err := found.Who(ctx)
	if err != nil {
		return flags.Refused(err)
	}
	page, err := dash.Open(c.Context, port)
	if err != nil {
		return failure.Of(err)
	}
	ctx, unhook := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer unhook()
	defer page.Start(ctx)()
	link, until := page.Link()
	if c.JSON {
		err = flags.WriteLine(stdout, struct {
			Link  string    `json:"link"`
			Until time.Time `json:"until"` // it opens the page
		}{link, until.Truncate(time.Second)})
	} else {
		_, err = fmt.Fprintln(stdout, link)
	}
	if err != nil {
		return failure.Of(err)
	}
	if !only && !c.JSON {
		defer browse(link, stderr)()
	}
	fmt.Fprintf(stderr, "The live page%s. The link admits one browser, once, within %s. Ctrl-C ends the page.\n", as(who), display.Minutes(dash.LinkLife))
	select {
	case <-ctx.Done():
		return nil
	case err := <-page.Ended:
		return failure.Of(err)
	}
}

// as says whose rights a page has.
func as(who web.Who) string {
	if who.Name == "" {
		return ""
	}
	return fmt.Sprintf(" as %s %s", who.Role, who.Name)
}

// browse opens a link in the desktop's browser, if there is one. Other users of this
// machine can read the arguments of a program, so the browser is given a file that only
// its owner can read. done removes the file.
func browse(link string, stderr io.Writer) (done func()) {
	program := opener()
	if program == "" {
		return func() {}
	}
	dir, err := os.MkdirTemp("", "bourse-dash-")
	if err != nil {
		fmt.Fprintln(stderr, "no browser was opened:", err)
		return func() {}
	}
	done = func() { _ = os.RemoveAll(dir) }
	file := filepath.Join(dir, "open.html")
	text := `<!DOCTYPE html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Bourse</title><meta http-equiv="refresh" content="0; url=` + html.EscapeString(link) + `">`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Fprintln(stderr, "no browser was opened:", err)
		return done
	}
	cmd := exec.Command(program, file)
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(stderr, "no browser was opened:", err)
		return done
	}
	go func() { _ = cmd.Wait() }()
	return done
}

// opener is the program that opens files on this desktop, "" if there is none.
func opener() string {
	name := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		name = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return ""
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
