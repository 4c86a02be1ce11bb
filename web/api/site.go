package api

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// SiteState is the state of a site.
type SiteState struct {
	Name        string        `json:"name"`
	Now         Instant       `json:"now" doc:"by its clock"`
	Drained     *Drained      `json:"drained,omitempty" doc:"present while it accepts nothing new"`
	Closed      []Closed      `json:"closed" doc:"VOs and users to which it is closed"`
	Maintenance []Maintenance `json:"maintenance" doc:"maintenance that has not ended"`
	Open        int           `json:"open" doc:"legs that hold nodes"`
	Kept        int           `json:"kept" doc:"legs remembered, open or over"`
	Groups      []Group       `json:"groups,omitempty" doc:"absent until its cluster has answered"`
	Brokers     []Debt        `json:"brokers,omitempty" doc:"what each has paid and owes; only for operators"`
	Shares      []VOShare     `json:"shares,omitempty" doc:"shares of node-time that VOs may hold, if limited; only for operators"`
	Mirror      *Mirror       `json:"mirror,omitempty" doc:"second copy of its journals, if there is one; only for operators"`
	Words       []string      `json:"words,omitempty" doc:"what it accepts, and to whom it is closed, in words"`
}

// VOShare is how much of a site's node-time a VO may hold, and how much it holds now.
type VOShare struct {
	VO    string  `json:"vo,omitempty" doc:"a VO or a broker; absent: all together"`
	Share float64 `json:"share" doc:"share of the node-time of the next span that its legs may hold, 0 to 1"`
	Held  float64 `json:"held" doc:"share that its legs hold now"`
	Span  string  `json:"span" doc:"the site's share_span" example:"7d"`
	LetGo bool    `json:"letGo,omitempty" doc:"the site no longer listens to its brokers, but keeps its legs until they end"`
}

// Mirror is the state of the second copy of an agent's journals.
type Mirror struct {
	Place   string  `json:"place" doc:"a folder, or HOST:PORT"`
	Current bool    `json:"current" doc:"it is complete"`
	Since   Instant `json:"since" doc:"since when it is complete, or behind"`
	Why     string  `json:"why,omitempty" doc:"why it is behind"`
}

// Drained says until when a site accepts nothing new.
type Drained struct {
	Until Instant `json:"until,omitzero" doc:"absent: until further notice"`
	Why   string  `json:"why,omitempty"`
}

// Closed says to whom a site is closed: a VO, a user, or that user of that VO.
type Closed struct {
	VO   string `json:"vo,omitempty"`
	User string `json:"user,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Maintenance is a window in which nodes are out of service.
type Maintenance struct {
	Name  string  `json:"name"`
	Group string  `json:"group"`
	Nodes int     `json:"nodes"`
	Start Instant `json:"start"`
	End   Instant `json:"end"`
	Why   string  `json:"why,omitempty"`
}

// Debt is what a broker has paid a site, net of refunds, and what is pending.
type Debt struct {
	Broker  string  `json:"broker"`
	Paid    Credits `json:"paid"`
	Pending Credits `json:"pending"`
}

// DrainWish asks a site to accept nothing new.
type DrainWish struct {
	Until string `json:"until,omitempty" maxLength:"40" doc:"RFC 3339, or a span from now such as 2h; default: until further notice"`
	Why   string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to whoever is refused"`
}

// CloseWish asks a site to accept nothing new from a VO, a user, or that user of that VO.
type CloseWish struct {
	VO   string `json:"vo,omitempty" maxLength:"256" doc:"the name of its broker"`
	User string `json:"user,omitempty" maxLength:"256"`
	Why  string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to whoever is refused"`
	// Ahead must be given explicitly, because names are easily mistyped.
	Ahead bool `json:"ahead,omitempty" doc:"allow a VO that the site does not know; otherwise that is refused"`
}

// OpenWish asks a site to end a close of the same VO and user.
type OpenWish struct {
	VO   string `json:"vo,omitempty" maxLength:"256"`
	User string `json:"user,omitempty" maxLength:"256"`
}

// MaintenanceWish asks a site to take nodes out of service in a window.
type MaintenanceWish struct {
	Name  string `json:"name" minLength:"1" maxLength:"64" doc:"until the window ends, the same name means the same window"`
	Group string `json:"group" minLength:"1" maxLength:"100"`
	Nodes int    `json:"nodes,omitempty" minimum:"0" maximum:"1000000" doc:"0: all of the group"`
	Start string `json:"start,omitempty" maxLength:"40" doc:"RFC 3339, or a span from now; default: now"`
	End   string `json:"end" minLength:"1" maxLength:"40" doc:"RFC 3339, or a span from now"`
	Why   string `json:"why,omitempty" maxLength:"256"`
	Force bool   `json:"force,omitempty" doc:"kill local jobs and drop legs that are in the way; legs are lost with refund and penalty, and their brokers repair them. Otherwise the window is refused if anything is in the way"`
}

// ReloadWish says how a process reads its file again.
type ReloadWish struct {
	DryRun bool   `json:"dryRun,omitempty" doc:"change nothing, and say what would come of it"`
	Force  bool   `json:"force,omitempty" doc:"take nodes away from legs that hold them: those are lost with refund and penalty, and their brokers repair them. Otherwise such a file is refused"`
	Why    string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to those whose legs are lost"`
}

// Reloaded is what a process changed when it read its file again.
type Reloaded struct {
	DryRun  bool      `json:"dryRun,omitempty" doc:"nothing was changed: this is what would come of it"`
	Changed []string  `json:"changed" doc:"in words; empty: nothing"`
	Restart []string  `json:"restart" doc:"keys and tables that differ from those at the start and need a restart"`
	Lost    []LostLeg `json:"lost,omitempty" doc:"legs that lose their nodes, up to 100"`
	Legs    int       `json:"legs,omitempty" doc:"how many legs lose their nodes"`
	Jobs    int       `json:"jobs,omitempty" doc:"simulated local jobs that are killed or turned away, because they have no nodes any more"`
	Refused string    `json:"refused,omitempty" doc:"of a dry run: why the same without dryRun would be refused"`
}

// LostLeg is a leg that loses its nodes.
type LostLeg struct {
	Leg    string  `json:"leg"`
	Broker string  `json:"broker,omitempty" doc:"absent: it is maintenance"`
	Name   string  `json:"name,omitempty" doc:"of the maintenance"`
	Job    string  `json:"job,omitempty"`
	User   string  `json:"user,omitempty"`
	State  string  `json:"state,omitempty"`
	Group  string  `json:"group,omitempty"`
	Nodes  int     `json:"nodes,omitempty"`
	Start  Instant `json:"start,omitzero"`
	End    Instant `json:"end,omitzero"`
}

// Message is the wish as the site takes it, counted from now; an error names a wrong key.
func (w *MaintenanceWish) Message(now grid.Time) (agents.Message, error) {
	m := agents.Maintenance{Name: w.Name, Group: w.Group, Nodes: w.Nodes, Why: w.Why, Force: w.Force}
	var err error
	if m.Start, err = MomentAt(w.Start, now, now); err == nil {
		m.End, err = MomentAt(w.End, now, 0)
	}
	return m, err
}
