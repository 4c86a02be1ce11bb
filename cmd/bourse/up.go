package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/report"
	"github.com/bourse-grid/bourse/web/dash"
)

// upFlags are what the user of up has asked for.
type upFlags struct {
	sites    int
	vos      int
	brokers  int
	replicas int
	dir      string
	port     int
	cluster  string
	json     bool
}

// maxUpSites bounds the processes that one machine is asked to run.
const maxUpSites = 50

// newUp builds "bourse up".
func newUp() *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Run a whole federation on this machine, for trying it",
		Long: `Runs sites and a broker, each as a process of its own, in the foreground until
Ctrl-C; the broker looks for windows every 5 seconds. The nodes of a site are places
on this machine: the command or script of a job really runs, on all sites of its
window at once, as the account that runs this. There are no containers and no limits
of memory. Run as root, it has work run as nobody; never as root. Work that runs when
this ends goes on to the end of its window, and is found again by the next start.

With --vos N the sites serve N VOs that trust each other in nothing, each with an
authority, a broker and a context of its own under DIR (DIR/vo1/context.json); the
context of DIR is that of the sites' operator.

With --brokers N one VO has N brokers, each with a queue, accounts and a context of its
own (DIR/context-broker2.json): none knows of the jobs of another.

With --replicas 3 three processes hold the broker, each with a folder of its own: kill
one that leads, and another goes on where it was.

With --cluster simulated nothing is run: each site has a simulated cluster with
local jobs of its own, an hour of which passes in a minute.

What it makes lies under DIR: certificates (ca), a folder for each agent with its
file and its journal, and context.json, by which the commands of users find the
broker. Files that are there are left as they are, so edit them as you like; the
same DIR again goes on with the same journals and certificates, and takes sites
in if there are to be more.

An agent that is killed is started again and goes on where its journal ends: try
kill -9. One that fails after it was ready is started again too, after a wait that
doubles up to a minute. One that fails before, or is killed again and again, stops
them all.
Logs go to stderr, each line with the name of the agent.`,
		Example: "  bourse up --sites 5\n  bourse submit wave.toml --wait      # in another terminal, same folder",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("sites") && f.sites < 1 {
				return fmt.Errorf("--sites %d: must be 1 to %d; leave it out for those that %s has, or 3", f.sites, maxUpSites, f.dir)
			}
			return f.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addFlag(cmd, &f.sites, asNumber, "sites", 0, "how many sites to run; default 3, or those that DIR has")
	addFlag(cmd, &f.vos, asNumber, "vos", 0, "how many VOs the sites serve, each with an authority and a broker of its own; default 1, or those that DIR has")
	addFlag(cmd, &f.brokers, asNumber, "brokers", 0, "how many brokers the VO has, where it is one; default 1, or those that DIR has")
	addFlag(cmd, &f.replicas, asNumber, "replicas", 0, "how many processes hold the broker; default 1, or those that DIR has")
	addFlag(cmd, &f.dir, asFolder, "dir", ".bourse", "folder for certificates, files and journals")
	addFlag(cmd, &f.port, asNumber, "port", 7400, "the first port to try; three or four for each agent are taken where they are free")
	addFlag(cmd, &f.cluster, oneOf("cluster", upLocal, upSimulated), "cluster", "", "local: work really runs, the default; simulated: none does. Sites that DIR has stay as they are")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the addresses as JSON, one document")
	return cmd
}

func (f *upFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	if f.sites > maxUpSites {
		return fmt.Errorf("--sites %d: must be 1 to %d", f.sites, maxUpSites)
	}
	if f.vos < 0 || f.vos > maxUpVOs {
		return fmt.Errorf("--vos %d: must be 1 to %d", f.vos, maxUpVOs)
	}
	if f.brokers < 0 || f.brokers > maxUpBrokers {
		return fmt.Errorf("--brokers %d: must be 1 to %d", f.brokers, maxUpBrokers)
	}
	if f.replicas < 0 || f.replicas > maxUpReplicas || f.replicas > 1 && f.replicas%2 == 0 {
		return fmt.Errorf("--replicas %d: must be 1, 3, 5 or 7", f.replicas)
	}
	if f.replicas > 1 && f.vos > 1 {
		return fmt.Errorf("--replicas %d: with several VOs each broker is one process; leave --vos out", f.replicas)
	}
	if f.replicas > 1 && f.brokers > 1 {
		return fmt.Errorf("--replicas %d: with several brokers each is one process; leave --brokers out", f.replicas)
	}
	if f.port < 1 || f.port > maxPort {
		return fmt.Errorf("--port %d: must be 1 to %d", f.port, maxPort)
	}
	if err := alreadyUp(f.dir); err != nil {
		return failed(err)
	}
	if f.vos == 0 {
		f.vos = vosOf(f.dir)
	}
	var members []member
	var err error
	switch {
	case f.vos > 1 && f.brokers > 1:
		return errors.New("--brokers is for one VO; with --vos each has one broker")
	case f.vos > 1:
		members, err = layOutVOs(f.dir, f.sites, f.vos, f.port, f.cluster)
	default:
		if members, err = layOut(f.dir, f.sites, f.replicas, f.port, f.cluster); err == nil {
			members, err = addBrokers(f.dir, members, f.brokers, f.port)
		}
	}
	if err != nil {
		return failed(err)
	}
	if err := writePID(f.dir); err != nil {
		return failed(err)
	}
	ctx, unhook := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer unhook()
	family, err := newFamily(stderr)
	if err != nil {
		return failed(err)
	}
	pages, err := f.livePages()
	if err != nil {
		return failed(err)
	}
	for i := range pages {
		defer pages[i].serve(ctx)()
	}
	err = family.run(ctx, members, func() error { return f.announce(stdout, members, family, pages) })
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return failed(err)
}

// livePage is the live page of a VO, where there are several.
type livePage struct {
	vo string
	*dashServer
}

// livePages opens a page for each broker: no VO sees another's.
func (f *upFlags) livePages() ([]livePage, error) {
	files := map[string]string{"": filepath.Join(f.dir, contextFile)}
	if f.vos > 1 {
		clear(files)
		for i := range f.vos {
			files[upVOName(i)] = contextOf(f.dir, upVOName(i))
		}
	}
	var pages []livePage
	for _, vo := range slices.Sorted(maps.Keys(files)) {
		page, err := openDash(files[vo], 0)
		if err != nil {
			for _, p := range pages {
				_ = p.listener.Close()
			}
			return nil, err
		}
		pages = append(pages, livePage{vo, page})
	}
	return pages, nil
}

// announce says where everything is, once everything is ready.
func (f *upFlags) announce(stdout io.Writer, members []member, family *family, pages []livePage) error {
	type row struct {
		Agent  string `json:"agent"`
		API    string `json:"api"`
		Agents string `json:"agents"` // address for other agents
		PID    int    `json:"pid"`
		Dir    string `json:"dir"`
	}
	rows := make([]row, len(members))
	for i, m := range members {
		rows[i] = row{m.role + ":" + m.name, "https://" + m.http, m.listen, family.pid(m), filepath.Dir(m.file)}
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
			Link    string `json:"link"`            // to the live page, once; of several VOs, the first one's
			Links   []link `json:"links,omitempty"` // of several VOs
		}{filepath.Join(f.dir, contextFile), rows, links[0].Link, nil}
		if len(links) > 1 {
			said.Links = links
		}
		return writeJSON(stdout, said)
	}
	w := report.NewTable("agent", "<API", "pid", "<folder")
	for _, r := range rows {
		w.AppendRow(table.Row{r.Agent, r.API, r.PID, r.Dir})
	}
	fmt.Fprintln(stdout, w.Render())
	try := ""
	if f.vos > 1 {
		try = " --context " + contextOf(f.dir, upVOName(0))
	} else if f.dir != ".bourse" {
		try = " --context " + filepath.Join(f.dir, contextFile)
	}
	if slices.ContainsFunc(members, func(m member) bool { return m.kind == upLocal }) {
		as, err := workAccount()
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout)
		_ = folded(stdout, fmt.Sprintf("Jobs with a command or a script really run here, as %s unless an [[account]] says otherwise.", as))
	}
	if len(links) == 1 {
		fmt.Fprintf(stdout, "\nThe live page, by a link that is good for one browser, once, for %s:\n  %s\n", minutes(dash.LinkLife), links[0].Link)
	} else {
		fmt.Fprintf(stdout, "\nThe live page of each VO; a link is good for one browser, once, for %s:\n", minutes(dash.LinkLife))
		for _, l := range links {
			fmt.Fprintf(stdout, "  %-5s  %s\n", l.VO, l.Link)
		}
	}
	_, err := fmt.Fprintf(stdout, "\nReady. In another terminal, in this folder:\n  bourse submit BATCH.toml --wait%s\n  bourse sites%s\n  bourse dash%s\n  bourse journal verify %s\nCtrl-C stops all.\n", try, try, try, f.dir)
	return err
}

// The waits of a family.
const (
	readyWithin = time.Minute              // of a child, from its start
	stopWithin  = patience + 5*time.Second // of a child that is told to stop; then it is killed
	restartWait = time.Second              // before a child is started again; doubled for one that fails again
	longestWait = time.Minute              // that it doubles to; a child that goes on for so long begins anew
	mostKills   = 5                        // of one child within killsWithin; then all are stopped
	killsWithin = time.Minute
)
