package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/bourse-grid/bourse/cmd/bourse/display"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/process/federation"
	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/dash"
)

// upFlags holds the flags of up.
type upFlags struct {
	sites    int
	vos      int
	brokers  int
	replicas int
	dir      string
	port     int
	cluster  string
	ssh      []federation.Afar
	json     bool
}

// newUp builds "bourse up".
func newUp() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a whole federation on this machine, for trying it",
		Long: `Runs sites and a broker, each as a process of its own, in the foreground until
Ctrl-C. The broker looks for windows every 5 seconds, and none starts sooner than 10
seconds from then. The nodes of a site are places
on this machine: the command or script of a job really runs, on all sites of its
window at once, under your account. There are no containers and no memory limits. If
you run bourse up as root, work runs as nobody, never as root. Work that is running
when bourse up ends goes on to the end of its window, and the next start finds it.

With --vos N the sites serve N VOs that do not trust each other, each with an
authority, a broker and a context of its own under DIR (DIR/vo1/context.json). The
context in DIR itself is for the operator of the sites.

With --brokers N one VO has N brokers, each with a queue, accounts and a context of
its own (DIR/context-broker2.json). No broker knows the jobs of another.

With --replicas 3 three processes hold the broker (with --vos that of each VO), each
with a folder of its own. Kill the leader, and another one takes over.

With --cluster simulated no work runs: each site has a simulated cluster with its own
local jobs, for which an hour passes in a minute.

With --ssh DESTINATION, once for each of your accounts elsewhere, the sites are beside the
Slurm clusters of those accounts. Only ssh is needed: nothing is installed there, and no
rights are asked for. Such a site is called after its host, or say --ssh NAME=DESTINATION.
It takes the default partition. Jobs with a gather table run there (see the tutorial
LAPTOP.md); ssh asks its questions, such as for a second factor, on this terminal.

DIR holds the certificates (ca), a folder for each agent with its file and its
journal, and context.json, with which the user commands find the broker. Existing
files are not changed, so you can edit them. Running it again with the same DIR
continues with the same journals and certificates, and adds sites if you ask for
more.

An agent that is killed is restarted and continues from its journal: try kill -9. One
that fails after it was ready is also restarted, after a wait that doubles up to a
minute. If one fails earlier, or is killed again and again, all are stopped. Logs go
to stderr, each line with the name of the agent.`,
		Example: "  bourse up --sites 5\n  bourse submit wave.toml --wait      # in another terminal, same folder\n  bourse up --ssh ana@north.example --ssh ana@south.example",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("sites") && f.sites < 1 {
				return fmt.Errorf("--sites %d: must be 1 to %d; leave it out for the sites that %s has, or 3", f.sites, federation.MaxSites, f.dir)
			}
			for flag, n := range map[string]int{"vos": f.vos, "brokers": f.brokers, "replicas": f.replicas} {
				if cmd.Flags().Changed(flag) && n == 0 {
					return fmt.Errorf("--%s 0: must be 1 or more; leave it out for those that %s has, or 1", flag, f.dir)
				}
			}
			return f.run(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags.AddFlag(cmd, &f.sites, flags.AsNumber, "sites", 0, "number of sites (default: 3, or those in DIR)")
	flags.AddFlag(cmd, &f.vos, flags.AsNumber, "vos", 0, "number of VOs that the sites serve, each with its own authority and broker (default: 1, or those in DIR)")
	flags.AddFlag(cmd, &f.brokers, flags.AsNumber, "brokers", 0, "number of brokers of the only VO (default: 1, or those in DIR)")
	flags.AddFlag(cmd, &f.replicas, flags.AsNumber, "replicas", 0, "number of processes that hold the broker (default: 1, or those in DIR)")
	flags.AddFlag(cmd, &f.dir, flags.AsFolder, "dir", ".bourse", "folder for certificates, files and journals")
	flags.AddFlag(cmd, &f.port, flags.AsNumber, "port", 7400, "first port to try; each agent takes three or four free ports")
	flags.AddFlag(cmd, &f.cluster, flags.OneOf("cluster", federation.Local, federation.Simulated), "cluster", "", "local (default): work really runs; simulated: no work runs. Existing sites in DIR are not changed")
	flags.AddList(cmd, &f.ssh, flags.Kind[federation.Afar]{Word: "destination", Parse: federation.ParseAfar, Complete: flags.OfferNothing}, "ssh", "account on a login node of a Slurm cluster, as ssh takes it, or NAME=DESTINATION; repeat for the next site")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the addresses as one JSON document")
	return cmd
}

// check refuses flags that make no sense.
func (f *upFlags) check() error {
	if f.sites > federation.MaxSites {
		return fmt.Errorf("--sites %d: must be 1 to %d", f.sites, federation.MaxSites)
	}
	if f.vos < 0 || f.vos > federation.MaxVOs {
		return fmt.Errorf("--vos %d: must be 1 to %d", f.vos, federation.MaxVOs)
	}
	if f.brokers < 0 || f.brokers > federation.MaxBrokers {
		return fmt.Errorf("--brokers %d: must be 1 to %d", f.brokers, federation.MaxBrokers)
	}
	if f.replicas < 0 || f.replicas > federation.MaxReplicas || f.replicas > 1 && f.replicas%2 == 0 {
		return fmt.Errorf("--replicas %d: must be 1, 3, 5 or 7", f.replicas)
	}
	if f.replicas > 1 && f.brokers > 1 {
		return fmt.Errorf("--replicas %d: with several brokers each is a single process; leave --brokers out", f.replicas)
	}
	if f.port < 1 || f.port > federation.MaxPort {
		return fmt.Errorf("--port %d: must be 1 to %d", f.port, federation.MaxPort)
	}
	switch {
	case len(f.ssh) > 0 && (f.sites > 0 || f.vos > 0 || f.brokers > 0 || f.cluster != ""):
		return errors.New("--ssh names all sites of one VO with one broker; leave --sites, --vos, --brokers and --cluster out")
	case len(f.ssh) > federation.MaxSites:
		return fmt.Errorf("--ssh is given %d times; must be at most %d", len(f.ssh), federation.MaxSites)
	}
	for i, a := range f.ssh {
		if slices.ContainsFunc(f.ssh[:i], func(b federation.Afar) bool { return b.Name == a.Name }) {
			return fmt.Errorf("--ssh: two sites are called %s; name one, as in --ssh %s-2=%s", a.Name, a.Name, a.Destination)
		}
	}
	return nil
}

// layOut makes what is missing, and opens the connections of sites elsewhere.
func (f *upFlags) layOut(ctx context.Context, asks *process.Terminal) (members []federation.Member, err error) {
	switch {
	case len(f.ssh) > 0:
		members, err = federation.LayOutAfar(f.dir, f.ssh, f.replicas, f.port, func(a federation.Afar, dir string) (*process.Found, error) {
			return process.FindSlurm(ctx, a.Destination, dir, asks)
		})
	case f.vos > 1:
		return federation.LayOutVOs(f.dir, f.sites, f.vos, f.replicas, f.port, f.cluster)
	default:
		if members, err = federation.LayOut(f.dir, f.sites, f.replicas, f.port, f.cluster); err == nil {
			members, err = federation.AddBrokers(f.dir, members, f.brokers, f.port)
		}
	}
	for i := range members {
		if members[i].Kind == federation.Slurm && err == nil {
			err = process.OpenSite(ctx, members[i].File, asks)
		}
	}
	return members, err
}

func (f *upFlags) run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	if err := federation.AlreadyUp(f.dir); err != nil {
		return failure.Of(err)
	}
	if f.vos == 0 {
		f.vos = federation.VOsOf(f.dir)
	}
	if f.vos > 1 && f.brokers > 1 {
		return errors.New("--brokers is for one VO; with --vos each has one broker")
	}
	asks := &process.Terminal{In: stdin, Out: stderr, Errs: stderr}
	if in, is := stdin.(*os.File); !is || !term.IsTerminal(int(in.Fd())) {
		asks = nil
	}
	members, err := f.layOut(ctx, asks)
	if err != nil {
		return failure.Of(err)
	}
	if err := federation.WritePID(f.dir); err != nil {
		return failure.Of(err)
	}
	ctx, unhook := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer unhook()
	family, err := federation.NewFamily(stderr)
	if err != nil {
		return failure.Of(err)
	}
	pages, err := f.livePages()
	if err != nil {
		return failure.Of(err)
	}
	for i := range pages {
		defer pages[i].Start(ctx)()
	}
	err = family.Run(ctx, members, func() error { return f.announce(stdout, members, family, pages) })
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return failure.Of(err)
}

// livePage is the live page of a VO.
type livePage struct {
	vo string
	*dash.Page
}

// livePages opens a page for each broker, because no VO may see another's jobs.
func (f *upFlags) livePages() ([]livePage, error) {
	files := map[string]string{"": filepath.Join(f.dir, federation.ContextFile)}
	if f.vos > 1 {
		clear(files)
		for i := range f.vos {
			files[federation.VOName(i)] = federation.ContextOf(f.dir, federation.VOName(i))
		}
	}
	var pages []livePage
	for _, vo := range slices.Sorted(maps.Keys(files)) {
		page, err := dash.Open(files[vo], 0)
		if err != nil {
			for _, p := range pages {
				_ = p.Close()
			}
			return nil, err
		}
		pages = append(pages, livePage{vo, page})
	}
	return pages, nil
}

// announce prints where everything is, once everything is ready.
func (f *upFlags) announce(stdout io.Writer, members []federation.Member, family *federation.Family, pages []livePage) error {
	type row struct {
		Agent  string `json:"agent"`
		API    string `json:"api"`
		Agents string `json:"agents"` // address for other agents
		PID    int    `json:"pid"`
		Dir    string `json:"dir"`
	}
	rows := make([]row, len(members))
	for i, m := range members {
		rows[i] = row{m.Role + ":" + m.Name, "https://" + m.HTTP, m.Listen, family.PID(m), filepath.Dir(m.File)}
	}
	type link struct {
		VO   string `json:"vo"`
		Link string `json:"link"`
	}
	links := make([]link, len(pages))
	for i := range pages {
		links[i].VO = pages[i].vo
		links[i].Link, _ = pages[i].Link()
	}
	if f.json {
		said := struct {
			Context string `json:"context"`
			Agents  []row  `json:"agents"`
			Link    string `json:"link"`            // one-time link to the live page; with several VOs, to the first one's
			Links   []link `json:"links,omitempty"` // with several VOs
		}{filepath.Join(f.dir, federation.ContextFile), rows, links[0].Link, nil}
		if len(links) > 1 {
			said.Links = links
		}
		return flags.WriteJSON(stdout, said)
	}
	w := report.NewTable("agent", "<API", "pid", "<folder")
	for _, r := range rows {
		w.AppendRow(table.Row{r.Agent, r.API, r.PID, r.Dir})
	}
	fmt.Fprintln(stdout, w.Render())
	try := ""
	if f.vos > 1 {
		try = " --context " + federation.ContextOf(f.dir, federation.VOName(0))
	} else if f.dir != ".bourse" {
		try = " --context " + filepath.Join(f.dir, federation.ContextFile)
	}
	if slices.ContainsFunc(members, func(m federation.Member) bool { return m.Kind == federation.Local }) {
		as, err := federation.WorkAccount()
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout)
		_ = display.Folded(stdout, fmt.Sprintf("Jobs with a command or a script really run here, as %s unless an [[account]] says otherwise. "+
			"%s", as, federation.CommonAccount(as)))
	}
	if len(f.ssh) > 0 {
		fmt.Fprintln(stdout)
		_ = display.Folded(stdout, "Jobs with a gather table run at these sites, as your accounts there: pilots hold their nodes until all are there.")
	}
	if len(links) == 1 {
		fmt.Fprintf(stdout, "\nThe live page; the link admits one browser, once, within %s:\n  %s\n", display.Minutes(dash.LinkLife), links[0].Link)
	} else {
		fmt.Fprintf(stdout, "\nThe live page of each VO; a link admits one browser, once, within %s:\n", display.Minutes(dash.LinkLife))
		for _, l := range links {
			fmt.Fprintf(stdout, "  %-5s  %s\n", l.VO, l.Link)
		}
	}
	_, err := fmt.Fprintf(stdout, "\nReady. In another terminal, in this folder:\n  bourse submit BATCH.toml --wait%s\n  bourse sites%s\n  bourse dash%s\n  bourse journal verify %s\nCtrl-C stops all.\n", try, try, try, f.dir)
	return err
}
