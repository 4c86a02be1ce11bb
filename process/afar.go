package process

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
)

// connections is the folder, beside a site's file, for the sockets of its connections.
const connections = ".connections"

// afar reports whether a site reaches its Slurm by ssh.
func afar(cfg *configs.SiteProcess) bool { return cfg.Cluster.SSH != "" }

// shellOf is the shell in which a site's Slurm is asked; nil: it is asked by this process. Pilots
// are told by files, which only a shell writes.
func shellOf(cfg *configs.SiteProcess) *ssh.Host {
	switch {
	case !afar(cfg) && cfg.Cluster.Claims != configs.ClaimsPilots:
		return nil
	case !afar(cfg):
		return &ssh.Host{}
	}
	return &ssh.Host{Destination: cfg.Cluster.SSH, Control: filepath.Join(cfg.Cluster.Dir, connections), Login: "bourse site login SITE.toml"}
}

// LoginSite opens the connection of a site by its file in the foreground, with ssh's questions on
// the terminal, and looks whether Slurm answers over it.
func LoginSite(ctx context.Context, file string, in io.Reader, out, errs io.Writer) error {
	_, cfg, err := readSite(file)
	if err != nil {
		return err
	}
	if !afar(cfg) {
		return fmt.Errorf("%s: [cluster] has no ssh, so there is nothing to log in to", file)
	}
	h := shellOf(cfg)
	if err := h.Open(ctx, in, out, errs); err != nil {
		return failure.Of(err)
	}
	a, err := h.Call(ctx, 0, ssh.Step{Name: "squeue", Shell: "squeue --version"})
	if err != nil {
		return failure.Of(err)
	}
	if p := a.Parts["squeue"]; p.Exit != 0 {
		return failure.Of(fmt.Errorf("the connection to %s is open, but there is no squeue: put Slurm's commands on the PATH that a shell without a terminal has there, as a rule in ~/.bashrc", h.Destination))
	}
	_, err = fmt.Fprintf(out, "The connection to %s is open. It stays so for ten minutes after its last use; a site that runs keeps it open.\n", h.Destination)
	return err
}

// afarChecks lists what a site needs of a Slurm that it reaches by ssh.
func afarChecks(cfg *configs.SiteProcess) []check {
	c := slurmConfig(nil, cfg)
	c.Commands.Limit = checkLimit
	return []check{
		{"connection", true, func(context.Context) Finding {
			d, err := slurm.New(c)
			if err != nil {
				return without("%v", err)
			}
			for _, a := range cfg.Mapping() {
				if why := d.Account(a.As); why.Refused() {
					return without("%s", plainWords(why))
				}
			}
			return ok("%s answers, and its folder can be written", cfg.Cluster.SSH)
		}},
		{"controller", true, func(ctx context.Context) Finding {
			d, err := slurm.New(c)
			if err != nil {
				return without("it is reached by the connection, and there is none")
			}
			look, err := d.Look(ctx)
			if err != nil {
				return without("%v", err)
			}
			if _, _, _, err := slurm.Groups(look, cfg.Cluster.Partitions, cfg.Groups); err != nil {
				return without("%v", err)
			}
			if divides(cfg.Groups) {
				if err := slurm.Dividable(ctx, c.Commands, cfg.Cluster.Partitions); err != nil {
					return without("%v; leave slices out", err)
				}
			}
			return ok("%s answers, with %s; its clock agrees with ours", look.Source, grid.Count(len(look.Nodes), "node"))
		}},
		{"accounts", false, func(ctx context.Context) Finding {
			return trySlurmAccounts(ctx, slurm.Trial{Commands: c.Commands, Partitions: cfg.Cluster.Partitions}, cfg)
		}},
	}
}
