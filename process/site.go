package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/cluster"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
	"github.com/bourse-grid/bourse/process/failure"
	"github.com/bourse-grid/bourse/sites"
	"github.com/bourse-grid/bourse/web"
)

// RunSite runs the process of a site by its file until ctx ends, it is told to stop, or it
// fails. An error of its file is not marked as a failure.
func RunSite(ctx context.Context, file string, o Options) error {
	text, cfg, err := readSite(file)
	if err != nil {
		return err
	}
	site, clusterID := agents.ID("site:"+cfg.Name), agents.ID("cluster:"+cfg.Name)
	agent, err := cfg.Agent(clusterID, cfg.ShareSpan, cfg.Lead)
	if err != nil {
		return err
	}
	if err := Strange(file, &cfg.Process, "site", cfg.Name); err != nil {
		return err
	}
	p, err := newProcess(o, &cfg.Process, site, cfg.VOs...)
	if err != nil {
		return err
	}
	made := false
	if agent.Key, made, err = certificate.ProofKey(cfg.ProofKey); err != nil {
		return failure.Of(err)
	}
	if made {
		p.proofKeyMade(cfg.ProofKey)
	}
	nodes, err := clusters[cfg.Cluster.Kind](p, o, cfg, &agent)
	if err != nil {
		return err
	}
	if nodes.close != nil {
		defer nodes.close()
	}
	behind := cluster.New(cluster.Config{Site: site, Groups: nodes.nodes.Groups}, nodes.nodes.New())
	reconciler := func() *managed.Backend { return behind.Backend().(*managed.Backend) } // between two steps: a reload makes another
	watch := newSiteWatch(p, cfg)
	if nodes.driver != nil {
		p.tells = append(p.tells, clusterMetrics{p, clusterID, func() managed.Counts { return reconciler().Counts() }})
		watch.cluster, watch.troubles = clusterID, func() []managed.Trouble { return reconciler().Troubles() }
	}
	watch.try(ctx)
	p.lacks = watch.ready
	p.reloads.again = (&siteFile{process: p, file: file, text: text, applied: text, cfg: cfg, agent: agent, nodes: nodes, seen: map[*certificate.Store]uint64{}}).again
	further := []part{watch}
	if nodes.driver != nil {
		further = append(further, sight{p: p, cluster: clusterID, nodes: reconciler})
	}
	if meets := cfg.Rendezvous; meets.Address != "" {
		agent.Meeting = meets.Advertise
		meeting, err := p.meet(meets.Address, agent.Key)
		if err != nil {
			return failure.Of(err)
		}
		defer func() { _ = meeting.listener.Close() }()
		further = append(further, meeting)
	}
	return p.run(ctx, hosted{p: p, add: func() error {
		if nodes.driver != nil {
			if err := p.host.AddDriver(driverOf(cfg.Name), nodes.driver); err != nil {
				return err
			}
		}
		if err := p.add(clusterID, behind); err != nil {
			return err
		}
		seller := sites.New(agent)
		if err := p.add(site, seller); err != nil {
			return err
		}
		return p.keeps(seller, behind.Loses(nodes.nodes), o.Force)
	}}, func(o web.Options) (apiServer, error) { return web.NewSite(o) }, further...)
}

// keeps refuses a file that divides the nodes of legs otherwise or takes nodes away from legs,
// as a reload would, before anything is recorded: a site that starts by it would lose them. With
// force it only warns of those.
func (p *process) keeps(s *sites.Site, lost []grid.LegID, force bool) error {
	if err := s.Divides(); err != nil {
		return unusable{err}
	}
	if len(lost) == 0 {
		return nil
	}
	what := takes(len(lost), &lostLegs(s, lost[:1])[0])
	if force {
		p.log.Warn().Msg("by this file the site starts although " + what)
		return nil
	}
	return unusable{fmt.Errorf("with this file %s. To keep them, put the file back as it was and start the site again; --force starts it by this file, and they are lost with refund and penalty", what)}
}

// unusable is an error of a file that only the agents can tell.
type unusable struct{ error }

// proofKeyMade logs that a key was made. If the site has a journal, this is a warning: the
// site may have sold windows under another key.
func (p *process) proofKeyMade(file string) {
	const words = "made the key by which this site recognises its own answers; keep a copy of it"
	if files, err := os.ReadDir(p.folder(p.name)); err == nil && len(files) == 0 || errors.Is(err, fs.ErrNotExist) {
		p.log.Info().Str("file", file).Msg(words)
		return
	}
	p.log.Warn().Str("file", file).Msg(words + ". If there was another key before, windows sold until now cannot be restored if the journal is lost")
}
