package flags

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/facts"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/simulation/torture"
	"github.com/bourse-grid/bourse/web/api"
	"github.com/bourse-grid/bourse/web/client"
)

// Completion for shells: the words of flags, files and folders, and names from a running
// federation. Errors of the federation are ignored, because there may be none.

// Completer lists what the shell offers for a flag's value or an argument.
type Completer = cobra.CompletionFunc

// OfferNothing offers neither words nor files.
func OfferNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// OfferFolders offers folders.
func OfferFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// offerWords offers fixed words.
func offerWords(words ...string) Completer { return OfferAll(func() []string { return words }) }

// OfferAll offers words that are computed only when the shell asks.
func OfferAll(words func() []string) Completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// offerContexts offers the context files in this folder and in its subfolders.
func offerContexts(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, pattern := range []string{client.Default, "*.json", filepath.Join("*", filepath.Base(client.Default))} {
		names, _ := filepath.Glob(pattern)
		for _, name := range names {
			if _, err := client.Read(name); err == nil && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	if len(list) == 0 {
		return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// AnswerTime is how long a federation has to answer: a user is waiting at the prompt.
const AnswerTime = time.Second

// identities asks a federation for names. A description may follow each, after a tab.
type identities func(ctx context.Context, at *client.Context, args []string) ([]string, error)

// Offer offers names from the federation of the current context.
func Offer(ask identities) Completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, stop := context.WithTimeout(ctx, AnswerTime)
		defer stop()
		name := ""
		if f := cmd.Flags().Lookup("context"); f != nil {
			name = f.Value.String()
		}
		at, err := client.Find(name)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, _ := ask(ctx, at, args)
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// maxOffered is how many jobs are offered at most: the newest.
const maxOffered = 100

// JobsIn asks for the jobs in a state ("": in any), the newest first.
func JobsIn(state string) identities {
	return func(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
		server, err := at.ToBroker()
		if err != nil {
			return nil, err
		}
		list, err := server.Jobs(ctx, client.Filter{State: state, Most: maxOffered})
		words := make([]string, len(list))
		for i := range list {
			if words[i] = list[i].ID + "\t" + list[i].State; list[i].User != "" {
				words[i] += ", of " + list[i].User
			}
		}
		return words, err
	}
}

// SitesHere lists the sites whose address the context knows.
func SitesHere(_ context.Context, at *client.Context, _ []string) ([]string, error) {
	return slices.Sorted(maps.Keys(at.Sites)), nil
}

// BrokersSites lists the sites that the broker knows.
func BrokersSites(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
	server, err := at.ToBroker()
	if err != nil {
		return nil, err
	}
	list, err := server.Sites(ctx)
	var names []string
	for i := range list.Sites {
		names = append(names, list.Sites[i].Name+"\t"+list.Sites[i].State)
	}
	return names, err
}

// SitesAndJobs lists the arguments that "bourse offers" takes.
func SitesAndJobs(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	names, err := BrokersSites(ctx, at, args)
	if err != nil {
		return nil, err
	}
	jobs, err := JobsIn("placed")(ctx, at, args)
	return append(names, jobs...), err
}

// userNames lists the users who have an account with the broker.
func userNames(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
	server, err := at.ToBroker()
	if err != nil {
		return nil, err
	}
	a, err := server.Accounts(ctx)
	var names []string
	for i := range a.Users {
		if a.Users[i].User != "" {
			names = append(names, a.Users[i].User)
		}
	}
	return names, err
}

// siteNamed returns the state of the site that the first argument names.
func siteNamed(ctx context.Context, at *client.Context, args []string) (api.SiteState, error) {
	if len(args) == 0 {
		return api.SiteState{}, nil
	}
	server, err := at.ToSite(args[0])
	if err != nil {
		return api.SiteState{}, err
	}
	return server.Site(ctx)
}

// voNames lists the VO of the context, the VOs whose brokers the command's site knows,
// and the VOs that it is closed to. Sources that do not answer are left out.
func voNames(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	var names []string
	if server, err := at.ToBroker(); err == nil {
		if who, err := server.Who(ctx); err == nil {
			_, vo, _ := strings.Cut(who.Agent, ":")
			names = append(names, vo)
		}
	}
	s, err := siteNamed(ctx, at, args)
	for i := range s.Brokers {
		names = append(names, s.Brokers[i].Broker)
	}
	for _, c := range s.Closed {
		if c.VO != "" {
			names = append(names, c.VO)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// groupNames lists the groups of the command's site.
func groupNames(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	s, err := siteNamed(ctx, at, args)
	var names []string
	for i := range s.Groups {
		names = append(names, s.Groups[i].Name)
	}
	return names, err
}

func presetNames() []string {
	var names []string
	for _, p := range configs.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func jobStates() []string {
	names := []string{"open"}
	for _, s := range grid.JobStates() {
		names = append(names, s.String())
	}
	return names
}

func kindsOfFacts() []string {
	var names []string
	for _, f := range facts.Facts() {
		names = append(names, f.Kind())
	}
	return names
}

// FaultKinds lists the faults of a torture.
func FaultKinds() []string {
	var names []string
	for _, k := range torture.Kinds() {
		names = append(names, string(k))
	}
	return names
}
