package slurm

import (
	"errors"

	"strings"

	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

// What Slurm's commands say when they fail. Failures are told apart by the text on stderr,
// which is the same from 22.05 to 26.05 unless a comment says otherwise. The exit status is
// 1 for nearly everything.

// refusal is a text with what it means.
type refusal struct {
	text    string
	outcome agents.Outcome
	code    grid.Code
	remedy  string // "": the text says what to do
}

// refusals lists the texts. The first that matches counts.
var refusals = []refusal{
	// It is not known whether the command was carried out, or the manager has not answered.
	{"Unable to contact slurm controller", agents.Failure, grid.NoCluster, ""},
	{"Unexpected message received", agents.Failure, grid.NoCluster, "the controller does not answer"}, // create, with no controller
	{"Socket timed out", agents.Failure, grid.NoCluster, ""},
	{"Connection timed out", agents.Failure, grid.NoCluster, ""},
	{"Connection refused", agents.Failure, grid.NoCluster, ""},
	{"Zero Bytes were transmitted", agents.Failure, grid.NoCluster, ""},
	{"Transport endpoint", agents.Failure, grid.NoCluster, ""},
	{"in standby mode", agents.Failure, grid.NoCluster, ""},
	{"Protocol authentication error", agents.Failure, grid.NoCluster, "munge must run here with the cluster's key, and the clocks agree"},
	{"Munge", agents.Failure, grid.NoCluster, "munge must run here with the cluster's key"},
	{"temporarily unable", agents.Failure, grid.NoCluster, ""},
	{"Resource temporarily unavailable", agents.Failure, grid.NoCluster, ""},
	{"configuration source", agents.Failure, grid.NoCluster, "set conf in [cluster] to the cluster's slurm.conf"},
	{"process configuration file", agents.Failure, grid.NoCluster, "set conf in [cluster] to the cluster's slurm.conf"},

	// About nodes and times.
	{"overlaps with another reservation", agents.Denied, grid.Busy, ""},
	{"Requested nodes are busy", agents.Denied, grid.Busy, ""},
	{"Duplicate reservation name", agents.Denied, grid.Conflict, ""},
	{"Invalid node name specified", agents.Denied, grid.NoNode, ""},
	{"Start time cannot be after end time", agents.Denied, grid.Past, ""},
	{"Invalid time specified", agents.Denied, grid.Past, ""},
	{"Requested reservation is in use", agents.Denied, grid.Busy, ""},
	{"Reservation update rejected", agents.Denied, grid.Busy, ""}, // newer versions, while another's job is in it
	{"Requested reservation is invalid", agents.Denied, grid.Unknown, "there is no such reservation"},
	{"not found", agents.Denied, grid.Unknown, ""},
	{"Invalid job id specified", agents.Denied, grid.Unknown, ""},

	// About rights. The text for a user whom Slurm does not know is the same; that case
	// is checked before.
	{"Invalid user id", agents.Denied, grid.NotAllowed, rights},
	{"Access/permission denied", agents.Denied, grid.NotAllowed, rights},
	{"only permitted by root user", agents.Denied, grid.NotAllowed, rights},
	{"Access denied to requested reservation", agents.Denied, grid.NotAllowed, "the reservation is not for this account (yet)"},
	{"Invalid account or account/partition combination", agents.Denied, grid.NotAllowed, "give the account an association with the cluster: sacctmgr add user"},
	{"User's group not permitted", agents.Denied, grid.NotAllowed, ""},
	{"Invalid qos specification", agents.Denied, grid.NotAllowed, "name another qos in [[account]], or give the account that one: sacctmgr modify user"},
	{"violates accounting/QOS policy", agents.Denied, grid.NotAllowed, "name another qos or account in [[account]], or raise the limit in slurmdbd"},
}

const rights = "the site's process lacks the right: it must run as SlurmUser or root, or have AdminLevel=Operator in slurmdbd"

// judge returns the outcome of a command that failed, and why.
func judge(err error) (agents.Outcome, grid.Reason) {
	if err == nil {
		return agents.Done, grid.Reason{}
	}
	var f *Failed
	if !errors.As(err, &f) || f.Late || f.Missing {
		return agents.Failure, grid.Because(grid.NoCluster, "%v", err)
	}
	for _, r := range refusals {
		if !strings.Contains(f.Text, r.text) {
			continue
		}
		if r.remedy == "" {
			return r.outcome, grid.Because(r.code, "%s", f.Error())
		}
		return r.outcome, grid.Because(r.code, "%s; %s", f.Error(), r.remedy)
	}
	if f.Exit < 0 || f.Text == "" { // ended by a signal, or without a text
		return agents.Failure, grid.Because(grid.NoCluster, "%v", err)
	}
	return agents.Denied, grid.Because(grid.Invalid, "%v", err)
}

// says reports whether an error contains that text.
func says(err error, text string) bool {
	var f *Failed
	return errors.As(err, &f) && strings.Contains(f.Text, text)
}
