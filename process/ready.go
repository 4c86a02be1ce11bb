package process

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/agents/replica"
	"github.com/bourse-grid/bourse/cluster/managed"
	"github.com/bourse-grid/bourse/grid"
)

// The table in docs/OPERATING.md, "What /readyz says", lists the states in which a process
// is of no use, and where each is found. Those of an agent are in web/health.go, those of a
// process's clock and certificate in api.go; here are those of replicas and of clusters
// of real nodes.

// viewTime bounds how long an answer of /readyz waits for an agent.
const viewTime = time.Second

// use says why a replica can be of no use to its group; nil if it leads or can lead.
func use(s *replica.Status, self agents.ID, number int) error {
	there := slices.ContainsFunc(s.Members, func(m replica.MemberStatus) bool { return m.Number == s.Number })
	switch {
	case s.Lost:
		return fmt.Errorf("%s: the group remembers more of it than its journal does, so its disk was lost or replaced by an older copy. It takes no part, and the group can bear one loss less. "+
			"Replace it: bourse replica replace %d NEW --address HOST:PORT --api URL, where NEW is an id that no member has had; never restore its journal", self, number)
	case s.Number == 0:
		return fmt.Errorf("%s: it joins its group, and waits for the state; if it was never announced: bourse replica replace OLD %d --address HOST:PORT --api URL", self, number)
	case !there:
		return fmt.Errorf("%s: another process has taken its place in the group; stop it", self)
	case s.Leader == "":
		return fmt.Errorf("%s: it knows no leader: fewer than %d of %d members hear each other", self, len(s.Members)/2+1, len(s.Members))
	}
	return nil
}

// useful says why this replica is of no use now.
func (r *replicaProcess) useful() error {
	ctx, stop := context.WithTimeout(context.Background(), viewTime)
	defer stop()
	s, err := r.status(ctx)
	if err != nil {
		return err
	}
	return use(&s, r.self, r.cfg.Replica.Number)
}

// lostEvery is how often a replica asks itself whether its disk was lost.
const lostEvery = 2 * time.Second

// watchLost writes one line if this replica's disk was lost: it never comes back by itself.
func (r *replicaProcess) watchLost(ctx context.Context) {
	for tick := time.NewTicker(lostEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		within, stop := context.WithTimeout(ctx, viewTime)
		s, err := r.status(within)
		stop()
		if err == nil && s.Lost {
			r.log.Error().Msg(use(&s, r.self, r.cfg.Replica.Number).Error())
			tick.Stop()
			return
		}
	}
}

// sight is a site's sight of its cluster of real nodes.
type sight struct {
	passive
	p       *process
	cluster agents.ID
	nodes   func() *managed.Backend // called between two steps of the cluster
}

// ready says that the resource manager has not been seen for so long that the site can sell
// nothing.
func (s sight) ready() error {
	ctx, stop := context.WithTimeout(context.Background(), viewTime)
	defer stop()
	blind := false
	if err := s.p.host.View(ctx, s.cluster, func(now grid.Time, _ agents.Agent) { blind = s.nodes().Blind(now) }); err != nil {
		return err
	}
	if blind {
		return errors.New("the resource manager has not been seen for some minutes, or not yet, so nothing can be placed here; the log names the last error")
	}
	return nil
}
