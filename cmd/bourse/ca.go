package main

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
	"github.com/bourse-grid/bourse/report"
)

// newCA builds "bourse ca".
func newCA() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "ca init|issue|list|revoke|key",
		Short: "A VO's certificate authority, and the certificates of its members",
		Long: `Makes the certificate authority of a virtual organisation (VO) in a folder, and
the certificates of its members: sites and brokers, which speak to each other,
and users and operators, who speak to them. A member is named by a URI in its
certificate, bourse://VO/ROLE/NAME, and is nobody without one.

The folder holds the authority's key: keep it where no agent runs. A member gets
copies of ca.pem and of its own .pem and .key; agents also of gossip.key and,
if there is one, of revoked.txt. Copies may be replaced while agents run: they
are read again within a second. docs/SECURITY.md has the whole picture.`,
		Example: "  bourse ca init --vo atlas\n" +
			"  bourse ca issue --role site --name north --host 10.0.0.5,north.example\n" +
			"  bourse ca issue --role user --name ana --days 90",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("ca takes init, issue, list, revoke or key; see bourse ca --help")
			}
			return fmt.Errorf("ca %s: there are init, issue, list, revoke and key", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	cmd.AddCommand(newCAInit(), newCAIssue(), newCAList(), newCARevoke(), newCAKey())
	return cmd
}

// caFlags are those that every command of the authority has.
type caFlags struct {
	dir  string
	json bool
}

func (f *caFlags) add(cmd *cobra.Command) {
	addFlag(cmd, &f.dir, asFolder, "dir", "ca", "the authority's folder")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
}

// refusedOr marks what the authority will not do, or the disk cannot, as
// refused; the rest is bad input.
func refusedOr(err error) error {
	var exists *certificate.ExistsError
	var disk *fs.PathError
	if errors.As(err, &exists) || errors.As(err, &disk) && !errors.Is(err, fs.ErrNotExist) {
		return failed(err)
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
		Short: "Make the authority of a VO, and the first key of its gossip",
		Long: `Makes a key, a certificate and a key of the gossip in a folder, where nothing
of the kind may be yet. With --replace a new key and certificate take the place
of old ones; the old certificate stays second in ca.pem, so that members with
the new ca.pem trust both until it is taken out of the file.`,
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
				return writeJSON(cmd.OutOrStdout(), map[string]any{"vo": a.VO(), "dir": a.Dir(), "expires": a.Expires().UTC().Format(time.RFC3339)})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Authority of VO %s in %s, until %s.\nMembers get ca.pem, agents gossip.key too; ca.key stays where it is.\n", a.VO(), a.Dir(), a.Expires().UTC().Format(time.DateOnly))
			return err
		},
	}
	f.add(cmd)
	addFlag(cmd, &vo, asName, "vo", "", "the name of the VO: letters, digits, hyphens and dots")
	addFlag(cmd, &years, asNumber, "years", 10, "how long the authority is valid")
	cmd.Flags().BoolVar(&replace, "replace", false, "take the place of an authority that is there")
	_ = cmd.MarkFlagRequired("vo")
	return cmd
}

// caMember are the flags that name a member.
type caMember struct {
	role certificate.Role
	name string
}

func (m *caMember) add(cmd *cobra.Command) {
	addFlag(cmd, &m.role, asRole, "role", "", "site, broker, user, operator or mirror")
	addFlag(cmd, &m.name, asName, "name", "", "the member's name, as in configuration files")
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
		Long: `Makes a key and a certificate, ROLE-NAME.key and ROLE-NAME.pem in the
authority's folder. Sites and brokers need the names and addresses that others
call them at; a certificate is for those hosts only. To renew one, issue it
again with --replace and copy both files to where the old ones are.`,
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
	addWords(cmd, &hosts, "names", "host", "names and addresses that a site or broker is called at, without ports", offerNothing)
	addFlag(cmd, &days, asNumber, "days", 0, "how long it is valid; 365 if not given, or as long as the authority")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace files that are there")
	return cmd
}

func showIssued(w io.Writer, i certificate.Issued, asJSON bool) error {
	if asJSON {
		return writeJSON(w, map[string]any{"identity": i.Identity.String(), "serial": i.Serial,
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
		Short:   "List the certificates that were issued, with their ends",
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
				return writeJSON(cmd.OutOrStdout(), rows)
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
		Short: "Take back all certificates of a member",
		Long: `Puts every certificate of a member that has not expired on the list revoked.txt,
which has its effect where a copy of it lies: agents read it again within a
second and end what connections the member has. One issued later is not
concerned, so a member whose key was stolen is revoked and then issued a new
one.`,
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
				return failed(fmt.Errorf("%s %s has no certificate that is valid and not revoked; bourse ca list --dir %s shows all", m.role, m.name, f.dir))
			}
			if f.json {
				return writeJSON(cmd.OutOrStdout(), map[string]any{"revoked": serials, "list": filepath.Join(f.dir, "revoked.txt")})
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
		Short: "Change the key of the VO's gossip, in three steps",
		Long: `Changes gossip.key while agents run. After each step copy the file to all agents
and start each of them again, before the next step:
  add    a new key, which all then understand
  use    the new key is used to send
  drop   the old key is understood no more`,
		Example: "  bourse ca key add\n  bourse ca key use\n  bourse ca key drop",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("ca key takes add, use or drop; see bourse ca key --help")
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
				return writeJSON(cmd.OutOrStdout(), map[string]any{"keys": n, "file": filepath.Join(f.dir, "gossip.key")})
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s has %d now. Copy it to all agents and start each again before the next step.\n",
				filepath.Join(f.dir, "gossip.key"), n)
			return err
		},
	}
	f.add(cmd)
	return cmd
}
