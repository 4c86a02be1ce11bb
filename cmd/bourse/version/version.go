// Package version tells which build of bourse this is, by its command and to other commands.
package version

import (
	"cmp"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/agents/journal"
	"github.com/bourse-grid/bourse/agents/wire"
	"github.com/bourse-grid/bourse/cmd/bourse/flags"
	"github.com/bourse-grid/bourse/process/failure"
)

// Set by the linker: the version of a release, and the commit if Go has not recorded it.
// go install MODULE@VERSION passes no linker flags; there Go records the version.
var (
	release = "unreleased"
	commit  = ""
)

// Version describes this binary.
type Version struct {
	Version  string `json:"version"`
	After    string `json:"after,omitempty"` // of a build that is no release: the last one before it
	Commit   string `json:"commit"`          // "" if the build does not know it
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Wire     int    `json:"wire"`
	Journal  int    `json:"journal"`
}

// Of reads the version of this binary.
func Of() Version {
	v := Version{Version: release, Commit: commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Wire: wire.Version, Journal: journal.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.built(info)
	}
	v.follows(Releases())
	return v
}

// pseudo matches the version that Go makes up for a commit without a tag: a time and the
// commit's first twelve digits, with "+dirty" at the end if files had changed.
const pseudo = `[-.]\d{14}-([0-9a-f]{12})(\+.*)?$`

// built takes what Go has recorded in the binary. A commit without a tag is not a release,
// whatever Go calls it.
func (v *Version) built(info *debug.BuildInfo) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = cmp.Or(v.Commit, s.Value)
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	switch m := regexp.MustCompile(pseudo).FindStringSubmatch(info.Main.Version); {
	case m != nil:
		v.Commit = cmp.Or(v.Commit, m[1])
	case v.Version == "unreleased" && strings.HasPrefix(info.Main.Version, "v"):
		v.Version = strings.TrimSuffix(info.Main.Version, "+dirty")
	}
}

// follows takes the release that the build comes after, unless it is one itself.
func (v *Version) follows(list []Release) {
	if last := list[len(list)-1]; v.Version == "unreleased" {
		v.After = last.Version + " of " + last.Day
	}
}

// String returns the version as one line.
func (v Version) String() string {
	version := v.Version
	if v.After != "" {
		version += ", after " + v.After
	}
	commit := cmp.Or(v.Commit, "unknown")
	if v.Modified {
		commit += ", with changes"
	}
	return fmt.Sprintf("bourse %s (commit %s, %s, %s, wire %d, journal %d)", version, commit, v.Go, v.Platform, v.Wire, v.Journal)
}

// Brief is the version for the files of a run.
func (v Version) Brief() string {
	if v.Version == "unreleased" && v.Commit != "" {
		return v.Version + " " + v.Commit[:min(12, len(v.Commit))]
	}
	return v.Version
}

// New builds "bourse version".
func New() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Long: `Version prints the version of the binary, the commit and the Go release that it was
built from, and the versions of its two lasting formats: the messages between
processes (wire) and the journal. Processes with the same wire version can talk to
each other; a journal can be read by builds with its version.`,
		Example: "  bourse version\n  bourse version --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return failure.Of(flags.WriteJSON(cmd.OutOrStdout(), Of()))
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), Of())
			return failure.Of(err)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
