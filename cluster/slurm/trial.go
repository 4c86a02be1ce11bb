package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/grid"
)

// Trial tries what a site needs of a Slurm cluster and of this machine, as the account of
// this process, and leaves nothing behind.
type Trial struct {
	Commands   Commands
	Partitions []string
	Holder     string
	Folder     string
	Name       string // of the reservation that is tried: one that no leg can have
}

// Controller says which version answers, or why none does.
func (t Trial) Controller(ctx context.Context) (said string, why grid.Reason) {
	look, err := Look(ctx, t.Commands)
	if err != nil {
		_, why = judge(err)
		return "", why
	}
	for _, p := range t.Partitions {
		if _, err := kindsOf(look, []string{p}); err != nil {
			return "", grid.Because(grid.Unknown, "%v", err)
		}
	}
	return fmt.Sprintf("%s answers, with %s", look.Source, grid.Count(len(look.Nodes), "node")), grid.Reason{}
}

// tryAhead is how far in the future the reservation lies that is tried: further than any
// job that waits now could be moved by it.
const tryAhead = 364 * 24 * time.Hour

// Rights makes a reservation of one node for the holder, a minute in a year, and deletes it.
func (t Trial) Rights(ctx context.Context) (said string, why grid.Reason) {
	if _, err := accountNamed(t.Holder); err != nil {
		return "", grid.Because(grid.NotAllowed, "there is no account %q to hold reservations; make one that runs nothing, here and where slurmctld runs: useradd --system --no-create-home --shell /usr/sbin/nologin %s", t.Holder, t.Holder)
	}
	out, err := t.Commands.Run(ctx, "sinfo", "--noheader", "-N", "--partition="+t.Partitions[0], "--format=%N")
	if err != nil {
		_, why = judge(err)
		return "", why
	}
	node, _, _ := strings.Cut(string(out), "\n")
	if node = strings.TrimSpace(node); node == "" {
		return "", grid.Because(grid.NoNode, "partition %s has no node", t.Partitions[0])
	}
	if why = t.remove(ctx); why.Refused() {
		return "", why // one that an earlier trial has left
	}
	start := grid.Time(time.Now().Add(tryAhead).UnixMilli())
	_, err = t.Commands.Run(ctx, "scontrol", "create", "reservation", "ReservationName="+t.Name, "StartTime="+uts(start), "EndTime="+uts(start.Add(grid.Minute)),
		"Nodes="+node, "Users="+t.Holder)
	_, why = judge(err)
	if why.Code == grid.Busy { // another reservation is there: who lacks the right is told that first
		return "it may make reservations, though node " + node + " is reserved at the time that was tried", grid.Reason{}
	}
	if why.Refused() {
		return "", why
	}
	if why = t.remove(ctx); why.Refused() {
		return "", grid.Because(why.Code, "reservation %s was made and cannot be deleted: %v", t.Name, why)
	}
	return "a reservation of node " + node + " was made and deleted", grid.Reason{}
}

// remove deletes the reservation that is tried, if there is one.
func (t Trial) remove(ctx context.Context) grid.Reason {
	out, err := t.Commands.Run(ctx, "scontrol", "show", "reservation", t.Name, "-o")
	if says(err, "not found") || err == nil && !strings.Contains(string(out), t.Name) {
		return grid.Reason{}
	}
	if err == nil {
		_, err = t.Commands.Run(ctx, "scontrol", "delete", "ReservationName="+t.Name)
	}
	if says(err, "Requested reservation is invalid") {
		return grid.Reason{}
	}
	_, why := judge(err)
	return why
}

// Submits asks Slurm, partition by partition, whether it would take work of an account with
// its options. It submits nothing.
func (t Trial) Submits(ctx context.Context, as string, options []string) grid.Reason {
	var a *account
	if t.Commands.Shell == nil { // otherwise all work runs as the account of the connection
		var why grid.Reason
		if a, why = lookUp(as); why.Refused() {
			return why
		}
	}
	for _, p := range t.Partitions {
		args := append(slices.Clone(options), "--test-only", "--partition="+p, "--nodes=1", "--exclusive", "--time=1", "--chdir=/", "--output=/dev/null", "--wrap=true")
		_, err := t.Commands.run(ctx, a, "", "sbatch", args...)
		if _, why := judge(err); why.Refused() {
			return grid.Because(why.Code, "in partition %s: %v", p, why)
		}
	}
	return grid.Reason{}
}

// Clock is how far the controller's clock is ahead of this machine's, to a second. It
// reports false if the controller does not say.
func (t Trial) Clock(ctx context.Context) (grid.Duration, bool, grid.Reason) {
	before := wallClock()
	out, err := t.Commands.Run(ctx, "scontrol", "show", "config")
	if err != nil {
		_, why := judge(err)
		return 0, false, why
	}
	first, _, _ := strings.Cut(string(out), "\n")
	_, stamp, ok := strings.Cut(first, "as of ")
	at, err := (record{"time": strings.TrimSpace(stamp)}).time("time")
	if !ok || err != nil || at == 0 {
		return 0, false, grid.Reason{}
	}
	now := wallClock()
	switch { // it was said between before and now, in whole seconds
	case at.Add(grid.Second) < before:
		return at.Add(grid.Second).Sub(before), true, grid.Reason{}
	case at > now:
		return at.Sub(now), true, grid.Reason{}
	}
	return 0, true, grid.Reason{}
}

// FolderTrial is what was found of the shared folder.
type FolderTrial struct {
	Said   string
	Remark string // what an operator should know even if it can be used
}

// TryFolder tries the folder of work: that it is there, belongs to this process alone, can
// be written, and lets files be given to the accounts. Whether the nodes see it cannot be
// known from here; what speaks against that is remarked.
func (t Trial) TryFolder(accounts []string) (FolderTrial, error) {
	path, err := filepath.Abs(t.Folder)
	if err != nil {
		return FolderTrial{}, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return FolderTrial{}, fmt.Errorf("there is no folder %s: %w", path, os.ErrNotExist)
	}
	if err != nil {
		return FolderTrial{}, err
	}
	if !info.IsDir() {
		return FolderTrial{}, fmt.Errorf("%s is no folder", path)
	}
	if err := ownFolder(path, info); err != nil {
		return FolderTrial{}, err
	}
	tried, err := os.MkdirTemp(path, ".try-*")
	if err != nil {
		return FolderTrial{}, fmt.Errorf("nothing can be written to folder %s: %w", path, err)
	}
	defer func() { _ = os.RemoveAll(tried) }()
	for _, name := range accounts {
		a, why := lookUp(name)
		if why.Refused() || !a.other {
			continue // told elsewhere
		}
		if err := folder(path).give(tried, a); err != nil {
			return FolderTrial{}, err
		}
		if err := os.Lchown(tried, os.Geteuid(), os.Getegid()); err != nil {
			return FolderTrial{}, fmt.Errorf("what was given to %s cannot be taken back: %w", name, err)
		}
		break
	}
	f := FolderTrial{Said: fmt.Sprintf("folder %s can be written", path)}
	if kind := fileSystem(path); kind != "" {
		f.Remark = fmt.Sprintf("folder %s is on %s, which this machine alone has: work on other machines would not find its files; name a folder that all nodes share, at the same path", path, kind)
	}
	return f, nil
}

// ownFolder says what is wrong with who may use a folder.
func ownFolder(path string, info os.FileInfo) error {
	stat, _ := info.Sys().(*syscall.Stat_t)
	if stat == nil || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("folder %s must belong to the account that the site runs as, and be written by no other: chmod 711", path)
	}
	if os.Geteuid() == 0 && info.Mode().Perm()&0o001 == 0 {
		return fmt.Errorf("folder %s must let other accounts pass, to folders of their own: chmod 711", path)
	}
	return nil
}
