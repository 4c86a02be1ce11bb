package tree

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The rooms of the project and what each may import. Imports point one way:
// grid <- facts <- policy, agents <- cluster, sites, broker <- studies <- cmd. Only code
// that is shipped counts; a test may import what it likes.

// room is the rule of one folder or, if the name ends in "/...", of all folders below it.
type room struct {
	name    string
	imports []string // rooms of the project
	outside outside  // what it may use beyond the project
}

// outside says how far a room reaches beyond the project.
type outside int

const (
	// core only computes: the standard packages of coreStandard, no goroutines. The same
	// messages give the same steps.
	core outside = iota
	// parallel may also draw from seeded streams, do statistics and run on all
	// processors, but has no clock, no files and no network.
	parallel
	// world may do I/O, read clocks and import other modules.
	world
)

// coreStandard lists the standard packages that a deterministic room may import: values
// in, values out.
var coreStandard = []string{
	"bytes", "cmp", "container/heap", "container/list", "embed", "encoding", "encoding/base64", "encoding/binary", "encoding/hex",
	"encoding/json", "errors", "fmt", "hash/crc32", "hash/fnv", "crypto/hmac", "crypto/sha256", "iter", "maps", "math", "math/big", "math/bits",
	"regexp", "slices", "sort", "strconv", "strings", "unicode", "unicode/utf8",
}

// parallelStandard is what a parallel room may import in addition to coreStandard.
var parallelStandard = []string{"context", "encoding/csv", "io", "math/rand/v2", "runtime", "sync", "sync/atomic", "time"}

// coreModules lists the other modules that a deterministic room may import: state machines,
// their messages and their compression, without I/O.
var coreModules = map[string][]string{
	"agents/replica": {"github.com/klauspost/compress/s2", "go.etcd.io/raft/v3", "go.etcd.io/raft/v3/raftpb", "go.etcd.io/raft/v3/tracker", "google.golang.org/protobuf/proto"},
}

// clock lists the names in package time that read the wall clock or wait.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}

// seeded lists the names in math/rand/v2 that do not draw from the stream that all programs
// share.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "PCG", "ChaCha8", "Zipf", "Source"}

// rooms lists the rules. The first that matches a folder holds.
var rooms = []room{
	{"grid", nil, core},
	{"facts", []string{"grid"}, core},
	{"policy/search/papercase", []string{"grid", "policy/..."}, parallel}, // draws a paper's slots and jobs, for studies
	{"policy/...", []string{"grid", "facts", "policy/..."}, core},
	{"agents", []string{"grid", "policy/..."}, core},
	{"agents/plant", nil, core},
	{"agents/plant/planttest", []string{"agents/plant"}, world},
	{"agents/story", []string{"grid", "agents"}, world}, // the language of scenario files, for tests alone
	{"agents/retry", []string{"grid", "agents"}, core},
	{"agents/replica", []string{"grid", "agents"}, core},               // around the state machine of go.etcd.io/raft
	{"agents/sim", []string{"grid", "agents", "agents/journal"}, core}, // a disk in memory behind each agent
	{"agents/certificate", []string{"grid", "agents"}, world},
	{"agents/live", []string{"grid", "agents", "agents/certificate", "agents/live/...", "agents/wire", "agents/journal"}, world},
	{"agents/live/gossip", []string{"agents/live/lines"}, world},
	{"agents/live/lines", nil, world},
	{"agents/live/members", []string{"grid", "agents", "agents/wire"}, world},
	{"agents/mirror", []string{"agents", "agents/certificate", "agents/journal"}, world}, // a journal's second disk, on another host
	{"agents/wire", []string{"grid", "policy/...", "agents"}, world},
	{"parallel", nil, parallel},
	{"tree/thorough", nil, world}, // for tests alone
	{"agents/journal", []string{"grid", "facts", "agents", "parallel"}, world},
	{"cluster", []string{"grid", "facts", "policy/...", "agents"}, core},
	{"cluster/ssh", nil, world},                                                      // scripts at the other end of the system's ssh
	{"cluster/slurm", []string{"grid", "agents", "cluster/ssh"}, world},              // a driver: it runs Slurm's commands
	{"cluster/local/supervisor", nil, world},                                         // a process for each piece of work, begun before all else
	{"cluster/local", []string{"grid", "agents", "cluster/local/supervisor"}, world}, // the driver of processes of this machine
	{"cluster/command", []string{"grid", "agents"}, world},                           // a driver: it runs a program of somebody else
	{"cluster/command/conformance", []string{"grid", "agents", "cluster/command"}, world},
	{"cluster/...", []string{"grid", "facts", "policy/...", "agents", "cluster"}, core},
	{"sites", []string{"grid", "facts", "policy/...", "agents", "agents/retry"}, core},
	{"workload/files", nil, world},
	{"workload", []string{"grid", "workload/files"}, world},
	{"workload/slurmdump", []string{"grid", "policy/slurm", "cluster/slurm", "workload", "workload/files"}, world}, // what Slurm's files say, for its twin
	{"broker", []string{"grid", "facts", "policy/...", "agents", "agents/retry", "broker/..."}, core},
	{"broker/accounts", []string{"grid", "facts"}, core},
	{"broker/jobs", []string{"grid", "facts", "agents", "broker/accounts", "broker/lives", "broker/tenancy", "broker/transaction", "broker/trust"}, core}, // the state that follows from facts, and nothing that acts
	{"broker/pilots", []string{"grid", "facts", "policy/gather", "agents", "broker/jobs", "broker/transaction"}, core},                                    // jobs whose parts wait as pilots
	{"broker/lives", []string{"grid", "facts"}, core},
	{"broker/transaction", []string{"grid", "facts", "agents", "agents/retry", "broker/accounts", "broker/lives", "broker/planning", "broker/tenancy", "broker/trust"}, core},
	{"broker/tenancy", []string{"grid", "facts"}, core},
	{"broker/trust", []string{"grid", "facts"}, core},
	{"broker/planning", []string{"grid", "facts", "policy/...", "agents"}, core},                               // a cycle's decision, pure
	{"history", []string{"grid", "facts", "agents"}, core},                                                     // facts in, turns of jobs out
	{"history/invariant", []string{"grid", "facts", "agents"}, core},                                           // facts in, what they break out
	{"history/explain", []string{"grid", "facts", "policy/...", "agents", "broker/planning", "history"}, core}, // facts in, an explanation out
	{"web/api", []string{"grid", "agents"}, world},                                                             // requests and answers as they are written, for server and client
	{"web/rendezvous", []string{"grid", "agents"}, world},
	{"web/webhook", []string{"web/api"}, world},
	{"web/dash", []string{"web", "web/client"}, world}, // the live page on loopback, under a context's certificate
	{"report", []string{"grid", "facts", "policy/...", "agents", "broker/planning", "history", "report/draw", "report/fitted", "report/lanes", "report/view", "report/weeks"}, world},
	{"report/fitted", nil, world}, // another module draws tables
	{"report/lanes", nil, core},
	{"report/weeks", []string{"grid"}, parallel}, // statistics
	{"report/export", []string{"grid", "facts", "agents", "history", "report", "report/lanes"}, world},
	{"report/columnar", nil, world},          // Parquet, from files of CSV and JSON
	{"report/draw", nil, world},              // fonts and PNG
	{"report/view", []string{"grid"}, world}, // DEFLATE, and files that are served
	{"web/...", []string{"grid", "facts", "policy/...", "agents", "agents/certificate", "sites", "broker", "broker/accounts", "broker/tenancy", "history/...", "report", "report/view", "web", "web/api", "web/rendezvous", "web/webhook"}, world},
	{"configs", []string{"grid", "policy/...", "agents", "cluster/...", "sites", "workload", "broker", "workload/files", "workload/slurmdump", "configs/keys", "configs/kinds"}, world},
	{"configs/kinds", []string{"configs/keys", "workload/files"}, world}, // what a file is
	{"configs/keys", []string{"grid", "policy/names"}, world},            // the machinery of strict files, which knows no key
	{"workload/workloadtest", []string{"grid", "workload"}, world},
	{"simulation/torture/world", []string{"grid", "facts", "policy/...", "agents", "agents/sim", "agents/wire", "agents/journal", "agents/replica", "cluster/...", "sites", "broker", "simulation/linear", "simulation/manager"}, parallel}, // it judges nothing
	{"simulation/torture/check", []string{"grid", "facts", "agents", "agents/sim", "agents/replica", "cluster/managed", "sites", "broker", "history/...", "simulation/linear", "simulation/manager", "simulation/torture/world"}, core},     // it disturbs nothing
	{"simulation/...", []string{"grid", "facts", "parallel", "policy/...", "agents", "agents/sim", "agents/journal", "agents/replica", "agents/plant", "cluster/...", "sites", "workload", "broker", "broker/planning", "history/...", "report", "report/weeks", "configs", "simulation/..."}, parallel},
	{"studies", []string{"grid", "facts", "parallel", "policy/...", "agents", "cluster/...", "workload", "report", "configs", "simulation", "studies/evidence"}, parallel},
	{"studies/evidence", []string{"grid", "parallel", "report"}, parallel}, // rows, samples, verdicts: it knows no study
	{"studies/evidence/evidencetest", []string{"studies/evidence"}, world}, // for tests alone
	{"studies/...", []string{"grid", "facts", "parallel", "policy/...", "agents", "cluster/...", "workload", "report", "configs", "simulation", "simulation/rehearsal", "studies/evidence"}, parallel},
	{"process/failure", nil, core},
	// Packages that host agents on a machine: no simulation, no study.
	{"process", []string{"grid", "agents", "agents/...", "cluster/...", "sites", "broker", "history/explain", "configs", "configs/keys", "web", "web/api", "web/rendezvous", "web/webhook", "process/failure"}, world},
	{"process/shadow", []string{"grid", "policy/shadow", "cluster/slurm", "configs", "process/failure", "workload/..."}, world},        // what a site would have sold
	{"process/federation", []string{"agents/certificate", "cluster/ssh", "configs", "process", "workload/files", "web/client"}, world}, // laid out on one machine, and supervised
	// The command line. What several groups of commands share knows no command; a group knows no
	// other, but for what operates a site and stands below bourse site.
	{"cmd/bourse/flags", []string{"grid", "facts", "policy/...", "agents", "agents/certificate", "configs", "configs/kinds", "report", "simulation/torture", "studies/evidence", "web/api", "web/client", "workload", "process/failure"}, world},
	{"cmd/bourse/display", []string{"grid", "report", "web/api"}, world},
	{"cmd/bourse/input", []string{"grid", "agents", "agents/journal", "configs", "configs/kinds", "cmd/bourse/flags"}, world},
	{"cmd/bourse/version", []string{"agents/journal", "agents/wire", "process/failure", "cmd/bourse/flags"}, world},
	{"cmd/bourse/supervise", []string{"cluster/local/supervisor"}, world}, // and nothing more: it is all that a supervisor of work initialises
	{"cmd/bourse/file", []string{"grid", "cluster/command", "cluster/command/conformance", "configs", "configs/kinds", "process", "process/failure", "report", "workload/...", "cmd/bourse/flags"}, world},
	{"cmd/bourse/use", []string{"grid", "configs", "configs/kinds", "history", "process/failure", "report", "web/api", "web/client", "workload/...", "cmd/bourse/display", "cmd/bourse/flags"}, world},
	{"cmd/bourse/operate", []string{"grid", "process/failure", "report", "web", "web/api", "web/client", "web/dash", "cmd/bourse/display", "cmd/bourse/flags"}, world},
	{"cmd/bourse/examine", []string{"grid", "parallel", "policy/...", "cluster/managed", "cluster/slurm", "configs", "configs/kinds", "process", "process/failure", "report", "simulation", "simulation/rehearsal", "workload", "workload/slurmdump", "cmd/bourse/display", "cmd/bourse/flags", "cmd/bourse/input"}, world},
	{"cmd/bourse/study", []string{"grid", "parallel", "policy/...", "agents/journal", "agents/plant", "agents/sim", "broker/planning", "cluster/queue", "configs", "process/failure", "report", "report/columnar", "report/export", "simulation", "simulation/rehearsal", "simulation/driven", "simulation/torture", "studies/...", "workload/...", "cmd/bourse/batsim", "cmd/bourse/dialogue", "cmd/bourse/display", "cmd/bourse/flags", "cmd/bourse/input", "cmd/bourse/version"}, world},
	{"cmd/bourse/run", []string{"grid", "facts", "policy/shadow", "agents", "agents/certificate", "agents/journal", "agents/mirror", "cluster", "sites", "configs", "configs/kinds", "history/...", "process/...", "report", "simulation", "web/dash", "workload/slurmdump", "cmd/bourse/display", "cmd/bourse/flags", "cmd/bourse/input", "cmd/bourse/supervise"}, world},
	{"cmd/...", []string{"..."}, world},
}

// exits lists the folders that may end the program: those of package main, and supervise,
// which is a program of its own in its init.
var exits = []string{"cmd/bourse", "cmd/bourse/supervise", "cmd/mutants", "cmd/plants", "cmd/sbom"}

// fits reports whether a folder is one of those that a room's name stands for.
func fits(name, dir string) bool {
	prefix, below := strings.CutSuffix(name, "...")
	if !below {
		return name == dir
	}
	return prefix == "" || dir == strings.TrimSuffix(prefix, "/") || strings.HasPrefix(dir, prefix)
}

// violations returns what one Go file does that its room may not do.
func violations(name string, source []byte) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(name)
	i := slices.IndexFunc(rooms, func(r room) bool { return fits(r.name, dir) })
	if i < 0 {
		return []string{fmt.Sprintf("%s: folder %s is no room of the table in imports_test.go; add it with what it may import", name, dir)}, nil
	}
	var found []string
	report := func(format string, args ...any) { found = append(found, name+": "+fmt.Sprintf(format, args...)) }
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if why := rooms[i].refuses(imported); why != "" {
			report("%s", why)
		}
	}
	uses(file, rooms[i], dir, report)
	return found, nil
}

// module is the path in go.mod, which all imports of our own begin with.
const module = "github.com/bourse-grid/bourse"

// refuses says why a room may not import a package, "" if it may.
func (r room) refuses(imported string) string {
	if dir, ours := strings.CutPrefix(imported+"/", module+"/"); ours {
		dir = path.Clean("./" + dir)
		if slices.ContainsFunc(r.imports, func(name string) bool { return fits(name, dir) }) {
			return ""
		}
		return fmt.Sprintf("%s must not import %s; imports point from cmd to the vocabulary", r.name, dir)
	}
	switch {
	case imported == "math/rand":
		return "math/rand has a stream that all programs share; use math/rand/v2 with a seed"
	case r.outside == world, slices.Contains(coreStandard, imported), slices.Contains(coreModules[r.name], imported):
		return ""
	case r.outside == parallel && (slices.Contains(parallelStandard, imported) || strings.HasPrefix(imported, "gonum.org/") || imported == "github.com/anishathalye/porcupine"):
		return ""
	}
	return fmt.Sprintf("%s computes only and must not import %s", r.name, imported)
}

// uses reports what a file calls or starts that imports alone do not show.
func uses(file *ast.File, r room, dir string, report func(string, ...any)) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if r.outside == core {
				report("%s starts a goroutine; steps run on their caller's", r.name)
			}
		case *ast.SelectStmt:
			if r.outside == core {
				report("%s waits on channels; an agent never blocks", r.name)
			}
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if !ok {
				return true
			}
			switch {
			case x.Name == "time" && r.outside == parallel && slices.Contains(clock, n.Sel.Name):
				report("%s knows no clock: time.%s", r.name, n.Sel.Name)
			case x.Name == "os" && n.Sel.Name == "Exit" && !slices.Contains(exits, dir):
				report("only main exits: os.Exit")
			case x.Name == "log" && strings.HasPrefix(n.Sel.Name, "Fatal"):
				report("only main exits: log.%s", n.Sel.Name)
			case x.Name == "rand" && ast.IsExported(n.Sel.Name) && !slices.Contains(seeded, n.Sel.Name) && importsRandV2(file):
				report("rand.%s draws from the stream that all programs share; draw from a seeded one", n.Sel.Name)
			}
		}
		return true
	})
}

func importsRandV2(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"math/rand/v2"` })
}

func TestImports_PointFromCmdToTheVocabulary(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata" || name == "tools" || name == "out") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		files++
		found, err := violations(name, source)
		for _, v := range found {
			t.Error(v)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("looked at %d files: this is not the module's root", files)
	}
}

// Each planted violation is caught, with a word that names it.
func TestImports_CatchWhatIsPlanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, body, want string }{
		{"grid/money.go", `import "github.com/bourse-grid/bourse/agents"`, "must not import agents"},
		{"grid/money.go", `import "time"`, "must not import time"},
		{"grid/money.go", `import "github.com/spf13/cobra"`, "must not import github.com/spf13/cobra"},
		{"policy/search/amp.go", `import "github.com/bourse-grid/bourse/agents"`, "must not import agents"},
		{"policy/search/amp.go", `import "math/rand/v2"`, "must not import math/rand/v2"},
		{"policy/search/amp.go", `import "sync"`, "must not import sync"},
		{"policy/selection/select.go", `import "testing"`, "must not import testing"},
		{"agents/agent.go", `import "github.com/bourse-grid/bourse/sites"`, "must not import sites"},
		{"agents/sim/world.go", `import "github.com/bourse-grid/bourse/sites"`, "must not import sites"},
		{"agents/sim/world.go", `import "github.com/bourse-grid/bourse/broker"`, "must not import broker"},
		{"agents/sim/world.go", `import "github.com/bourse-grid/bourse/policy/backfill"`, "must not import policy/backfill"},
		{"agents/live/host.go", `import "github.com/bourse-grid/bourse/broker"`, "must not import broker"},
		{"sites/site.go", `import "github.com/bourse-grid/bourse/broker"`, "must not import broker"},
		{"sites/site.go", `import "github.com/bourse-grid/bourse/cluster"`, "must not import cluster"},
		{"cluster/agent.go", `import "github.com/bourse-grid/bourse/sites"`, "must not import sites"},
		{"cluster/agent.go", `import "github.com/bourse-grid/bourse/cluster/queue"`, "must not import cluster/queue"},
		{"cluster/queue/backend.go", `import "github.com/bourse-grid/bourse/cluster/share"`, "must not import cluster/share"},
		{"cluster/managed/pass.go", `import "os/exec"`, "must not import os/exec"},
		{"sites/site.go", `import "github.com/bourse-grid/bourse/configs"`, "must not import configs"},
		{"sites/site.go", `import _ "os"`, "must not import os"},
		{"sites/site.go", `import clock "time"`, "must not import time"},
		{"sites/site.go", `import "net"`, "must not import net"},
		{"sites/site.go", `import "math/rand"`, "seed"},
		{"sites/site.go", `func f() { go f() }`, "goroutine"},
		{"sites/site.go", `func f() { select {} }`, "channels"},
		{"workload/read.go", `import "github.com/bourse-grid/bourse/sites"`, "must not import sites"},
		{"workload/read.go", "import \"os\"\nfunc f() { os.Exit(1) }", "only main exits"},
		{"cmd/bourse/flags/interrupt.go", "import \"os\"\nfunc f() { os.Exit(1) }", "only main exits"},
		{"cmd/bourse/use/submit.go", `import "github.com/bourse-grid/bourse/cmd/bourse/operate"`, "must not import cmd/bourse/operate"},
		{"cmd/bourse/flags/flag.go", `import "github.com/bourse-grid/bourse/cmd/bourse/study"`, "must not import cmd/bourse/study"},
		{"workload/draw.go", "import \"math/rand/v2\"\nvar x = rand.IntN(3)", "rand.IntN"},
		{"broker/cycle.go", `import "github.com/bourse-grid/bourse/sites"`, "must not import sites"},
		{"broker/cycle.go", `import "github.com/bourse-grid/bourse/configs"`, "must not import configs"},
		{"broker/transaction/hold.go", `import "github.com/bourse-grid/bourse/broker"`, "must not import broker"},
		{"broker/accounts/accounts.go", `import "github.com/bourse-grid/bourse/broker/transaction"`, "must not import broker/transaction"},
		{"broker/cycle.go", `import "database/sql"`, "must not import database/sql"},
		{"configs/table.go", `import "github.com/bourse-grid/bourse/studies"`, "must not import studies"},
		{"studies/sla.go", `import "github.com/bourse-grid/bourse/cmd/bourse"`, "must not import cmd/bourse"},
		{"process/cluster.go", `import "github.com/bourse-grid/bourse/simulation"`, "must not import simulation"},
		{"studies/sla.go", `import "os"`, "must not import os"},
		{"simulation/torture/world/world.go", "import \"time\"\nvar x = time.Now()", "time.Now"},
		{"studies/sla.go", "import \"log\"\nfunc f() { log.Fatalf(\"\") }", "only main exits"},
		{"agents/replica/ready.go", `import "go.etcd.io/raft/v3/rafttest"`, "must not import go.etcd.io/raft/v3/rafttest"},
		{"agents/retry/retry.go", `import "go.etcd.io/raft/v3"`, "must not import go.etcd.io/raft/v3"},
		{"util/strings.go", ``, "no room"},
	} {
		found, err := violations(c.file, []byte("package p\n"+c.body))
		if err != nil {
			t.Fatalf("%s: %v", c.file, err)
		}
		if !slices.ContainsFunc(found, func(v string) bool { return strings.Contains(v, c.want) && strings.HasPrefix(v, c.file) }) {
			t.Errorf("%s with %q: found %q, want one with %q", c.file, c.body, found, c.want)
		}
	}
}

// Allowed imports are not taken for violations.
func TestImports_LetThroughWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, body string }{
		{"grid/money.go", "import \"fmt\"\nimport \"math/bits\""},
		{"policy/pricing/adaptive.go", "import \"github.com/bourse-grid/bourse/grid\"\nimport \"github.com/bourse-grid/bourse/policy/backfill\""},
		{"agents/cluster_messages.go", `import "github.com/bourse-grid/bourse/policy/backfill"`},
		{"agents/sim/world.go", "import \"github.com/bourse-grid/bourse/grid\"\nimport \"github.com/bourse-grid/bourse/agents\""},
		{"agents/journal/append.go", `import "os"`},
		{"workload/read.go", `import "compress/gzip"`},
		{"workload/draw.go", "import \"math/rand/v2\"\nvar x = rand.New(rand.NewPCG(1, 2)).IntN(3)"},
		{"studies/sla.go", "import \"sync\"\nimport \"github.com/bourse-grid/bourse/configs\"\nfunc f() { go f() }"},
		{"cmd/bourse/main.go", "import \"os\"\nimport \"github.com/bourse-grid/bourse/studies\"\nfunc main() { os.Exit(1) }"},
	} {
		found, err := violations(c.file, []byte("package p\n"+c.body))
		if err != nil || len(found) > 0 {
			t.Errorf("%s with %q: found %q, %v", c.file, c.body, found, err)
		}
	}
}
