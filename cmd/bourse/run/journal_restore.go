package run

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/mirror"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/cmd/bourse/input"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/configs/kinds"
	"github.com/bourse-grid/bourse/process"
	"github.com/bourse-grid/bourse/process/failure"
)

// newJournalRestore builds "bourse journal restore".
func newJournalRestore() *cobra.Command {
	var r journalRestore
	cmd := &cobra.Command{
		Use:   "restore [DIR|HOST:PORT] [--to DIR] [--config FILE]",
		Short: "Restore journals from their mirror",
		Long: `Restores the journals of a process that lost its disk, from the mirror named by
[journal] mirror: a folder, or a host that runs bourse journal keep. With --config,
the file of the process, nothing else is needed: the file names the mirror, the
folder to restore to and the certificate to show.

Restore refuses a target that is not empty, and a mirror that a running process
still writes. From then on the mirror belongs to the restored journal: if the old
process is running after all, it stops with its next write and does not start
again. The restored journal is verified.

DIR may also be a copy made by other means. Such a copy does not stop the old
process: make sure that the agent is not running anywhere.`,
		Example: "  bourse journal restore --config /etc/bourse/site.toml\n  bourse journal restore /mnt/second/bourse --to /var/lib/bourse/journal",
		Args:    flags.Arguments(0, 1, "at most one mirror"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				r.from = args[0]
			}
			return r.run(cmd.OutOrStdout())
		},
	}
	flags.AddFlag(cmd, &r.to, flags.AsFile, "to", "", "the folder to restore to (default: journal.dir of --config)")
	flags.AddFlag(cmd, &r.config, flags.AsFile, "config", "", "the file of the site's or broker's process")
	cmd.Flags().BoolVar(&r.json, "json", false, "print JSON")
	return cmd
}

// journalRestore holds the arguments and flags.
type journalRestore struct {
	from, to, config string
	json             bool

	cfg   *configs.Process // from the file config; nil without
	agent agents.ID
}

// restoring is a journal to restore: where from, and where to.
type restoring struct {
	to   string
	open func() (journal.Disk, error)
}

// restoredJournal is the result for one journal.
type restoredJournal struct {
	Agent    agents.ID `json:"agent"`
	Path     string    `json:"path"`
	Segments int       `json:"segments"`
	Facts    uint64    `json:"facts"` // of the journal's whole life
}

func (r *journalRestore) run(out io.Writer) error {
	if err := r.read(); err != nil {
		return err
	}
	list, err := r.sources()
	if err != nil {
		return err
	}
	for _, one := range list { // check all before claiming any
		if names, err := os.ReadDir(one.to); err == nil && (len(names) > 1 || len(names) == 1 && names[0].Name() != "lock") {
			return failure.Of(fmt.Errorf("%s is not empty; move the rest of the old journal aside", one.to))
		}
	}
	said := make([]restoredJournal, 0, len(list))
	paths := make([]string, 0, len(list))
	for _, source := range list {
		one, err := source.restore()
		if err != nil {
			return err
		}
		said, paths = append(said, one), append(paths, one.Path)
	}
	if err := (&journalVerify{}).run(paths, io.Discard); err != nil {
		return fmt.Errorf("restored, but with problems, see bourse journal verify %s: %w", strings.Join(paths, " "), err)
	}
	if r.json {
		return flags.WriteJSON(out, said)
	}
	for _, one := range said {
		fmt.Fprintf(out, "%s: %d facts in %s, to %s\n", one.Agent, one.Facts, flags.Plural(one.Segments, "segment", "segments"), one.Path)
	}
	return nil
}

// read fills in what the flags do not give from the file of the process.
func (r *journalRestore) read() error {
	if r.config != "" {
		c, err := configs.Check(r.config)
		if err != nil {
			return err
		}
		switch c.Kind {
		case kinds.SiteProcess:
			s, err := configs.ReadSiteProcess(r.config)
			if err != nil {
				return err
			}
			r.cfg, r.agent = &s.Process, agents.ID("site:"+s.Name)
		case kinds.BrokerProcess:
			b, err := configs.ReadBrokerProcess(r.config)
			if err != nil {
				return err
			}
			r.cfg, r.agent = &b.Process, agents.ID("broker:"+b.Name)
		default:
			return fmt.Errorf("%s is not the file of a site's or broker's process", r.config)
		}
		r.from, r.to = cmp.Or(r.from, process.MirrorPlace(&r.cfg.Journal)), cmp.Or(r.to, r.cfg.Journal.Dir)
	}
	switch {
	case r.from == "":
		return errors.New("the mirror is missing: give DIR or HOST:PORT, or --config with a file whose [journal] has a mirror")
	case r.to == "":
		return errors.New("--to is missing: give the folder to restore to, or --config with the file of the process")
	}
	return nil
}

// sources finds the journals of the mirror.
func (r *journalRestore) sources() ([]restoring, error) {
	if info, err := os.Stat(r.from); err == nil && info.IsDir() {
		return r.folders()
	} else if !strings.Contains(r.from, ":") {
		return nil, err
	}
	if r.cfg == nil {
		return nil, fmt.Errorf("%s is a host, which asks for a certificate: give --config with the file of the process", r.from)
	}
	var store *certificate.Store
	if t := &r.cfg.TLS; !t.Plain {
		var err error
		files := certificate.Files{Authority: t.Authority, Certificate: t.Certificate, Key: t.Key, Revoked: t.Revoked}
		if store, err = certificate.Load(files, certificate.Options{}); err != nil {
			return nil, failure.Of(err)
		}
	}
	host, err := mirror.Dial(r.from, store, process.MirrorWait)
	if err != nil {
		return nil, failure.Of(err)
	}
	names, err := host.Journals()
	if err = errors.Join(err, host.Close()); err != nil {
		return nil, failure.Of(err)
	}
	var list []restoring
	for _, name := range names {
		if r.ours(name) {
			list = append(list, restoring{filepath.Join(r.to, name), func() (journal.Disk, error) { return process.DialMirror(r.from, store, name, "") }})
		}
	}
	if len(list) == 0 {
		return nil, failure.Of(fmt.Errorf("%s keeps no journal of %s", r.from, r.agent))
	}
	return list, nil
}

// folders finds the journals of a mirror that is a folder.
func (r *journalRestore) folders() ([]restoring, error) {
	found, err := input.Journals([]string{r.from})
	if err != nil {
		return nil, err
	}
	var list []restoring
	for _, s := range found {
		place, err := filepath.Rel(r.from, s.Path)
		if err != nil {
			return nil, err
		}
		if r.cfg != nil && !r.ours(filepath.Base(s.Path)) {
			continue
		}
		list = append(list, restoring{filepath.Join(r.to, place), func() (journal.Disk, error) {
			f, err := journal.OpenFolder(s.Path)
			if err != nil {
				return nil, err
			}
			return f, nil
		}})
	}
	if len(list) == 0 {
		return nil, failure.Of(fmt.Errorf("%s has no journal of %s", r.from, r.agent))
	}
	return list, nil
}

// ours reports whether a folder belongs to the agent of the file, or to its cluster.
func (r *journalRestore) ours(folder string) bool {
	_, name, _ := strings.Cut(folder, "-")
	_, own, _ := strings.Cut(mirror.Folder(r.agent), "-")
	return name == own
}

func (s *restoring) restore() (one restoredJournal, err error) {
	from, err := s.open()
	if err != nil {
		return one, failure.Of(err)
	}
	if c, ok := from.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	to, err := journal.OpenFolder(s.to)
	if err != nil {
		return one, failure.Of(err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	run, err := journal.Restore(from, to)
	if err != nil {
		return one, err
	}
	end := run[len(run)-1]
	return restoredJournal{end.Agent, s.to, len(run), end.Records + end.Facts}, nil
}
