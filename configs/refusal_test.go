package configs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// The smallest valid files of each kind; a case changes one line of them.
const (
	smallScenario = `name = "small"
until = "30d"
[[site]]
name = "north"
policy = "easy"
[[site.queue]]
name = "express"
[[site.group]]
name = "main"
nodes = 128
performance = 1.0
price = 1.0
[site.limits]
min_notice = "1m"
[site.workload]
trace = "some.swf.gz"
[[site]]
name = "south"
[[site.group]]
name = "main"
nodes = 64
price = 2.0
[site.workload]
model = "lublin"
load = 0.7
[[broker]]
name = "vo1"
budget = 50000.0
cycle = "30m"
horizon = "7d"
algorithm = "amp"
minimize = "time"
[broker.workload]
model = "uniform"
jobs = 200
[[broker]]
name = "vo2"
budget = 1
cycle = 60
horizon = "1d"
algorithm = "best"
minimize = "cost"
[[broker.job]]
name = "wave"
nodes = 16
length = "2h"
max_price = 2.5
deadline = "1d"
`
	smallBroker = `[broker]
name = "vo1"
budget = 50000.0
cycle = "30m"
horizon = "7d"
algorithm = "amp"
minimize = "time"
`
	smallBatch = `[[job]]
name = "wave"
nodes = 16
length = "2h"
max_price = 2.5
ready = "1h"
deadline = "1d"
[[job]]
name = "tide"
nodes = 1
length = 60
budget = 10
`
)

// refusal is a valid text with one line changed, and the expected message. The expected
// line number is that of the change, or of the line with "#!" in it.
type refusal struct {
	name     string
	old, new string // old stands in the text once
	key      string
	text     string // a part of the message
}

func (r refusal) run(t *testing.T, base string) {
	t.Helper()
	if strings.Count(base, r.old) != 1 {
		t.Fatalf("%q stands %d times in the text", r.old, strings.Count(base, r.old))
	}
	text := strings.Replace(base, r.old, r.new, 1)
	at := strings.Index(base, r.old)
	if i := strings.Index(text, "#!"); i >= 0 {
		at = i
	}
	line := 1 + strings.Count(text[:at], "\n")
	_, err := checkText("f.toml", []byte(text))
	var all *Problems
	if !errors.As(err, &all) {
		t.Fatalf("error %v is no *Problems", err)
	}
	if len(all.List) != 1 {
		t.Errorf("one fault, but %v", err)
	}
	p := all.List[0]
	if p.File != "f.toml" || p.Line != line || p.Key != r.key || !strings.Contains(p.Text, r.text) {
		t.Errorf("got  %v\nwant f.toml:%d: %s: ...%s...", p, line, r.key, r.text)
	}
}

func runRefusals(t *testing.T, base string, cases []refusal) {
	t.Helper()
	if _, err := checkText("f.toml", []byte(base)); err != nil {
		t.Fatalf("the text that the cases change is not valid: %v", err)
	}
	for _, r := range cases {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			r.run(t, base)
		})
	}
}

func TestReadScenario_Refuses(t *testing.T) {
	t.Parallel()
	runRefusals(t, smallScenario, []refusal{
		{"unknown key", `policy = "easy"`, `polici = "easy"`, "site.polici", "did you mean policy?"},
		{"unknown key far from all", `policy = "easy"`, `colour = "red"`, "site.colour", "must be one of"},
		{"unknown key of the root", `until = "30d"`, "until = \"30d\"\nseeds = 3 #!", "seeds", "must be one of broker, name, site, until"},
		{"unknown key of the second site", `model = "lublin"`, "model = \"lublin\"\nlaod = 0.5 #!", "site.workload.laod", "did you mean load?"},
		{"unknown table", `[site.limits]`, `[site.limit]`, "site.limit", "did you mean limits?"},
		{"wrong case", `policy = "easy"`, `Policy = "easy"`, "site.Policy", "did you mean policy?"},
		{"string for a number", "nodes = 128", `nodes = "128"`, "site.group.nodes", "must be a whole number from 1 to 1000000, not a string"},
		{"decimal for a whole number", "nodes = 128", `nodes = 1.5`, "site.group.nodes", "a decimal number"},
		{"number for a string", `policy = "easy"`, `policy = 1`, "site.policy", "must be a string, not a whole number"},
		{"a program that is not named", "horizon = \"7d\"", "horizon = \"7d\"\nstrategy = \"program\" #!", "broker.strategy", "needs the program that chooses and its arguments; write chooser = "},
		{"a program that nobody asks", "horizon = \"7d\"", "horizon = \"7d\"\nchooser = [\"python3\"] #!", "broker.chooser", "needs strategy = \"program\"; leave it out"},
		{"GPUs of a log without cores", "model = \"uniform\"\njobs = 200", "trace = \"x.csv\"\ngpus = 8 #!", "broker.workload.gpus", "needs the cores of a node, too"},
		{"GPUs of the uniform model", `model = "uniform"`, "model = \"uniform\"\ngpus = 8 #!", "broker.workload.gpus", "only with a trace, or with the model of GPUs"},
		{"one site at once", `model = "uniform"`, "model = \"uniform\"\nsites_share = [0.1]\nsites = [1] #!", "broker.workload.sites", "1 is outside 2..8"},
		{"more sites at once than there are", `model = "uniform"`, "model = \"uniform\"\nsites_share = [0.1]\nsites = [3] #!", "broker.workload.sites", "of 3 sites at once, but the scenario has 2;"},
		{"sites without a share", `model = "uniform"`, "model = \"uniform\"\nsites = [2] #!", "broker.workload.sites", "write sites_share = [0.1]"},
		{"shares without sites", `model = "uniform"`, "model = \"uniform\"\nsites_share = [0.1, 0.1] #!", "broker.workload.sites_share", "of 3 sites at once, but the scenario has 2"},
		{"more shares than sites", `model = "uniform"`, "model = \"uniform\"\nsites = [2]\nsites_share = [0.1, 0.1] #!", "broker.workload.sites_share", "one for each of sites, which has 1"},
		{"shares above all jobs", `model = "uniform"`, "model = \"uniform\"\nsites = [2, 3]\nsites_share = [0.6, 0.5] #!", "broker.workload.sites_share", "is 1.1 together; must be 1 at most"},
		{"a number of sites twice", `model = "uniform"`, "model = \"uniform\"\nsites_share = [0.1, 0.1]\nsites = [2, 2] #!", "broker.workload.sites", "a second time"},
		{"sites at once under an algorithm that cannot", "algorithm = \"amp\"\nminimize = \"time\"\n[broker.workload]", "algorithm = \"amp-literal\"\nminimize = \"time\"\n[broker.workload]\nsites_share = [0.1]\nsites = [2] #!", "broker.workload.sites", "does not search for jobs of several sites"},
		{"number for a table", `model = "uniform"`, "model = \"uniform\"\nnodes = 3 #!", "broker.workload.nodes", "[least, most]"},
		{"table for an array of tables", `[[site.queue]]`, `[site.queue]`, "site.queue", "write [[site.queue]]"},
		{"no nodes", "nodes = 128", "nodes = 0", "site.group.nodes", "0 is outside 1..1000000"},
		{"negative nodes", "nodes = 128", "nodes = -4", "site.group.nodes", "-4 is outside"},
		{"missing nodes", "[[site.group]]\nname = \"main\"\nnodes = 128\n", "[[site.group]]\nname = \"main\"\n", "site.group.nodes", "missing; write for example nodes = 128"},
		{"no performance", "performance = 1.0", "performance = 0.0", "site.group.performance", "outside 0.001..1000"},
		{"NaN performance", "performance = 1.0", "performance = nan", "site.group.performance", "not a number"},
		{"negative price", "price = 1.0", "price = -1.0", "site.group.price", "outside 0..1000000 credits"},
		{"NaN price", "price = 1.0", "price = nan", "site.group.price", "not a number; must be 0..1000000 credits per node-hour"},
		{"infinite price", "price = 1.0", "price = inf", "site.group.price", "not a number"},
		{"huge price", "price = 1.0", "price = 1e300", "site.group.price", "outside 0..1000000 credits"},
		{"price in quotes", "price = 1.0", `price = "1.0"`, "site.group.price", "is a string, not a number"},
		{"boolean price", "price = 1.0", "price = true", "site.group.price", "must be a number, not true or false"},
		{"memory without a unit that exists", "price = 1.0", "price = 1.0\nmemory = \"64Gib\" #!", "site.group.memory", "is not a size"},
		{"feature twice", "price = 1.0", "price = 1.0\nfeatures = [\"a\", \"a\"] #!", "site.group.features", "appears twice"},
		{"two sites of one name", `name = "south"`, `name = "north"`, "site.name", "is already used in line"},
		{"two brokers of one name", `name = "vo2"`, `name = "vo1"`, "broker.name", "is already used in line"},
		{"two groups of one name", "performance = 1.0", "performance = 1.0\nprice = 1\n[[site.group]]\nnodes = 1\nname = \"main\" #!", "site.group.name", "is already used in line"},
		{"two queues of one name", `name = "express"`, "name = \"express\"\n[[site.queue]]\nname = \"express\" #!", "site.queue.name", "is already used in line"},
		{"empty name", `name = "south"`, `name = ""`, "site.name", "1 to 100 bytes"},
		{"name with a line end", `name = "south"`, `name = "so\nuth"`, "site.name", "character 3 is U+000A"},
		{"feature with an escape", "price = 1.0", "price = 1.0\nfeatures = [\"gpu\", \"a\\u001b[2J\"] #!", "site.group.features", "character 2 is U+001B"},
		{"system with an escape", "price = 1.0", "price = 1.0\nos = \"a\\u009b2J\" #!", "site.group.os", "character 2 is U+009B"},
		{"unknown policy", `policy = "easy"`, `policy = "eazy"`, "site.policy", "must be one of fcfs, easy, easy-fair, "},
		{"half-life elsewhere", `policy = "easy"`, "policy = \"easy\"\nhalf_life = \"7d\" #!", "site.half_life", "only with policy = \"easy-fair\""},
		{"order of an unknown variable", `policy = "easy"`, `order = "nodes+waits"`, "site.order", "column 7: \"waits\" is unknown; variables are wait, "},
		{"empty order", `policy = "easy"`, `backfill_order = ""`, "site.backfill_order", "a value is expected"},
		{"order of guarantees", `policy = "easy"`, "policy = \"conservative\"\norder = \"sjf\" #!", "site.order", "it would change guarantees; use reserve=K"},
		{"two orders", `policy = "easy"`, "policy = \"easy-fair\"\norder = \"sjf\" #!", "site.order", "policy easy-fair has an order of its own; use easy"},
		{"order of SLAs by formula", `policy = "easy"`, "policy = \"sla-edf\"\norder = \"sjf\" #!", "site.order", "only where local jobs stand in a queue"},
		{"half-life of an order without usage", `policy = "easy"`, "order = \"sjf\"\nhalf_life = \"7d\" #!", "site.half_life", "or an order by usage"},
		{"half-life of no time", `policy = "easy"`, "policy = \"easy-fair\"\nhalf_life = \"1m\" #!", "site.half_life", "1h"},
		{"bad reserve", `policy = "easy"`, `policy = "reserve=-1"`, "site.policy", "K must be"},
		{"order of SLAs", `policy = "easy"`, `policy = "sla-edv"`, "site.policy", "must be edf, fifo, lff, bjf, revenue or shuffle"},
		{"disclose of queues", `policy = "easy"`, "policy = \"easy\"\ndisclose = \"closed\" #!", "site.disclose", "sla-*"},
		{"disclose nothing", `policy = "easy"`, "policy = \"sla-edf\"\ndisclose = \"none\" #!", "site.disclose", "write full, prices or closed"},
		{"discount above all", `policy = "easy"`, "policy = \"sla-edf\"\ndiscount = 1.1 #!", "site.discount", "1.1 is outside 0..1"},
		{"local deadline before the end", `policy = "easy"`, "policy = \"sla-edf\"\nsla = { deadline = 0.9 } #!", "site.sla.deadline", "0.9 is outside 1..1000"},
		{"lone late elsewhere", `policy = "easy"`, "policy = \"easy\"\naccept_lone_late = true #!", "site.accept_lone_late", "only with policy"},
		{"urgency of ten", `policy = "easy"`, "policy = \"libra\"\nurgency = 10.5 #!", "site.urgency", "10.5 is outside 0..10"},
		{"urgent beyond all", `policy = "easy"`, "policy = \"edf\"\ndeadlines = { urgent = 1.5 } #!", "site.deadlines.urgent", "1.5 is outside 0..1"},
		{"deadlines below the runtime", `policy = "easy"`, "policy = \"librarisk\"\ndeadlines = { factor = 0.5 } #!", "site.deadlines.factor", "0.5 is outside 1..1000"},
		{"time-shared site", `policy = "easy"`, `time_shared = true`, "site.time_shared", "not available yet"},
		{"unknown pricing", `policy = "easy"`, `pricing = "free"`, "site.pricing", "must be one of adaptive, fixed"},
		{"vo_share above 1", `policy = "easy"`, `vo_share = 1.5`, "site.vo_share", "outside 0..1"},
		{"share with many decimals", `policy = "easy"`, `vo_share = 0.0004`, "site.vo_share", "more than three decimals"},
		{"cap of nothing", `policy = "easy"`, `cap = 0`, "site.cap", "0 is outside 1..1000000000000"},
		{"cap in words", `policy = "easy"`, `cap = "1h"`, "site.cap", "must be a whole number from 1 to"},
		{"negative penalty", `policy = "easy"`, `penalty = -0.1`, "site.penalty", "-0.1 is outside 0..10"},
		{"penalty above all", `policy = "easy"`, `penalty = 10.001`, "site.penalty", "10.001 is outside 0..10"},
		{"penalty in words", `policy = "easy"`, `penalty = "10 %"`, "site.penalty", "must be a number from 0 to 10"},
		{"refund after the start", `policy = "easy"`, `refund_full_until = 1.5`, "site.refund_full_until", "1.5 is outside 0..1"},
		{"negative refund", `policy = "easy"`, `refund_full_until = -0.5`, "site.refund_full_until", "-0.5 is outside 0..1"},
		{"refund at a time", `policy = "easy"`, `refund_full_until = "12h"`, "site.refund_full_until", "is a string; must be a number from 0 to 1"},
		{"refund cut short", `policy = "easy"`, `refund = 0.5`, "site.refund", "not available yet"},
		{"joins after the end", `policy = "easy"`, `joins = "30d"`, "site.joins", "30d is not before the end of the scenario, 30d"},
		{"joins before the start", `policy = "easy"`, `joins = -1`, "site.joins", "outside 0.."},
		{"joins on a date", `policy = "easy"`, `joins = 2026-01-01T00:00:00Z`, "site.joins", "must be a number, not a date"},
		{"leaves after the end", `policy = "easy"`, `leaves = "31d"`, "site.leaves", "leave the key out for a site that stays"},
		{"leaves before it joins", `policy = "easy"`, "joins = \"2d\"\nleaves = \"1d\" #!", "site.leaves", "1d is not after joins, 2d"},
		{"leaves as it joins", `policy = "easy"`, "joins = \"2d\"\nleaves = \"2d\" #!", "site.leaves", "2d is not after joins, 2d"},
		{"leaves at the start", `policy = "easy"`, `leaves = 0`, "site.leaves", "0s is not after joins, 0s"},
		{"in_doubt below hold", `policy = "easy"`, "hold = \"1h\"\nin_doubt = \"30m\" #!", "site.in_doubt", "shorter than hold, 1h"},
		{"no hold", `policy = "easy"`, `hold = 0`, "site.hold", "at least 1s"},
		{"notice beyond the horizon", `min_notice = "1m"`, "min_notice = \"2d\" #!\nmax_horizon = \"1d\"", "site.limits.min_notice", "must be less than max_horizon"},
		{"users nobody", `min_notice = "1m"`, `users = []`, "site.limits.users", "leave the key out to allow all users"},
		{"load of nothing", "load = 0.7", "load = 0", "site.workload.load", "0 is outside 0.001..10"},
		{"negative load", "load = 0.7", "load = -0.7", "site.workload.load", "-0.7 is outside"},
		{"negative days", "load = 0.7", "days = -1", "site.workload.days", "-1 is outside"},
		{"negative skip", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nskip = -1 #!", "site.workload.skip", "-1 is outside"},
		{"load of a trace", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nload = 0.5 #!", "site.workload.load", "raised by copy"},
		{"no such zone", `trace = "some.swf.gz"`, "trace = \"some.sacct\"\nzone = \"Berlin\" #!", "site.workload.zone", `"Berlin" is an unknown time zone; must be a name such as Europe/Berlin or UTC`},
		{"zone of the machine", `trace = "some.swf.gz"`, "trace = \"some.parquet\"\nzone = \"Local\" #!", "site.workload.zone", `"Local" is an unknown time zone`},
		{"zone without a name", `trace = "some.swf.gz"`, "trace = \"some.sacct.gz\"\nzone = \"\" #!", "site.workload.zone", `"" is an unknown time zone`},
		{"zone of a trace that has none", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nzone = \"UTC\" #!", "site.workload.zone", "only with a trace of sacct, CSV or Parquet"},
		{"trace and model", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nmodel = \"lublin\" #!", "site.workload.model", "cannot be combined with a trace"},
		{"unknown model", `model = "lublin"`, `model = "feitelson"`, "site.workload.model", "must be one of lublin, uniform"},
		{"uniform without size", "[site.workload]\nmodel = \"lublin\"\nload = 0.7", "[site.workload]\nmodel = \"uniform\"", "site.workload.jobs", "load = 0.7 or jobs = 1000"},
		{"unknown queue of the trace", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nqueues = { 1 = \"expres\" } #!", "site.workload.queues.1", `did you mean "express"?`},
		{"queue that is not a number", `trace = "some.swf.gz"`, "trace = \"some.swf.gz\"\nqueues = { one = \"express\" } #!", "site.workload.queues.one", "not a queue number"},
		{"empty title", `name = "small"`, `name = ""`, "name", "1 to 100 bytes"},
		{"features of numbers", "price = 1.0", "price = 1.0\nfeatures = [\"a\", 1] #!", "site.group.features", "must be a string, not a whole number"},
		{"features of one string", "price = 1.0", "price = 1.0\nfeatures = \"a\" #!", "site.group.features", "must be an array of strings"},
		{"infinite share", `policy = "easy"`, `vo_share = inf`, "site.vo_share", "not a finite number"},
		{"share in words", `policy = "easy"`, `vo_share = "half"`, "site.vo_share", "is a string; must be a number from 0 to 1"},
		{"huge share", `policy = "easy"`, `vo_share = 9000000000000000000`, "site.vo_share", "too large"},
		{"weights in a number", `minimize = "cost"`, "minimize = \"cost\"\nweights = 3 #!", "broker.weights", "must be a table, not a whole number"},
		{"empty trace", `trace = "some.swf.gz"`, `trace = ""`, "site.workload.trace", "is empty"},
		{"no source", "[site.workload]\ntrace = \"some.swf.gz\"", "[site.workload]", "site.workload.model", "missing; write trace"},
		{"until nothing", `until = "30d"`, `until = 0`, "until", "at least 1s"},
		{"until negative", `until = "30d"`, `until = -5`, "until", "outside 0.."},
		{"no budget", "[[broker]]\nname = \"vo1\"\nbudget = 50000.0\n", "[[broker]]\nname = \"vo1\"\n", "broker.budget", "missing"},
		{"negative budget", "budget = 50000.0", "budget = -1", "broker.budget", "outside 0.."},
		{"huge budget", "budget = 50000.0", "budget = 1e15", "broker.budget", "amount"},
		{"cycle of nothing", `cycle = "30m"`, `cycle = "0s"`, "broker.cycle", "at least 1s"},
		{"cycle in weeks", `cycle = "30m"`, `cycle = "2w"`, "broker.cycle", "write 90, 90s, 30m, 2h or 1d"},
		{"unknown algorithm", `algorithm = "amp"`, `algorithm = "amc"`, "broker.algorithm", "must be one of amp, alp, "},
		{"unknown criterion", `minimize = "time"`, `minimize = "price"`, "broker.minimize", "must be one of value, cost, finish, time"},
		{"unknown strategy", `minimize = "time"`, "minimize = \"time\"\nstrategy = \"greedy\" #!", "broker.strategy", "must be one of batch"},
		{"limit of one by one", `minimize = "time"`, "minimize = \"time\"\nstrategy = \"earliest\"\nbudget_limit = 5.0 #!", "broker.budget_limit", "leave it out"},
		{"alpha above 1", `minimize = "time"`, "minimize = \"time\"\nalpha = 1.01 #!", "broker.alpha", "1.01 is outside 0..1"},
		{"alpha without its strategy", `minimize = "time"`, "minimize = \"time\"\nalpha = 0.5 #!", "broker.alpha", "needs strategy"},
		{"lost at once", `minimize = "time"`, "minimize = \"time\"\nlost_after = \"1s\" #!", "broker.lost_after", "at least 2s"},
		{"lost sometimes", `minimize = "time"`, "minimize = \"time\"\nlost_after = \"seldom\" #!", "broker.lost_after", "auto"},
		{"lead too short", `minimize = "time"`, "minimize = \"time\"\nlead = \"9s\" #!", "broker.lead", "at least 10s"},
		{"lead beyond the horizon", `horizon = "7d"`, "lead = \"7d\"\nhorizon = \"7d\" #!", "broker.horizon", "must be more than the lead"},
		{"no alternatives", `minimize = "time"`, "minimize = \"time\"\nmax_alternatives = 0 #!", "broker.max_alternatives", "outside 1..10000"},
		{"weights without best", `minimize = "time"`, "minimize = \"time\"\nweights = { finish = 1 } #!", "broker.weights", "need algorithm"},
		{"negative weight", `algorithm = "amp"`, "algorithm = \"best\"\nweights = { time = -1 } #!", "broker.weights.time", "outside 0..1000000"},
		{"limit in words", `minimize = "time"`, "minimize = \"time\"\nbudget_limit = \"much\" #!", "broker.budget_limit", `"auto" or a number`},
		{"negative quota", `minimize = "time"`, "minimize = \"time\"\nquota = { ana = -1 } #!", "broker.quota.ana", "outside 0.."},
		{"none may wait", `minimize = "time"`, "minimize = \"time\"\nmax_waiting = 0 #!", "broker.max_waiting", "outside 1..100000"},
		{"no share of a user", "[[broker.job]]", "[[broker.user]]\nname = \"ana\"\nshare = 0 #!\n[[broker.job]]", "broker.user.share", "outside 1..1000"},
		{"priority of a user", "[[broker.job]]", "[[broker.user]]\nname = \"ana\"\npriority = 1001 #!\n[[broker.job]]", "broker.user.priority", "outside -1000..1000"},
		{"a user twice", "[[broker.job]]", "[[broker.user]]\nname = \"ana\"\n[[broker.user]]\nname = \"ana\" #!\n[[broker.job]]", "broker.user.name", "is already used in line"},
		{"a user without a name", "[[broker.job]]", "[[broker.user]] #!\nshare = 2\n[[broker.job]]", "broker.user.name", "missing"},
		{"two sources of jobs", "[[broker.job]]", "[broker.workload]\nmodel = \"uniform\"\njobs = 1\n[[broker.job]] #!", "broker.job", "a second source"},
		{"range backwards", "jobs = 200", "jobs = 200\nnodes = [16, 1] #!", "broker.workload.nodes", "smaller number first"},
		{"range of nothing", "jobs = 200", "jobs = 200\nnodes = [0, 1] #!", "broker.workload.nodes", "0 is outside"},
		{"length range from 0", "jobs = 200", "jobs = 200\nlength = [0, 60] #!", "broker.workload.length", "above 0"},
		{"range of three", "jobs = 200", "jobs = 200\nlength = [1, 2, 3] #!", "broker.workload.length", "[least, most]"},
		{"submit after the end", `deadline = "1d"`, "deadline = \"1d\"\nsubmit = \"9999d\" #!", "broker.job.submit", "after the end of the scenario"},
		{"date of a budget", `budget = 50000.0`, "budget = 50000.0\nbudget_until = 2027-01-01T00:00:00Z #!", "broker.budget_until", "a span after the start"},
		{"date in a simulation", `deadline = "1d"`, `deadline = "2026-01-01T00:00:00Z"`, "broker.job.deadline", "a simulation has no dates"},
		{"VO workload without jobs", "[broker.workload]\nmodel = \"uniform\"\njobs = 200", "[broker.workload]\nmodel = \"uniform\"", "broker.workload.jobs", "missing"},
	})
}

func TestReadBroker_Refuses(t *testing.T) {
	t.Parallel()
	runRefusals(t, smallBroker, []refusal{
		{"a program that chooses", `cycle = "30m"`, "cycle = \"30m\"\nstrategy = \"program\" #!", "broker.strategy", "is only for scenarios"},
		{"the program alone", `cycle = "30m"`, "cycle = \"30m\"\nchooser = [\"python3\"] #!", "broker.chooser", "is only for scenarios"},
		{"lead too short", `cycle = "30m"`, "cycle = \"30m\"\nlead = 1 #!", "broker.lead", "at least 10s"},
		{"a budget of no period", `cycle = "30m"`, "cycle = \"30m\"\nbudget_period = 0 #!", "broker.budget_period", "0s is too short; must be at least 1m"},
		{"a budget for no time", `cycle = "30m"`, "cycle = \"30m\"\nbudget_until = 0 #!", "broker.budget_until", "0s is too short; must be at least 1m"},
		{"unknown key beside", `[broker]`, "title = 1 #!\n[broker]", "title", "must be one of broker"},
	})
	for _, text := range []string{"broker = [1]", "broker = 3", "[[broker]]\nname = \"a\"\n[[broker]]\nname = \"b\"", "broker = []"} {
		if _, err := ParseBroker("f.toml", []byte(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func TestReadBatch_Refuses(t *testing.T) {
	t.Parallel()
	runRefusals(t, smallBatch, []refusal{
		{"two jobs of one name", `name = "tide"`, `name = "wave"`, "job.name", "is already used in line"},
		{"no length", `length = "2h"`, `length = 0`, "job.length", "at least 0.001s"},
		{"no nodes", "nodes = 16", "nodes = 0", "job.nodes", "outside 1.."},
		{"moldable without a speedup", "[[job]]\nname = \"wave\"\nnodes = 16", "[[job]]\nname = \"wave\"\nnodes = \"4..16\"", "job.speedup", "a job on 4 to 16 nodes must say how it gets faster"},
		{"fewest above most", "nodes = 16", `nodes = "16..4"`, "job.nodes", "16 is more than 4"},
		{"no range", "nodes = 16", `nodes = "4-16"`, "job.nodes", `"4-16": must be a whole number such as 16, or a range`},
		{"none to some", "nodes = 16", `nodes = "0..4"`, "job.nodes", `"0..4" is outside 1..1000000`},
		{"too many sizes", "nodes = 16", "nodes = \"1..200\"\nspeedup = { amdahl = 0.05 }", "job.nodes", "1..200 has 200 sizes; must have at most 128"},
		{"amdahl above 1", "nodes = 16", "nodes = \"4..16\"\nspeedup = { amdahl = 1.5 } #!", "job.speedup.amdahl", "1.5 is outside 0..1"},
		{"power below 0", "nodes = 16", "nodes = \"4..16\"\nspeedup = { power = -0.5 } #!", "job.speedup.power", "-0.5 is outside 0..1"},
		{"two laws", "nodes = 16", "nodes = \"4..16\"\nspeedup = { power = 0.5, amdahl = 0.5 } #!", "job.speedup", "has 2 of amdahl, power and table"},
		{"another law", "nodes = 16", "nodes = \"4..16\"\nspeedup = { downey = 0.5 } #!", "job.speedup.downey", "unknown key; must be one of amdahl, power, table"},
		{"a table that grows", "nodes = 16", "nodes = \"4..16\"\nspeedup = { table = { 4 = \"2h\", 8 = \"3h\" } } #!", "job.speedup.table.8", "3h on 8 nodes, but 2h on 4: a job must not take longer on more nodes"},
		{"a table of nothing", "nodes = 16", "nodes = \"4..16\"\nspeedup = { table = { } } #!", "job.speedup.table", "is empty"},
		{"a table of words", "nodes = 16", "nodes = \"4..16\"\nspeedup = { table = { four = \"2h\" } } #!", "job.speedup.table.four", "not a number of nodes"},
		{"a table beyond the range", "nodes = 16", "nodes = \"4..16\"\nspeedup = { table = { 4 = \"2h\", 32 = \"1h\" } } #!", "job.speedup.table.32", "32 nodes are outside the job's 4..16"},
		{"a table of no time", "nodes = 16", "nodes = \"4..16\"\nspeedup = { table = { 4 = 0 } } #!", "job.speedup.table.4", "at least 0.001s"},
		{"a table beside another length", "nodes = 16\nlength = \"2h\"", "nodes = \"4..16\"\nspeedup = { table = { 4 = \"3h\" } }\nlength = \"2h\" #!", "job.length", "the table has 3h on 4 nodes"},
		{"negative length", `length = "2h"`, `length = -5`, "job.length", "-5"},
		{"negative estimate", `length = "2h"`, "length = \"2h\"\nrun = -5 #!", "job.run", "-5"},
		{"deadline before ready and length", `deadline = "1d"`, `deadline = "150m"`, "job.deadline", "leaves 90m after ready, but the job takes 2h at performance 1"},
		{"alternatives outside 0..100", "nodes = 16", "nodes = 16\nalternatives = 101.0 #!", "job.alternatives", "101 is outside 0..100"},
		{"fix above 1", "nodes = 16", "nodes = 16\nfix = 1.5 #!", "job.fix", "1.5 is outside 0..1"},
		{"speedup of a rigid job", "nodes = 16", "nodes = 16\nspeedup = { amdahl = 0.05 } #!", "job.speedup", "needs a range of nodes"},
		{"after itself", "nodes = 16", "nodes = 16\nafter = [\"wave\"] #!", "job.after", "in a cycle: wave -> wave"},
		{"after a word", "nodes = 16", "nodes = 16\nafter = \"tide\" #!", "job.after", "an array of strings"},
		{"every without a count", "nodes = 16", "nodes = 16\nevery = \"1d\" #!", "job.every", "needs count = 10, or until"},
		{"a count and an end", "nodes = 16", "nodes = 16\nevery = \"1d\"\ncount = 3\nuntil = \"3d\" #!", "job.until", "stands beside count"},
		{"too many windows", "nodes = 16", "nodes = 16\nevery = \"1d\"\nuntil = \"2000d\" #!", "job.until", "more than 1000 windows"},
		{"windows that overlap", "nodes = 16", "nodes = 16\nevery = \"1h\" #!\ncount = 3", "job.every", "is shorter than a window"},
		{"count of nothing", "nodes = 16", "nodes = 16\ncount = 3 #!", "job.count", "every"},
		{"gap after nothing", "nodes = 16", "nodes = 16\ngap = \"5m\" #!", "job.gap", "needs after"},
		{"submit outside a scenario", "nodes = 16", "nodes = 16\nsubmit = \"5m\" #!", "job.submit", "unknown key"},
		{"deadline before ready", `deadline = "1d"`, `deadline = "59m"`, "job.deadline", "59m is not after ready, 1h"},
		{"date before ready", "ready = \"1h\"\ndeadline = \"1d\"", "ready = 2026-01-02T00:00:00Z\ndeadline = 2026-01-01T00:00:00Z #!", "job.deadline", "is not after ready, 2026-01-02"},
		{"date without offset", `deadline = "1d"`, `deadline = 2026-01-01T00:00:00`, "job.deadline", "no offset"},
		{"no performance", "nodes = 16", "nodes = 16\nmin_performance = 0 #!", "job.min_performance", "outside 0.001.."},
		{"length beyond all schedules", `length = "2h"`, "min_performance = 0.001\nlength = \"100000000000d\" #!", "job.length", "outside 0.."},
		{"price beyond all budgets", "nodes = 16\nlength = \"2h\"\nmax_price = 2.5", "nodes = 1000000\nlength = \"2h\"\nmax_price = 1000000 #!", "job.max_price", "give a budget"},
		{"spread", "nodes = 16", "nodes = 16\nspread = \"wide\" #!", "job.spread", "must be one of any, one-site"},
		{"unknown requirement", "nodes = 16", "nodes = 16\nrequire = { memroy = 1 } #!", "job.require.memroy", "did you mean memory?"},
		{"negative requirement", "nodes = 16", "nodes = 16\nrequire = { memory = \"-1GiB\" } #!", "job.require.memory", "outside 0.."},
	})
}

func TestReadSite_Refuses(t *testing.T) {
	t.Parallel()
	runRefusals(t, figure1, []refusal{
		{"running beyond the nodes", "nodes = 4\nend = 2", "nodes = 6 #!\nend = 2", "running.nodes", `6, but group "main" has 5 nodes`},
		{"running beside running", "job = \"B\"\nnodes = 1", "job = \"B\"\nnodes = 2 #!", "running.nodes", "only 1 of the 5 nodes"},
		{"reserved over running", "nodes = 1\nstart = 4", "nodes = 5 #!\nstart = 2", "reserved.nodes", "only 4 of the 5 nodes of group \"main\" are left between 2 and 6"},
		{"reserved that ends before it starts", "end = 6", "end = 4", "reserved.end", "is not after the start, 4"},
		{"running that has ended", "nodes = 4\nend = 2", "nodes = 4\nend = 0 #!", "running.end", "leave out what has ended"},
		{"running that starts later", "end = 2", "start = 1 #!\nend = 2", "running.start", "is [[queued]] or [[reserved]]"},
		{"unknown group", "end = 2", "end = 2\ngroup = \"man\" #!", "running.group", `did you mean "main"?`},
		{"unknown queue", `queue = ""  `, `queue = "q"  `, "queued.queue", "there are none"},
		{"queued without estimate", "[[queued]]\njob = \"C\"\nnodes = 2\nestimate = 5\n", "[[queued]]\njob = \"C\"\nnodes = 2\n", "queued.estimate", "missing"},
		{"queued without length", "estimate = 5", "estimate = 0", "queued.estimate", "at least"},
		{"queued wider than all", "job = \"C\"\nnodes = 2", "job = \"C\"\nnodes = 6 #!", "queued.nodes", `group "main" has 5 nodes`},
		{"one job twice", `job = "D"`, `job = "A"`, "queued.job", "is already used in line"},
		{"no group name", "[[group]]\nname = \"main\"\n", "[[group]]\n", "group.name", "missing"},
	})
}

func TestRead_ReportsAllProblemsInOrderOfLinesAndIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("nodes = 128", "nodes = 0", "load = 0.7", "load = 0", "budget = 50000.0", "budgte = 3").Replace(smallScenario)
	_, err := ParseScenario("f.toml", []byte(text))
	var all *Problems
	if !errors.As(err, &all) || len(all.List) != 4 {
		t.Fatalf("want 4 problems, have %v", err)
	}
	for i, line := range []int{10, 25, 26, 28} {
		if all.List[i].Line != line {
			t.Errorf("problem %d: %v, want line %d", i, all.List[i], line)
		}
	}
	var one *Problem
	if !errors.As(err, &one) || one.Line != 10 {
		t.Errorf("the first of them is %v", one)
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "[[job]]\nname = \"j%d\"\nnodes = 0\nlength = 1\nbudget = 1\n", i)
	}
	_, err = ParseBatch("f.toml", []byte(many.String()))
	if !errors.As(err, &all) || len(all.List) != keys.MaxProblems || all.More != 10 || !strings.HasSuffix(err.Error(), "and 10 more") {
		t.Errorf("%v", err)
	}
}

func TestRead_SaysWhereTheSyntaxIsWrong(t *testing.T) {
	t.Parallel()
	for text, line := range map[string]int{
		"[[site]]\nname = \n":             2,
		"[[job]]\nnodes = 1\nnodes = 2\n": 3,
		"a = " + strings.Repeat("[", 40):  1,
		"\n[" + strings.Repeat("a.", 1e6): 2,
		"\n" + strings.Repeat("a", 300):   2,
		"name = 99999999999999999999\n":   1,
	} {
		_, err := checkText("f.toml", []byte(text))
		var one *Problem
		if !errors.As(err, &one) || one.Line != line {
			t.Errorf("%q: %v, want line %d", text, err, line)
		}
	}
	if _, err := checkText("f.toml", []byte("x = 1")); err == nil || !strings.Contains(err.Error(), "[[site]]") {
		t.Errorf("a file of no kind: %v", err)
	}
}

// checkText is Check of a text, without the batch files that it names.
func checkText(file string, text []byte) (*Checked, error) {
	return check(file, text, func(*Broker, grid.Duration, []string) error { return nil })
}
