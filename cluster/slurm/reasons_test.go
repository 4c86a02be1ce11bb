package slurm

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/grid"
)

// documented has the reasons of Slurm's documentation, of 22.05 to 26.05, and what becomes of
// a job with each.
var documented = map[treatment]string{
	ready: `None Priority Resources WaitingForScheduling SchedDefer Prolog Cleaning BurstBufferStageIn FedJobLock NonZeroExitCode
		RaisedSignal TimeLimit InactiveLimit OutOfMemory SystemFailure`,
	begins:    `BeginTime`,
	depends:   `Dependency`,
	throttled: `JobArrayTaskLimit`,
	planned:   `ReqNodeNotAvail NodeDown Constraints`,
	partition: `PartitionDown PartitionInactive PartitionNodeLimit PartitionTimeLimit PartitionConfig`,
	reserved:  `Reservation`,
	held: `DependencyNeverSatisfied JobHeldAdmin JobHeldUser JobHoldMaxRequeue JobLaunchFailure BadConstraints InvalidAccount AccountNotAllowed
		AccountingPolicy InvalidQOS QOSNotAllowed QOSUsageThreshold QOSJobLimit QOSResourceLimit QOSTimeLimit AssociationJobLimit
		AssociationResourceLimit AssociationTimeLimit Licenses ReservationDeleted ReservationInvalid BurstBufferResources
		BurstBufferOperation PowerNotAvail PowerReserved FrontEndDown DeadLine MaxMemPerLimit
		AssocGrpBB AssocGrpBBMinutes AssocGrpBBRunMinutes AssocGrpBilling AssocGrpBillingMinutes AssocGrpBillingRunMinutes AssocGrpCpuLimit
		AssocGrpCPUMinutesLimit AssocGrpCPURunMinutesLimit AssocGrpEnergy AssocGrpEnergyMinutes AssocGrpEnergyRunMinutes AssocGrpGRES
		AssocGrpGRESMinutes AssocGrpGRESRunMinutes AssocGrpJobsLimit AssocGrpLicense AssocGrpLicenseMinutes AssocGrpLicenseRunMinutes
		AssocGrpMemLimit AssocGrpMemMinutes AssocGrpMemRunMinutes AssocGrpNodeLimit AssocGrpNodeMinutes AssocGrpNodeRunMinutes
		AssocGrpSubmitJobsLimit AssocGrpUnknown AssocGrpUnknownMinutes AssocGrpUnknownRunMinutes AssocGrpWallLimit AssocMaxBBMinutesPerJob
		AssocMaxBBPerJob AssocMaxBBPerNode AssocMaxBillingMinutesPerJob AssocMaxBillingPerJob AssocMaxBillingPerNode
		AssocMaxCpuMinutesPerJobLimit AssocMaxCpuPerJobLimit AssocMaxCpuPerNode AssocMaxEnergyMinutesPerJob AssocMaxEnergyPerJob
		AssocMaxEnergyPerNode AssocMaxGRESMinutesPerJob AssocMaxGRESPerJob AssocMaxGRESPerNode AssocMaxJobsLimit AssocMaxLicenseMinutesPerJob
		AssocMaxLicensePerJob AssocMaxMemMinutesPerJob AssocMaxMemPerJob AssocMaxMemPerNode AssocMaxNodeMinutesPerJob AssocMaxNodePerJobLimit
		AssocMaxSubmitJobLimit AssocMaxUnknownMinutesPerJob AssocMaxUnknownPerJob AssocMaxUnknownPerNode AssocMaxWallDurationPerJobLimit
		MaxBBPerAccount MaxBillingPerAccount MaxCpuPerAccount MaxEnergyPerAccount MaxGRESPerAccount MaxJobsPerAccount MaxLicensePerAccount
		MaxMemoryPerAccount MaxNodePerAccount MaxSubmitJobsPerAccount MaxUnknownPerAccount
		QOSGrpBB QOSGrpBBMinutes QOSGrpBBRunMinutes QOSGrpBilling QOSGrpBillingMinutes QOSGrpBillingRunMinutes QOSGrpCpuLimit
		QOSGrpCPUMinutesLimit QOSGrpCPURunMinutesLimit QOSGrpEnergy QOSGrpEnergyMinutes QOSGrpEnergyRunMinutes QOSGrpGRES QOSGrpGRESMinutes
		QOSGrpGRESRunMinutes QOSGrpJobsLimit QOSGrpLicense QOSGrpLicenseMinutes QOSGrpLicenseRunMinutes QOSGrpMemLimit QOSGrpMemoryMinutes
		QOSGrpMemoryRunMinutes QOSGrpNodeLimit QOSGrpNodeMinutes QOSGrpNodeRunMinutes QOSGrpSubmitJobsLimit QOSGrpUnknown QOSGrpUnknownMinutes
		QOSGrpUnknownRunMinutes QOSGrpWallLimit QOSMaxBBMinutesPerJob QOSMaxBBPerJob QOSMaxBBPerNode QOSMaxBBPerUser QOSMaxBillingMinutesPerJob
		QOSMaxBillingPerJob QOSMaxBillingPerNode QOSMaxBillingPerUser QOSMaxCpuMinutesPerJobLimit QOSMaxCpuPerJobLimit QOSMaxCpuPerNode
		QOSMaxCpuPerUserLimit QOSMaxEnergyMinutesPerJob QOSMaxEnergyPerJob QOSMaxEnergyPerNode QOSMaxEnergyPerUser QOSMaxGRESMinutesPerJob
		QOSMaxGRESPerJob QOSMaxGRESPerNode QOSMaxGRESPerUser QOSMaxJobsPerUserLimit QOSMaxLicenseMinutesPerJob QOSMaxLicensePerJob
		QOSMaxLicensePerUser QOSMaxMemoryMinutesPerJob QOSMaxMemoryPerJob QOSMaxMemoryPerNode QOSMaxMemoryPerUser QOSMaxNodeMinutesPerJob
		QOSMaxNodePerJobLimit QOSMaxNodePerUserLimit QOSMaxSubmitJobPerUserLimit QOSMaxUnknownMinutesPerJob QOSMaxUnknownPerJob
		QOSMaxUnknownPerNode QOSMaxUnknownPerUser QOSMaxWallDurationPerJobLimit QOSMinBB QOSMinBilling QOSMinCpuNotSatisfied QOSMinEnergy
		QOSMinGRES QOSMinLicense QOSMinMemory QOSMinNode QOSMinUnknown`,
}

func TestReasons_EachOfTheDocumentationHasItsTreatment(t *testing.T) {
	t.Parallel()
	for treat, words := range documented {
		for _, word := range strings.Fields(words) {
			if got := causeOf(word); got.treat != treat {
				t.Errorf("%s: %s; must be %s", word, got.treat.words(), treat.words())
			}
			if j := (&grid.ManagedJob{Why: word}); !Known(j) || Why(j) == "" {
				t.Errorf("%s is not known, or not said in words", word)
			}
		}
	}
}

// Slurm adds to a reason, or writes it in words; a version to come may have others.
func TestReasons_AsCommandsPrintThem(t *testing.T) {
	t.Parallel()
	for text, treat := range map[string]treatment{
		"": ready, "(null)": unheardOf, "(Priority)": ready, "ReqNodeNotAvail, UnavailableNodes:n[1-2]": planned, "ReqNodeNotAvail,_UnavailableNodes:n1": planned,
		"launch_failed_requeued_held": held, "launch failed requeued held": held, "QOSGrpQuantumLimit": held, "AssocMaxQubitsPerJob": held,
		"MaxQubitsPerAccount": held, "PartitionHaunted": partition, "JobHeldByNobody": held, "InvalidPlan": held,
		"MaxQubits": unheardOf, "PriorityInversion": unheardOf, "Moonlight": unheardOf,
	} {
		if got := causeOf(text).treat; got != treat {
			t.Errorf("%q: %s; must be %s", text, got.words(), treat.words())
		}
	}
}

// Every cause can be reached: none stands behind one that takes its words.
func TestReasons_NoCauseIsHiddenByAnother(t *testing.T) {
	t.Parallel()
	for _, c := range causes {
		if word := strings.ReplaceAll(c.word, "*", "x"); causeOf(word).word != c.word {
			t.Errorf("%s is taken for %s", word, causeOf(word).word)
		}
	}
	words := make([]string, len(causes))
	for i := range causes {
		words[i] = causes[i].word
	}
	if slices.Sort(words); len(slices.Compact(words)) != len(causes) {
		t.Error("a cause is there twice")
	}
}

// docs/FORECAST.md lists every cause in the row of its treatment.
func TestReasons_AreInTheDocument(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/FORECAST.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[treatment]string{ready: "now", begins: "from its begin time on", depends: "once others have ended", throttled: "once a task", planned: "from the start on",
		partition: "not at all, unless", reserved: "in its reservation", held: "not at all while"}
	for _, c := range causes {
		in := func(line string) bool {
			return strings.HasPrefix(line, "| "+rows[c.treat]) && strings.Contains(line, "`"+c.word+"`")
		}
		if !slices.ContainsFunc(strings.Split(string(page), "\n"), in) {
			t.Errorf("no row %q has %s", rows[c.treat], c.word)
		}
	}
}
