package slurmdump

import (
	"strings"
	"testing"
	"time"
)

// Each reader takes any bytes: it reads them or says what is wrong, and what it read is
// within its bounds.

func FuzzConf(f *testing.F) {
	f.Add(small)
	f.Add("NodeName=DEFAULT CPUs=4\nNodeName=a[1-3] Sockets=2\nPartitionName=p Nodes=a[1-2] MaxTime=1-0 State=DOWN\nSchedulerParameters=defer,bf_window=x\n")
	f.Add("Include a\nKey   = Value of more\n\\\n#\n")
	f.Add("AccountingStorageType=accounting_storage/none\n" + small)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ofText(text)
		if err != nil {
			return
		}
		if len(c.Nodes) == 0 || len(c.Nodes) != len(c.CPUs) || len(c.Partitions) == 0 || c.Scheduler.Interval <= 0 || c.Scheduler.Resolution <= 0 || c.Priority.CalcPeriod < 0 || c.Priority.CalcPeriod == 0 && !c.unaccounted || c.Priority.MaxAge <= 0 {
			t.Errorf("%+v", c.Config)
		}
		for _, p := range c.Partitions {
			if p.Nodes.Count() == 0 || p.Limit() < 0 {
				t.Errorf("partition %+v", p)
			}
		}
	})
}

func FuzzAccounting(f *testing.F) {
	f.Add(qosText, "Account|User|Share\nroot||1\nchem||1\nchem|lp|1\n", "Account|User|RawUsage\nchem|lp|5\n", "ReservationName=m StartTime=2026-03-02T08:00:00 EndTime=2026-03-02T09:00:00 Nodes=n1")
	f.Add("", "Cluster - 'c':Fairshare=1\nParent - 'root'\nAccount - 'a':GrpTRES=node=6\n", "", "")
	f.Fuzz(func(t *testing.T, qos, assoc, usage, reservations string) {
		c, err := ofText(small)
		if err != nil {
			t.Fatal(err)
		}
		_ = c.readQOS("qos", qos) // errors are for people
		if c.readAssoc("assoc", assoc) == nil {
			_ = c.readUsage("usage", usage)
			for i, a := range c.Assocs {
				if a.Parent >= i || a.Shares < 0 || a.Usage < 0 {
					t.Errorf("association %d: %+v", i, a)
				}
			}
		}
		_ = c.readReservations("reservations", reservations, time.UTC)
		for _, r := range c.Reservations {
			if r.End <= r.Start {
				t.Errorf("reservation %+v", r)
			}
		}
	})
}

func FuzzJobs(f *testing.F) {
	f.Add(sacctHead + sacctRow("12_3", "08:00:10", "08:01:05", "08:02:00", "1-00:00:01", "2-00:00:00", "sbatch --dependency=afterok:10 -a1-4%2 job.sh"))
	f.Add("JobID|Submit|Start|End|NNodes|Partition|\n5|0|1|2|1|batch|\n6|0|1|2|1K|batch|\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ofText(small)
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := c.readJobs("dump", strings.NewReader(text), time.UTC)
		if err != nil {
			return
		}
		for i := range jobs.List {
			j := &jobs.List[i]
			if j.Nodes < 1 || j.CPUs < 1 || j.Limit <= 0 || j.Run < 0 || j.Started < j.Submit || i > 0 && j.Submit < jobs.List[i-1].Submit {
				t.Errorf("job %d: %+v", i, j)
			}
			for _, a := range j.After {
				if a == i || a < 0 || a >= len(jobs.List) {
					t.Errorf("job %d depends on %d", i, a)
				}
			}
		}
	})
}
