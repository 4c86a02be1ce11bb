package slurm

import (
	"errors"

	"strings"

	"github.com/bourse-grid/bourse"
	"github.com/bourse-grid/bourse/agents"
)

// What Slurm's commands say when they fail. Failures are told apart by the text on stderr,
// which is the same from 22.05 to 26.05 unless a comment says otherwise. The exit status is
// 1 for nearly everything.

// refusal is a text with what it means.
type refusal struct {
	text    string
	outcome agents.Outcome
	code    bourse.Code
	remedy  string // "": the text says what to do
}

// refusals lists the texts. The first that matches counts.
var refusals = []refusal{
	// It is not known whether the command was carried out, or the manager has not answered.
	{"Unable to contact slurm controller", agents.Failure, bourse.NoCluster, ""},
	{"Unexpected message received", agents.Failure, bourse.NoCluster, "the controller does not answer"}, // create, with no controller
	{"Socket timed out", agents.Failure, bourse.NoCluster, ""},
	{"Connection timed out", agents.Failure, bourse.NoCluster, ""},
	{"Connection refused", agents.Failure, bourse.NoCluster, ""},
	{"Zero Bytes were transmitted", agents.Failure, bourse.NoCluster, ""},
	{"Transport endpoint", agents.Failure, bourse.NoCluster, ""},
	{"in standby mode", agents.Failure, bourse.NoCluster, ""},
	{"Protocol authentication error", agents.Failure, bourse.NoCluster, "munge must run here with the cluster's key, and the clocks agree"},
	{"Munge", agents.Failure, bourse.NoCluster, "munge must run here with the cluster's key"},
	{"temporarily unable", agents.Failure, bourse.NoCluster, ""},
	{"Resource temporarily unavailable", agents.Failure, bourse.NoCluster, ""},
	{"configuration source", agents.Failure, bourse.NoCluster, "set conf in [cluster] to the cluster's slurm.conf"},
	{"process configuration file", agents.Failure, bourse.NoCluster, "set conf in [cluster] to the cluster's slurm.conf"},

	// About nodes and times.
	{"overlaps with another reservation", agents.Denied, bourse.Busy, ""},
	{"Requested nodes are busy", agents.Denied, bourse.Busy, ""},
	{"Duplicate reservation name", agents.Denied, bourse.Conflict, ""},
	{"Invalid node name specified", agents.Denied, bourse.NoNode, ""},
	{"Start time cannot be after end time", agents.Denied, bourse.Past, ""},
	{"Invalid time specified", agents.Denied, bourse.Past, ""},
	{"Requested reservation is in use", agents.Denied, bourse.Busy, ""},
	{"Reservation update rejected", agents.Denied, bourse.Busy, ""}, // newer versions, while another's job is in it
	{"Requested reservation is invalid", agents.Denied, bourse.Unknown, "there is no such reservation"},
	{"not found", agents.Denied, bourse.Unknown, ""},
	{"Invalid job id specified", agents.Denied, bourse.Unknown, ""},

	// About rights. The text for a user whom Slurm does not know is the same; that case
	// is checked before.
	{"Invalid user id", agents.Denied, bourse.NotAllowed, rights},
	{"Access/permission denied", agents.Denied, bourse.NotAllowed, rights},
	{"only permitted by root user", agents.Denied, bourse.NotAllowed, rights},
	{"Access denied to requested reservation", agents.Denied, bourse.NotAllowed, "the reservation is not for this account (yet)"},
	{"Invalid account or account/partition combination", agents.Denied, bourse.NotAllowed, "give the account an association with the cluster: sacctmgr add user"},
	{"User's group not permitted", agents.Denied, bourse.NotAllowed, ""},
	{"Invalid qos specification", agents.Denied, bourse.NotAllowed, "name another qos in [[account]], or give the account that one: sacctmgr modify user"},
	{"violates accounting/QOS policy", agents.Denied, bourse.NotAllowed, "name another qos or account in [[account]], or raise the limit in slurmdbd"},
}

const rights = "the site's process lacks the right: it must run as SlurmUser or root, or have AdminLevel=Operator in slurmdbd"

// judge returns the outcome of a command that failed, and why.
func judge(err error) (agents.Outcome, bourse.Reason) {
	if err == nil {
		return agents.Done, bourse.Reason{}
	}
	var f *Failed
	if !errors.As(err, &f) || f.Late || f.Missing {
		return agents.Failure, bourse.Because(bourse.NoCluster, "%v", err)
	}
	for _, r := range refusals {
		if !strings.Contains(f.Text, r.text) {
			continue
		}
		if r.remedy == "" {
			return r.outcome, bourse.Because(r.code, "%s", f.Error())
		}
		return r.outcome, bourse.Because(r.code, "%s; %s", f.Error(), r.remedy)
	}
	if f.Exit < 0 || f.Text == "" { // ended by a signal, or without a text
		return agents.Failure, bourse.Because(bourse.NoCluster, "%v", err)
	}
	return agents.Denied, bourse.Because(bourse.Invalid, "%v", err)
}

// says reports whether an error contains that text.
func says(err error, text string) bool {
	var f *Failed
	return errors.As(err, &f) && strings.Contains(f.Text, text)
}
