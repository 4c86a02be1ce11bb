package slurmdump

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// of reads a configuration from texts by name; the first is the file itself.
func of(name string, texts map[string]string) (*Cluster, error) {
	r := reader{read: func(name string) (string, error) {
		if t, ok := texts[name]; ok {
			return t, nil
		}
		return "", &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}}
	if err := r.take(name, texts[name], 0); err != nil {
		return nil, err
	}
	return configured(r.lines, name)
}

const small = "NodeName=n[1-4] CPUs=2\nPartitionName=batch Nodes=ALL Default=YES OverSubscribe=EXCLUSIVE\n"

func mustOf(t *testing.T, text string) *Cluster {
	t.Helper()
	c, err := of("slurm.conf", map[string]string{"slurm.conf": text})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConf_KeysIncludesAndContinuations(t *testing.T) {
	t.Parallel()
	c, err := of("/etc/slurm/slurm.conf", map[string]string{
		"/etc/slurm/slurm.conf": "ClusterName=uni # a comment\nschedulertype=sched/backfill\nInclude more.conf\nSchedulerParameters=bf_interval=60,BF_Window=2880,\\\nbf_max_job_user=20,defer,bf_continue\n" +
			"PriorityMaxAge=14-0\nPriorityCalcPeriod=10\nPriorityWeightAge=7\nPriorityWeightAge=1000\nNodeName=DEFAULT CPUs=4\nNodeName=n[01-03]\nNodeName=n04 Sockets=2 CoresPerSocket=3\nNodeName=later[1-9] State=FUTURE\n",
		"/etc/slurm/more.conf":      "include /etc/slurm/parts.%c\nKillWait=45\nOverTimeLimit=5\n",
		"/etc/slurm/parts.uni":      "NodeSet=fat Nodes=n04\nPartitionName=DEFAULT MaxTime=2:00:00 PriorityTier=3\nPartitionName=a Nodes=n[01-02],fat MaxNodes=2\nPartitionName=b Nodes=ALL MaxTime=UNLIMITED Priority=9 DefaultTime=30\n",
		"/etc/slurm/parts.%c":       "",
		"/etc/slurm/unrelated.conf": "",
	})
	if err != nil {
		t.Fatal(err)
	}
	s, p := &c.Scheduler, &c.Priority
	if s.Interval != grid.Minute || s.Window != 2*grid.Day || s.MaxJobUser != 20 || !s.Defer || s.Resolution != grid.Minute {
		t.Errorf("scheduler %+v", *s)
	}
	if p.MaxAge != 14*grid.Day || p.CalcPeriod != 10*grid.Minute || p.Age != 1000 || c.KillWait != 45*grid.Second || c.OverTimeLimit != 5*grid.Minute {
		t.Errorf("priority %+v, KillWait %v, OverTimeLimit %v", *p, c.KillWait, c.OverTimeLimit)
	}
	if fmt.Sprint(c.Nodes, c.CPUs) != "[n01 n02 n03 n04] [4 4 4 6]" {
		t.Errorf("nodes %v %v", c.Nodes, c.CPUs)
	}
	a, b := c.Partitions[0], c.Partitions[1]
	if a.Nodes.Count() != 3 || !a.Nodes.Has(3) || a.MaxTime != 2*grid.Hour || a.MaxNodes != 2 || a.Tier != 3 {
		t.Errorf("partition a: %+v", a)
	}
	if b.Nodes.Count() != 4 || b.MaxTime != grid.MaxDuration || b.Tier != 9 || b.JobFactor != 9 || b.Limit() != 30*grid.Minute {
		t.Errorf("partition b: %+v", b)
	}
	if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, "bf_continue") || !strings.Contains(notes, "ClusterName") {
		t.Errorf("what is not used is not named: %s", notes)
	}
}

func TestConf_WhatScontrolShows(t *testing.T) {
	t.Parallel()
	c := mustOf(t, `Configuration data as of 2026-03-02T08:00:00
AccountingStorageEnforce = associations,limits,qos
KillWait                = 30 sec
OverTimeLimit           = 1 min
PreemptMode             = OFF
PreemptType             = preempt/none
PriorityCalcPeriod      = 00:05:00
PriorityDecayHalfLife   = 7-00:00:00
PriorityFavorSmall      = No
PriorityWeightAge       = 1000
SchedulerParameters     = (null)
SchedulerType           = sched/backfill
Slurmctld(primary) at host is UP
PartitionName=batch AllowGroups=ALL Default=YES DefaultTime=01:00:00 MaxNodes=UNLIMITED MaxTime=2-00:00:00 Nodes=n[1-2] PriorityJobFactor=4 PriorityTier=2 OverSubscribe=EXCLUSIVE State=UP TotalCPUs=16 TotalNodes=2
NodeName=n1 Arch=x86_64 CoresPerSocket=4 CPUAlloc=0 CPUTot=8 OS=Linux 5.10.0 #1 SMP Debian State=IDLE ThreadsPerCore=1
NodeName=n2 Arch=x86_64 CPUAlloc=0 CPUTot=8 State=IDLE
PartitionName=batch Nodes=n1 MaxTime=60
NodeName=n[1-2] CPUs=1
`)
	p := c.Partitions[0]
	if p.MaxTime != 2*grid.Day || p.Nodes.Count() != 2 || p.JobFactor != 4 || p.Tier != 2 || p.Limit() != grid.Hour || c.CPUs[0] != 8 {
		t.Errorf("what scontrol shows must win over the file: %+v, CPUs %v", p, c.CPUs)
	}
	if !c.Limits || !c.QOSLimits || c.KillWait != 30*grid.Second || c.OverTimeLimit != grid.Minute || c.Priority.CalcPeriod != 5*grid.Minute {
		t.Errorf("%+v", c.Config)
	}
}

func TestConf_WhatMustNotBeReadOver(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ text, want string }{
		{"PartitionName=a Nodes=ALL\n", "names no node"},
		{"NodeName=a\n", "names no partition"},
		{small + "SchedulerType=sched/builtin\n", "slurm.conf: line 3: SchedulerType: sched/builtin is not modelled; must be sched/backfill"},
		{small + "PreemptType=preempt/qos\n", "slurm.conf: line 3: PreemptType: preempt/qos: preemption is not modelled; set PreemptType=preempt/none"},
		{small + "PreemptMode=SUSPEND,GANG\n", "gang scheduling is not modelled"},
		{small + "PriorityType=priority/x\n", "must be priority/basic or priority/multifactor"},
		{small + "\nSchedulerParameters=bf_interval=x\n", "slurm.conf: line 4: SchedulerParameters: bf_interval: \"x\" is no length of time"},
		{small + "PriorityWeightAge=-1\n", "no whole number"},
		{small + "PartitionName=b Nodes=n9\n", "slurm.conf: line 3: Nodes: n9 is no node of the cluster"},
		{small + "PartitionName=b\n", "partition b has no nodes"},
		{small + "Include gone.conf\n", "slurm.conf: line 3: Include: gone.conf"},
		{"Include slurm.conf\n", "Includes deep"},
	} {
		_, err := ofText(of.text)
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%q: error %v, want one with %q", of.text, err, of.want)
		}
	}
}

func ofText(text string) (*Cluster, error) {
	return of("slurm.conf", map[string]string{"slurm.conf": text})
}

const qosText = "Name|Priority|Flags|UsageFactor|GrpTRES|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MaxTRESPA|MaxJobsPA\n" +
	"normal|0||1.000000||||||||\nsmall|10||0.500000|cpu=8,node=2|4|node=1|1-00:00:00|cpu=2|3|node=4|5\n"

func TestQOS_Limits(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small)
	if err := c.readQOS("qos.txt", qosText); err != nil {
		t.Fatal(err)
	}
	q := c.QOS[1]
	want := twin.Limits{GrpJobs: 4, GrpNodes: 2, GrpCPUs: 8, MaxJobs: twin.Unlimited, UserJobs: 3, UserNodes: twin.Unlimited, UserCPUs: 2, AcctJobs: 5, AcctNodes: 4,
		AcctCPUs: twin.Unlimited, JobNodes: 1, JobCPUs: twin.Unlimited, JobTime: grid.Day}
	if q.Limits != want || q.Priority != 10 || q.UsageFactor != 500 || c.QOS[0].Limits != twin.NoLimits() {
		t.Errorf("%+v, want %+v", q, want)
	}
	err := c.readQOS("qos.txt", "Name|GrpJobs\nx|many\n")
	if err == nil || !strings.Contains(err.Error(), `qos.txt: line 2: grpjobs: "many"`) {
		t.Errorf("error %v", err)
	}
}

func TestAssoc_TableIndentAndDumpAreTheSameTree(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"table": "Cluster|Account|User|Partition|Share|ParentName|GrpTRES|MaxJobs|\nc|root|||1||||\nc|root|root||1||||\nc|lab|||3|chem|||\nc|lab|lp||2|||4|\nc|chem|||10|root|node=6||\nc|chem|mail||1||||\n",
		"tree":  "Cluster|Account|User|Share|GrpTRES|MaxJobs\nc|root||1||\nc| root|root|1||\nc| chem||10|node=6|\nc|  lab||3||\nc|   lab|lp|2||4\nc|  chem|mail|1||\n",
		"dump": "# To edit this file\nCluster - 'c':Fairshare=1:QOS='normal'\nParent - 'root'\nUser - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1\n" +
			"Account - 'chem':Description='it''s: chem':Organization='chem':Fairshare=10:GrpTRES=node=6\nParent - 'chem'\nAccount - 'lab':Fairshare=3\nUser - 'mail':Fairshare=1\nParent - 'lab'\nUser - 'lp':Fairshare=2:MaxJobs=4\n",
	} {
		c := mustOf(t, small)
		if err := c.readAssoc("assoc.txt", text); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		parents := map[string]string{}
		for _, a := range c.Assocs {
			p := ""
			if a.Parent >= 0 {
				p = c.Assocs[a.Parent].Account
			}
			parents[a.Account+"/"+a.User] = fmt.Sprint(p, " ", a.Shares, " ", a.GrpNodes == 6, " ", a.MaxJobs == 4)
		}
		wanted := map[string]string{"root/": " 0 false false", "root/root": "root 1 false false", "chem/": "root 10 true false", "lab/": "chem 3 false false",
			"lab/lp": "lab 2 false true", "chem/mail": "chem 1 false false"}
		if fmt.Sprint(parents) != fmt.Sprint(wanted) {
			t.Errorf("%s: %v, want %v", name, parents, wanted)
		}
	}
	c := mustOf(t, small)
	for text, want := range map[string]string{
		"Account|User|Share\nx|u|1\n":                          "user u is of account x, which has no row",
		"Account|ParentName\na|b\nb|a\n":                       "below itself",
		"Account|ParentName\na|b\n":                            "below b, which has no row",
		"Cluster|Account\nc|a\nd|a\n":                          "associations of 2 clusters",
		"Cluster - 'c'\nwhat\n":                                "line 2",
		"Name|Share\n":                                         "no column Account",
		"Account|Share\na|-3\n":                                "line 2: Share",
		"Cluster - 'c':Fairshare=1\nAccount - 'a':GrpJobs=x\n": "line 2: GrpJobs",
	} {
		if err := c.readAssoc("assoc.txt", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", text, err, want)
		}
	}
}

func TestUsage_OfUsers(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small)
	if err := c.readAssoc("a", "Account|User|Share\nroot||1\nchem||1\nchem|lp|1\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.readUsage("u", "Account|User|RawShares|NormShares|RawUsage|NormUsage|EffectvUsage|FairShare|LevelFS\nroot||||900||||\n chem||1||900||||\n  chem|lp|1|1.0|900|1.0|1.0|0.5|0.5\n  chem|gone|1||5||||\n"); err != nil {
		t.Fatal(err)
	}
	if c.Assocs[2].Usage != 900 || c.Assocs[1].Usage != 0 || !strings.Contains(strings.Join(c.Notes, "\n"), "gone") {
		t.Errorf("%+v, notes %q", c.Assocs, c.Notes)
	}
}

func TestReservations_OneLine(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	if err := c.readReservations("res", "ReservationName=m StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T09:00:00 Duration=01:00:00 Nodes=n[2-3] Flags=MAINT,WEEKLY Users=root State=INACTIVE\n", berlin); err != nil {
		t.Fatal(err)
	}
	r := c.Reservations[0]
	if r.Start != grid.Time(time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC).UnixMilli()) || r.End.Sub(r.Start) != grid.Hour || !r.Nodes.Has(1) || r.Nodes.Count() != 2 {
		t.Errorf("%+v", r)
	}
	for _, text := range []string{"Nodes=n1", "ReservationName=a StartTime=x EndTime=y Nodes=n1", "ReservationName=a StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T08:00:00 Nodes=n1", "ReservationName=a StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T09:00:00 Nodes=gone"} {
		if err := c.readReservations("res", text, berlin); err == nil || !strings.Contains(err.Error(), "res: line 1: ") {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

const sacctHead = "JobID|JobIDRaw|User|Account|Partition|QOS|Submit|Eligible|Start|End|Elapsed|Timelimit|NNodes|AllocCPUS|State|NodeList|SubmitLine\n"

func sacctRow(id, submit, eligible, start, elapsed, limit, line string) string {
	day := "2026-03-02T"
	raw, _, _ := strings.Cut(id, "_")
	return strings.Join([]string{id, raw, "u", "chem", "batch", "normal", day + submit, day + eligible, day + start, "Unknown", elapsed, limit, "2", "4", "COMPLETED", "n[1-2]", line}, "|") + "\n"
}

func TestJobs_WhatADumpSays(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small+"PartitionName=batch Nodes=ALL DefaultTime=90\n")
	text := sacctHead +
		sacctRow("10_2", "08:00:00", "08:00:00", "08:00:05", "00:01:00", "00:10:00", "sbatch -N2 -a 1-4%2 job.sh") +
		sacctRow("10_1", "08:00:00", "08:00:00", "08:00:05", "00:01:00", "00:10:00", "sbatch -N2 -a 1-4%2 job.sh") +
		sacctRow("12", "08:00:10", "08:01:05", "08:02:00", "1-00:00:01", "2-00:00:00", "sbatch --dependency=afterok:10 --nice=5 job.sh -d afterok:99") +
		sacctRow("13", "08:00:20", "08:01:00", "08:02:00", "00:00:10", "Partition_Limit", "sbatch --begin 09:00 job.sh | tee") +
		sacctRow("14", "08:00:30", "08:01:40", "08:02:00", "00:00:10", "UNLIMITED", "sbatch -d afterany:7 job.sh") +
		sacctRow("14", "08:00:30", "08:01:40", "08:02:00", "00:00:12", "UNLIMITED", "sbatch -d afterany:7 job.sh") +
		sacctRow("14.batch", "08:00:30", "08:01:40", "08:02:00", "00:00:12", "", "") +
		strings.Replace(sacctRow("15", "08:00:30", "08:00:30", "08:00:30", "", "", ""), "2026-03-02T08:00:30|Unknown", "Unknown|Unknown", 1) +
		sacctHead
	jobs, err := c.readJobs("dump", strings.NewReader(text), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs.List) != 5 || jobs.Tally != (Tally{Steps: 1, NeverRan: 1, Repeats: 1, Undepending: 1}) {
		t.Fatalf("%d jobs, %+v", len(jobs.List), jobs.Tally)
	}
	two, one, after, later, gone := jobs.List[0], jobs.List[1], jobs.List[2], jobs.List[3], jobs.List[4]
	if two.Task != 2 || one.Task != 1 || one.Array != 10 || one.Throttle != 2 || one.Nodes != 2 || one.CPUs != 4 || one.On.Count() != 2 {
		t.Errorf("tasks: %+v, %+v", two, one)
	}
	if fmt.Sprint(after.After) != "[0 1]" || after.Begin != 0 || after.Nice != 5 || after.Throttle != 0 || after.Run != grid.Day+grid.Second || after.Limit != 2*grid.Day {
		t.Errorf("a dependent job: %+v", after)
	}
	if later.Begin.Sub(later.Submit) != 40*grid.Second || later.Limit != 90*grid.Minute {
		t.Errorf("a job with a begin time: %+v", later)
	}
	if gone.Begin.Sub(gone.Submit) != 70*grid.Second || gone.Limit != 365*grid.Day || gone.Run != 12*grid.Second || len(gone.After) != 0 {
		t.Errorf("a job that depends on one that is not there: %+v", gone)
	}
}

func TestJobs_WhatIsMissingIsSaid(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small)
	if err := c.readQOS("qos.txt", "Name|Priority\nother|1\n"); err != nil {
		t.Fatal(err)
	}
	good := sacctRow("12", "08:00:10", "08:00:10", "08:02:00", "00:00:01", "00:10:00", "")
	for _, of := range []struct{ text, want string }{
		{"JobID|State\n1|COMPLETED\n", "line 1: has no column Submit, Start, ElapsedRaw, NNodes, Partition; print the jobs with sacct -aXPD --format ALL"},
		{sacctHead + good, `dump: line 2: QOS: job 12 has "normal", which the file of QOS does not have`},
		{sacctHead + strings.Replace(good, "|batch|", "|gpu|", 1), `dump: line 2: Partition: job 12 is in "gpu", which the configuration does not have`},
		{sacctHead + strings.Replace(good, "|2|4|", "|many|4|", 1), "dump: line 2: NNodes"},
		{sacctHead + strings.Replace(good, "08:00:10", "8 o'clock", 1), "is no time"},
		{sacctHead + "12|12\n", "has 2 columns, must have the 17"},
		{sacctHead, "no job is left"},
	} {
		_, err := c.readJobs("dump", strings.NewReader(of.text), time.UTC)
		if err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%q: error %v, want one with %q", of.text, err, of.want)
		}
	}
}

func TestSet_ChangesACopy(t *testing.T) {
	t.Parallel()
	c := mustOf(t, small)
	if err := c.readQOS("qos.txt", qosText); err != nil {
		t.Fatal(err)
	}
	conf := c.Config
	var err error
	for _, s := range []string{"bf_interval=60", "PriorityWeightAge=5", "partition.batch.MaxTime=2h", "qos.small.GrpJobs=9", "QOS.small.Priority=77", "epilog=1.5"} {
		if conf, err = c.Set(conf, s); err != nil {
			t.Fatal(err)
		}
	}
	if conf.Scheduler.Interval != grid.Minute || conf.Priority.Age != 5 || conf.Partitions[0].MaxTime != 2*grid.Hour || conf.QOS[1].GrpJobs != 9 || conf.QOS[1].Priority != 77 || conf.Epilog != 1500 {
		t.Errorf("%+v", conf)
	}
	if c.Scheduler.Interval != 30*grid.Second || c.Partitions[0].MaxTime != grid.MaxDuration || c.QOS[1].GrpJobs != 4 {
		t.Error("the cluster itself has changed")
	}
	for _, s := range []string{"bf_interval", "nothing=1", "partition.gpu.MaxTime=1", "partition.batch.Nodes=n1", "qos.gone.GrpJobs=1", "qos.small.Colour=1", "a.b.c=1", "partition.x=1", "bf_interval=x"} {
		if _, err := c.Set(conf, s); err == nil {
			t.Errorf("--set %s is taken", s)
		}
	}
}

func TestOpen_FilesOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("nodes.conf", small)
	c, err := Open(Files{Conf: []string{write("slurm.conf", "AccountingStorageEnforce=limits,qos\nInclude nodes.conf\n")}}, time.UTC)
	if err != nil || len(c.Nodes) != 4 || c.QOSLimits {
		t.Errorf("%v: %+v", err, c)
	}
	if _, err := Open(Files{Conf: []string{filepath.Join(dir, "gone")}}, time.UTC); err == nil {
		t.Error("a file that is not there is read")
	}
}

// A controller without accounting calculates priorities at submission and never again, and one with it
// once a period from its begin on.
func TestConf_WhenPrioritiesAreCalculated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "0 1m",
		"BOOT_TIME=1970-01-01T00:00:07\nSchedulerParameters=bf_interval=9\n": "7 1m",
		"BOOT_TIME=never\n": "0 1m",
		"AccountingStorageType=accounting_storage/none\n":          "0 0s",
		"AccountingStorageType    = (null)\n":                      "0 0s",
		"AccountingStorageType    = accounting_storage/slurmdbd\n": "0 1m",
	} {
		c, err := Open(Files{Conf: []string{"f"}, Read: func(string, func(string) ([]byte, error)) ([]byte, error) {
			return []byte(text + "PriorityCalcPeriod=1\n" + small), nil
		}}, time.UTC)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := fmt.Sprint(c.Scheduler.PriorityInstants, " ", c.Priority.CalcPeriod.Words()); got != want {
			t.Errorf("%q: from %s, must be %s", text, got, want)
		}
	}
}
