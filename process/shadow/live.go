package shadow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/bourse-grid/bourse/cluster/slurm"
	"github.com/bourse-grid/bourse/configs"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/policy/shadow"
	"github.com/bourse-grid/bourse/workload/slurmdump"
)

// Options say how a shadow runs.
type Options struct {
	Every    grid.Duration // between two looks
	For      grid.Duration // how long it runs; 0: until ctx ends
	Share    int           // of the jobs that are submitted, in millionths, so many ask for a window instead
	Events   string        // file of events; with a record "": none is written
	Commands string        // folder of Slurm's commands; "": they are on the PATH
	Messages io.Writer
}

// Run follows the cluster of a site's file until ctx ends, and returns what the file of
// events comes to. A look that fails is an event too, and the next is made in time. An error
// of the configuration is not marked as a failure.
func Run(ctx context.Context, cfg *configs.SiteProcess, o Options) (shadow.Report, error) {
	if err := follows(cfg); err != nil {
		return shadow.Report{}, err
	}
	market := shadow.NewMarket(terms(cfg, o))
	j, err := open(o.Events, cfg.Name, market)
	if err != nil {
		return shadow.Report{}, err
	}
	defer j.file.Close()
	if err := j.write(began(cfg, o, grid.Time(time.Now().UnixMilli()))); err != nil {
		return shadow.Report{}, err
	}
	if o.For > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, lasting(o.For))
		defer stop()
	}
	tick := time.NewTicker(lasting(o.Every))
	defer tick.Stop()
	said := ""
	for {
		list, err := look(ctx, cfg, o, market)
		if ctx.Err() != nil { // it was cut short
			return j.tally.Report(), nil
		}
		if err != nil {
			list = []shadow.Event{{At: grid.Time(time.Now().UnixMilli()), Unlooked: &shadow.Unlooked{Why: err.Error()}}}
		}
		if why := words(err); why != said {
			said = why
			fmt.Fprintln(o.Messages, why)
		}
		if err := j.write(list...); err != nil {
			return j.tally.Report(), err
		}
		select {
		case <-ctx.Done():
			return j.tally.Report(), nil
		case <-tick.C:
		}
	}
}

// words say how the last look went.
func words(err error) string {
	if err != nil {
		return "the cluster cannot be looked at, trying on: " + err.Error()
	}
	return "looking at the cluster; nothing is reserved"
}

func lasting(d grid.Duration) time.Duration { return time.Duration(d) * time.Millisecond }

// follows returns an error if the cluster of a file has no shadow.
func follows(cfg *configs.SiteProcess) error {
	switch {
	case cfg.Cluster.SSH != "":
		return errors.New("a shadow runs Slurm's commands on this machine; run it on a login node, and leave ssh out of [cluster]")
	case cfg.Cluster.Kind == "slurm":
		return nil
	}
	return fmt.Errorf("a shadow follows Slurm alone; set kind = \"slurm\" with its partition in [cluster], instead of %q", cfg.Cluster.Kind)
}

func began(cfg *configs.SiteProcess, o Options, at grid.Time) shadow.Event {
	return shadow.Event{At: at, Began: &shadow.Began{Site: cfg.Name, Every: o.Every, Share: o.Share}}
}

// terms are what a site's file says of its sales. Who may reserve does not count: nobody is
// who asks.
func terms(cfg *configs.SiteProcess, o Options) shadow.Terms {
	limits := cfg.Limits.Reservations()
	limits.Users = nil
	return shadow.Terms{Pricing: cfg.Pricing, Limits: limits, Share: o.Share}
}

// look looks at the cluster once.
func look(ctx context.Context, cfg *configs.SiteProcess, o Options, m *shadow.Market) ([]shadow.Event, error) {
	c := slurm.Commands{Conf: cfg.Cluster.Conf, Folder: o.Commands}
	l, err := slurm.Look(ctx, c)
	if err != nil {
		return nil, err
	}
	if l.Rules = slurm.Rules(ctx, c); l.Rules == nil {
		return nil, errors.New("scontrol show config and show partition do not say how Slurm schedules; this account must be able to run them")
	}
	queue, err := slurmdump.OpenLook(l)
	if err != nil {
		return nil, err
	}
	list, nodes, _, err := slurm.Groups(l, cfg.Cluster.Partitions, cfg.Groups)
	if err != nil {
		return nil, err
	}
	groups := make([]shadow.Group, len(list))
	for i := range list {
		groups[i] = shadow.Group{Group: list[i], Names: nodes[i]}
	}
	return m.Look(&shadow.State{Now: queue.Now, Conf: &queue.Config, Groups: groups, Nodes: queue.Nodes, Jobs: queue.Jobs}), nil
}
