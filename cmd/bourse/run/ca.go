package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/report"
)

// newCA builds "bourse ca".
func newCA() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ca init|issue|list|revoke|key",
		Short: "A VO's certificate authority, and the certificates of its members",
		Long: `Makes the certificate authority of a virtual organisation (VO) in a folder, and
the certificates of its members: sites and brokers, which talk to each other,
and users and operators, who talk to them. The certificate of a member names it
with a URI, bourse://VO/ROLE/NAME; a certificate without one is refused.

The folder holds the authority's key: keep it on a machine where no agent runs.
Give each member copies of ca.pem and of its own .pem and .key; agents also need
gossip.key and, if it exists, revoked.txt. You can replace copies while agents
run: agents read them again within a second. For details see docs/SECURITY.md.`,
		Example: "  bourse ca init --vo atlas\n" +
			"  bourse ca issue --role site --name north --host 10.0.0.5,north.example\n" +
			"  bourse ca issue --role user --name ana --days 90",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("ca needs init, issue, list, revoke or key; see bourse ca --help")
			}
			return fmt.Errorf("ca %s: unknown; must be init, issue, list, revoke or key", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newCAInit(), newCAIssue(), newCAList(), newCARevoke(), newCAKey())
	return cmd
}

// caFlags are the flags that every command of the authority has.
type caFlags struct {
	dir  string
	json bool
}

func (f *caFlags) add(cmd *cobra.Command) {
	flags.AddFlag(cmd, &f.dir, flags.AsFolder, "dir", "ca", "the authority's folder")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// refusedOr marks an error as a refusal if the authority will not do it or the disk
// cannot. Other errors are bad input.
func refusedOr(err error) error {
	var exists *certificate.ExistsError
	var disk *fs.PathError
	if errors.As(err, &exists) || errors.As(err, &disk) && !errors.Is(err, fs.ErrNotExist) {
		return failure.Of(err)
	}
	return err
}

// newCAInit builds "bourse ca init".
func newCAInit() *cobra.Command {
	var f caFlags
	var vo string
	var years int
	var replace bool
	cmd := &cobra.Command{
		Use:   "init --vo NAME",
		Short: "Make the authority of a VO, and the first gossip key",
		Long: `Makes a key, a certificate and a gossip key in a folder. It refuses a folder that
already has an authority, unless --replace is given: then a new key and
certificate replace the old ones. The old certificate stays second in ca.pem, so
members with the new ca.pem trust both until you remove it from the file.`,
		Example: "  bourse ca init --vo atlas\n  bourse ca init --vo atlas --dir /srv/atlas/ca --years 5",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if years < 1 || years > 50 {
				return fmt.Errorf("--years %d: must be 1 to 50", years)
			}
			a, err := certificate.Init(f.dir, vo, certificate.InitOptions{Valid: time.Duration(years) * 365 * 24 * time.Hour, Replace: replace})
			if err != nil {
				return refusedOr(err)
			}
			if f.json {
				return flags.WriteJSON(cmd.OutOrStdout(), map[string]any{"vo": a.VO(), "dir": a.Dir(), "expires": a.Expires().UTC().Format(time.RFC3339)})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Authority of VO %s in %s, until %s.\nMembers get ca.pem, agents gossip.key too; ca.key stays where it is.\n", a.VO(), a.Dir(), a.Expires().UTC().Format(time.DateOnly))
			return err
		},
	}
	f.add(cmd)
	flags.AddFlag(cmd, &vo, flags.AsName, "vo", "", "the name of the VO: letters, digits, hyphens and dots")
	flags.AddFlag(cmd, &years, flags.AsNumber, "years", 10, "how long the authority is valid")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace an existing authority")
	_ = cmd.MarkFlagRequired("vo")
	return cmd
}

// caMember are the flags that name a member.
type caMember struct {
	role certificate.Role
	name string
}

func (m *caMember) add(cmd *cobra.Command) {
	flags.AddFlag(cmd, &m.role, flags.AsRole, "role", "", "site, broker, user, operator or mirror")
	flags.AddFlag(cmd, &m.name, flags.AsName, "name", "", "the member's name, as in configuration files")
	_ = cmd.MarkFlagRequired("role")
	_ = cmd.MarkFlagRequired("name")
}

// newCAIssue builds "bourse ca issue".
func newCAIssue() *cobra.Command {
	var f caFlags
	var m caMember
	var hosts []string
	var days int
	var replace bool
	cmd := &cobra.Command{
		Use:   "issue --role ROLE --name NAME [--host HOST,...]",
		Short: "Issue the certificate of a member of the VO",
		Long: `Makes a key and a certificate, ROLE-NAME.key and ROLE-NAME.pem, in the
authority's folder. For a site or a broker give the names and addresses at which
others reach it (--host); the certificate is valid for those hosts only. To renew
a certificate, issue it again with --replace and copy both files over the old ones.`,
		Example: "  bourse ca issue --role site --name north --host 10.0.0.5,north.example\n" +
			"  bourse ca issue --role broker --name vo1 --host broker.example\n" +
			"  bourse ca issue --role user --name ana --days 90",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("days") && (days < 1 || days > 365*50) {
				return fmt.Errorf("--days %d: must be 1 to %d", days, 365*50)
			}
			a, err := certificate.OpenAuthority(f.dir, nil)
			if err != nil {
				return err
			}
			out, err := a.Issue(certificate.Request{Role: m.role, Name: m.name, Hosts: hosts, Valid: time.Duration(days) * 24 * time.Hour, Replace: replace})
			if err != nil {
				return refusedOr(err)
			}
			return showIssued(cmd.OutOrStdout(), out, f.json)
		},
	}
	f.add(cmd)
	m.add(cmd)
	flags.AddWords(cmd, &hosts, "names", "host", "names and addresses at which a site or broker is reached, without ports", flags.OfferNothing)
	flags.AddFlag(cmd, &days, flags.AsNumber, "days", 0, "how long it is valid (default 365, at most as long as the authority)")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace existing files")
	return cmd
}

func showIssued(w io.Writer, i certificate.Issued, asJSON bool) error {
	if asJSON {
		return flags.WriteJSON(w, map[string]any{"identity": i.Identity.String(), "serial": i.Serial,
			"expires": i.Expires.UTC().Format(time.RFC3339), "certificate": i.Files.Certificate, "key": i.Files.Key})
	}
	_, err := fmt.Fprintf(w, "%s, until %s, serial %s:\n  %s\n  %s\n", i.Identity, i.Expires.UTC().Format(time.DateOnly), i.Serial, i.Files.Certificate, i.Files.Key)
	return err
}

// newCAList builds "bourse ca list".
func newCAList() *cobra.Command {
	var f caFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the certificates that were issued, and when they expire",
		Example: "  bourse ca list\n  bourse ca list --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := certificate.OpenAuthority(f.dir, nil)
			if err != nil {
				return err
			}
			list, err := a.Issued()
			if err != nil {
				return err
			}
			if f.json {
				type row struct {
					Identity string `json:"identity"`
					Serial   string `json:"serial"`
					Expires  string `json:"expires"`
					Revoked  bool   `json:"revoked"`
				}
				rows := make([]row, len(list))
				for n, i := range list {
					rows[n] = row{i.Identity.String(), i.Serial, i.Expires.UTC().Format(time.RFC3339), i.Revoked}
				}
				return flags.WriteJSON(cmd.OutOrStdout(), rows)
			}
			t := report.NewTable("role", "name", "until", "serial", "")
			for _, i := range list {
				t.AppendRow(table.Row{i.Identity.Role, i.Identity.Name, i.Expires.UTC().Format(time.DateOnly), i.Serial, map[bool]string{true: "revoked"}[i.Revoked]})
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), t.Render())
			return err
		},
	}
	f.add(cmd)
	return cmd
}

// newCARevoke builds "bourse ca revoke".
func newCARevoke() *cobra.Command {
	var f caFlags
	var m caMember
	cmd := &cobra.Command{
		Use:   "revoke --role ROLE --name NAME",
		Short: "Revoke all certificates of a member",
		Long: `Adds every unexpired certificate of a member to the list revoked.txt. The list
works wherever you put a copy of it: agents read it again within a second and
close the member's connections. Certificates issued later are not affected: if a
member's key was stolen, revoke the member and then issue a new certificate.`,
		Example: "  bourse ca revoke --role site --name north",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := certificate.OpenAuthority(f.dir, nil)
			if err != nil {
				return err
			}
			serials, err := a.Revoke(m.role, m.name)
			if err != nil {
				return refusedOr(err)
			}
			if len(serials) == 0 {
				return failure.Of(fmt.Errorf("%s %s has no valid certificate left to revoke; bourse ca list --dir %s shows all", m.role, m.name, f.dir))
			}
			if f.json {
				return flags.WriteJSON(cmd.OutOrStdout(), map[string]any{"revoked": serials, "list": filepath.Join(f.dir, "revoked.txt")})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Revoked: %s\nCopy %s to all agents.\n", strings.Join(serials, ", "), filepath.Join(f.dir, "revoked.txt"))
			return err
		},
	}
	f.add(cmd)
	m.add(cmd)
	return cmd
}

// newCAKey builds "bourse ca key".
func newCAKey() *cobra.Command {
	var f caFlags
	cmd := &cobra.Command{
		Use:   "key add|use|drop",
		Short: "Change the VO's gossip key, in three steps",
		Long: `Changes gossip.key while agents run. After each step, copy the file to all
agents and restart each of them before the next step:
  add    agents also accept a new key
  use    agents send with the new key
  drop   agents no longer accept the old key`,
		Example: "  bourse ca key add\n  bourse ca key use\n  bourse ca key drop",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("ca key needs add, use or drop; see bourse ca key --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := certificate.OpenAuthority(f.dir, nil)
			if err != nil {
				return err
			}
			n, err := a.RotateGossip(certificate.KeyStep(args[0]))
			if err != nil {
				return refusedOr(err)
			}
			if f.json {
				return flags.WriteJSON(cmd.OutOrStdout(), map[string]any{"keys": n, "file": filepath.Join(f.dir, "gossip.key")})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s now has %d. Copy it to all agents and restart each before the next step.\n",
				filepath.Join(f.dir, "gossip.key"), n)
			return err
		},
	}
	f.add(cmd)
	return cmd
}
