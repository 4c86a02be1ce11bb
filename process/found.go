package process

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/cluster/ssh"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
)

// Found is what an account finds of the Slurm that it reaches by ssh.
type Found struct {
	Account   string // there
	Partition string // where Slurm submits what names none
	Groups    []grid.Group
}

// Terminal is where ssh asks its questions, such as for a second factor.
type Terminal struct {
	In        io.Reader
	Out, Errs io.Writer
}

// FindSlurm looks what there is at the other end of ssh, for the file of a site in a folder: the
// connection that it opens is then the site's. If the connection must be opened by hand, ssh asks
// on the terminal; nil: nobody can be asked. It leaves nothing there.
func FindSlurm(ctx context.Context, destination, dir string, asks *Terminal) (*Found, error) {
	h := &ssh.Host{Destination: destination, Control: filepath.Join(dir, connections), Login: "bourse up on a terminal"}
	who := ssh.Step{Name: "who", Shell: "id -un"}
	a, err := h.Call(ctx, 0, who)
	if ssh.NeedsLogin(err) && asks != nil {
		if err := h.Open(ctx, asks.In, asks.Out, asks.Errs); err != nil {
			return nil, failure.Of(err)
		}
		a, err = h.Call(ctx, 0, who)
	}
	if err != nil {
		return nil, failure.Of(err)
	}
	f := &Found{Account: strings.TrimSpace(string(a.Parts["who"].Out))}
	if f.Account == "" || f.Account == "root" {
		return nil, failure.Of(fmt.Errorf("%s leads to account %q, as which no work runs; name another one, as in ana@login.north.example", destination, f.Account))
	}
	look, err := slurm.LookOver(ctx, h)
	if err != nil {
		return nil, failure.Of(fmt.Errorf("%s: %w", destination, err))
	}
	return f, failure.Of(f.choose(look, destination))
}

// choose takes the default partition, or the first that has nodes, and the groups of its nodes.
func (f *Found) choose(look *grid.Look, destination string) (err error) {
	have := slurm.Partitions(look)
	if len(have) == 0 {
		return fmt.Errorf("no partition of %s has nodes", destination)
	}
	f.Partition = have[0]
	for _, p := range look.Partitions {
		if p.Default && slices.Contains(have, p.Name) {
			f.Partition = p.Name
		}
	}
	f.Groups, _, err = slurm.Kinds(look, f.Partition)
	return err
}

// OpenSite opens the connection of a site by its file, if it has one that must be opened by hand
// and is not open. If nobody can be asked it does nothing: the site says what it needs.
func OpenSite(ctx context.Context, file string, asks *Terminal) error {
	_, cfg, err := readSite(file)
	if err != nil || asks == nil || !afar(cfg) {
		return err
	}
	h := shellOf(cfg)
	if _, err := h.Call(ctx, 0, ssh.Step{Name: "open", Shell: "true"}); !ssh.NeedsLogin(err) {
		return nil
	}
	return failure.Of(h.Open(ctx, asks.In, asks.Out, asks.Errs))
}
