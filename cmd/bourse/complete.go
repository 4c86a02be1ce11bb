package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/simulation/torture"
	"github.com/bourse-grid/bourse/web"
	"github.com/bourse-grid/bourse/web/client"
)

// What shells complete: the words of flags, files and folders, and what a running
// federation has. Of that nothing is said that goes wrong: there may be none.

// completer says what the shell offers in place of a flag's value or an argument.
type completer = cobra.CompletionFunc

func offerNothing(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func offerFolders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// offerWords offers a few words.
func offerWords(words ...string) completer { return offerAll(func() []string { return words }) }

// offerAll offers words that are asked for when the shell does.
func offerAll(words func() []string) completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// offerContexts offers the context files of this folder and of those in it.
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

// answerTime is how long a federation has to answer: somebody waits at a prompt.
const answerTime = time.Second

// identities asks a federation for names. A description may follow each, after a tab.
type identities func(ctx context.Context, at *client.Context, args []string) ([]string, error)

// offer offers what the federation of the context at hand has.
func offer(ask identities) completer {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		ctx, stop := context.WithTimeout(ctx, answerTime)
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

// maxOffered bounds the jobs that are offered, the newest.
const maxOffered = 100

// jobsIn asks for the jobs of a state, "" of any, the newest first.
func jobsIn(state string) identities {
	return func(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
		api, err := at.ToBroker()
		if err != nil {
			return nil, err
		}
		list, err := api.Jobs(ctx, client.Filter{State: state, Most: maxOffered})
		words := make([]string, len(list))
		for i := range list {
			if words[i] = list[i].ID + "\t" + list[i].State; list[i].User != "" {
				words[i] += ", of " + list[i].User
			}
		}
		return words, err
	}
}

// sitesHere are the sites that the context knows an address of.
func sitesHere(_ context.Context, at *client.Context, _ []string) ([]string, error) {
	return slices.Sorted(maps.Keys(at.Sites)), nil
}

// brokersSites are the sites that the broker knows.
func brokersSites(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
	api, err := at.ToBroker()
	if err != nil {
		return nil, err
	}
	list, err := api.Sites(ctx)
	var names []string
	for i := range list.Sites {
		names = append(names, list.Sites[i].Name+"\t"+list.Sites[i].State)
	}
	return names, err
}

// sitesAndJobs are what offers takes.
func sitesAndJobs(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	names, err := brokersSites(ctx, at, args)
	if err != nil {
		return nil, err
	}
	jobs, err := jobsIn("placed")(ctx, at, args)
	return append(names, jobs...), err
}

// userNames are those that have an account with the broker.
func userNames(ctx context.Context, at *client.Context, _ []string) ([]string, error) {
	api, err := at.ToBroker()
	if err != nil {
		return nil, err
	}
	a, err := api.Accounts(ctx)
	var names []string
	for i := range a.Users {
		if a.Users[i].User != "" {
			names = append(names, a.Users[i].User)
		}
	}
	return names, err
}

// siteNamed is how the site stands that a command's first argument names.
func siteNamed(ctx context.Context, at *client.Context, args []string) (web.SiteState, error) {
	if len(args) == 0 {
		return web.SiteState{}, nil
	}
	api, err := at.ToSite(args[0])
	if err != nil {
		return web.SiteState{}, err
	}
	return api.Site(ctx)
}

// voNames are the VO of the context, those whose brokers the site of the command knows
// and those that it is closed to. Each that cannot be asked is left out.
func voNames(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	var names []string
	if api, err := at.ToBroker(); err == nil {
		if who, err := api.Who(ctx); err == nil {
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

// groupNames are the groups of the command's site.
func groupNames(ctx context.Context, at *client.Context, args []string) ([]string, error) {
	s, err := siteNamed(ctx, at, args)
	var names []string
	for i := range s.Groups {
		names = append(names, s.Groups[i].Name)
	}
	return names, err
}

// firstArguments is what the first argument of a command may be.
var firstArguments = map[string]completer{
	"jobs": offer(jobsIn("")), "explain": offer(jobsIn("")), "logs": offer(jobsIn("")),
	"cancel": offer(jobsIn("open")), "modify": offer(jobsIn("placed")), "offers": offer(sitesAndJobs),
	"sites": offer(sitesHere), "drain": offer(sitesHere), "close": offer(sitesHere), "open": offer(sitesHere),
	"maintenance": offer(sitesHere), "site lost": offer(brokersSites),
	"study": offerAll(studyNames), "export": offerFolders, "report": offerFolders,
	"accounts deposit": offerNothing,
}

// completeArguments has the shell complete the first argument of commands; those that
// take further ones of its kind are few.
func completeArguments(root *cobra.Command) {
	for path, c := range firstArguments {
		cmd, _, err := root.Find(strings.Fields(path))
		if err != nil || cmd.CommandPath() != root.Name()+" "+path {
			panic("no command " + path)
		}
		several := path == "export" || path == "report"
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 && !several {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return c(cmd, args, begun)
		}
	}
}

func presetNames() []string {
	var names []string
	for _, p := range configs.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func studyNames() []string {
	var names []string
	for _, e := range experiments() {
		names = append(names, e.name+"\t"+e.about)
	}
	return names
}

func jobStates() []string {
	names := []string{"open"}
	for _, s := range bourse.JobStates() {
		names = append(names, s.String())
	}
	return names
}

func kindsOfFacts() []string {
	var names []string
	for _, f := range bourse.Facts() {
		names = append(names, f.Kind())
	}
	return names
}

func faultKinds() []string {
	var names []string
	for _, k := range torture.Kinds() {
		names = append(names, string(k))
	}
	return names
}
