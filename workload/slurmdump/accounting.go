package slurmdump

import (
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bourse-grid/bourse/grid"
	twin "github.com/bourse-grid/bourse/policy/slurm"
)

// table is what sacctmgr, sshare or sacct print with -P or -p: names of columns, then rows,
// parted by bars.
type table struct {
	name    string
	columns map[string]int // by name in lower case, without blanks
	rows    []row
}

type row struct {
	number int
	cells  []string
}

// tabled reads a table whole.
func tabled(name, text string) (*table, error) {
	t := &table{name: name}
	number := 0
	for l := range strings.SplitSeq(text, "\n") {
		number++
		l = strings.TrimRight(l, "\r")
		if strings.TrimSpace(l) == "" {
			continue
		}
		cells := strings.Split(l, "|")
		if t.columns == nil {
			t.columns = columns(cells)
			continue
		}
		if len(columns(cells)) == len(t.columns) && plain(cells[0]) == t.first() {
			continue // the names again
		}
		t.rows = append(t.rows, row{number, cells})
	}
	if t.columns == nil {
		return nil, fmt.Errorf("%s: is empty; its first line must name the columns, as sacctmgr -P prints them", name)
	}
	return t, nil
}

func columns(cells []string) map[string]int {
	m := map[string]int{}
	for i, c := range cells {
		if c = plain(c); c != "" {
			if _, twice := m[c]; !twice {
				m[c] = i
			}
		}
	}
	return m
}

// first is the name of the first column.
func (t *table) first() string {
	for name, i := range t.columns {
		if i == 0 {
			return name
		}
	}
	return ""
}

func plain(name string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", ""))
}

// get returns the value of a column, "" if it is not there.
func (t *table) get(r row, column string) string {
	i, ok := t.columns[column]
	if !ok || i >= len(r.cells) {
		return ""
	}
	return strings.TrimSpace(r.cells[i])
}

// limits sets the limits that a row has.
func (t *table) limits(r row, l *twin.Limits) error {
	for name, i := range t.columns {
		set, ok := limitKey(name)
		if !ok || i >= len(r.cells) || strings.TrimSpace(r.cells[i]) == "" {
			continue
		}
		if err := set(l, strings.TrimSpace(r.cells[i])); err != nil {
			return line{t.name, r.number, ""}.fault(name, "%v", err)
		}
	}
	return nil
}

// readQOS reads what sacctmgr show qos -P prints.
func (c *Cluster) readQOS(name, text string) error {
	t, err := tabled(name, text)
	if err != nil {
		return err
	}
	if _, ok := t.columns["name"]; !ok {
		return fmt.Errorf("%s: line 1: has no column Name; print it with sacctmgr show qos -P", name)
	}
	c.qosFile = true
	for _, r := range t.rows {
		q := twin.QOS{Name: t.get(r, "name"), UsageFactor: 1000, Limits: twin.NoLimits()}
		at := line{name, r.number, ""}
		if v := t.get(r, "priority"); v != "" {
			if q.Priority, err = big(v); err != nil {
				return at.fault("Priority", "%v", err)
			}
		}
		if v := t.get(r, "usagefactor"); v != "" {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil || !(f >= 0 && f <= 1e6) {
				return at.fault("UsageFactor", "%.40q is no number from 0 to 1000000", v)
			}
			q.UsageFactor = int64(f*1000 + 0.5)
		}
		if err := t.limits(r, &q.Limits); err != nil {
			return err
		}
		key := strings.ToLower(q.Name)
		if i, twice := c.qos[key]; twice {
			c.QOS[i] = q // the last of two holds
			continue
		}
		c.qos[key] = len(c.QOS)
		c.QOS = append(c.QOS, q)
	}
	return nil
}

// readAssoc reads what sacctmgr show assoc -P prints, or sacctmgr dump.
func (c *Cluster) readAssoc(name, text string) error {
	for l := range strings.SplitSeq(text, "\n") {
		l = strings.TrimSpace(l)
		switch {
		case l == "", strings.HasPrefix(l, "#"):
			continue
		case strings.Contains(l, " - '") && !strings.Contains(l, "|"):
			return c.readDump(name, text)
		}
		break
	}
	t, err := tabled(name, text)
	if err != nil {
		return err
	}
	if _, ok := t.columns["account"]; !ok {
		return fmt.Errorf("%s: line 1: has no column Account; print it with sacctmgr show assoc -P", name)
	}
	var list []association
	var stack []string // accounts by their indent, if the tree is shown so
	clusters := map[string]bool{}
	for _, r := range t.rows {
		a := association{at: line{name, r.number, ""}, account: t.get(r, "account"), user: t.get(r, "user"), partition: t.get(r, "partition"),
			parent: t.get(r, "parentname"), shares: 1, limits: twin.NoLimits()}
		if a.parent == "" {
			a.parent = t.get(r, "parname")
		}
		clusters[t.get(r, "cluster")] = true
		raw := r.cells[min(t.columns["account"], len(r.cells)-1)]
		indent := len(raw) - len(strings.TrimLeft(raw, " "))
		if a.user == "" && a.parent == "" && indent > 0 && indent <= len(stack) {
			a.parent = stack[indent-1]
		}
		if a.user == "" {
			stack = append(stack[:min(indent, len(stack))], a.account)
		}
		if v := t.get(r, "share"); v != "" {
			if err := a.share(v); err != nil {
				return a.at.fault("Share", "%v", err)
			}
		}
		if err := t.limits(r, &a.limits); err != nil {
			return err
		}
		list = append(list, a)
	}
	if len(clusters) > 1 {
		return fmt.Errorf("%s: has associations of %s; print those of one: sacctmgr show assoc where cluster=NAME -P", name, grid.Count(len(clusters), "cluster"))
	}
	return c.associate(name, list)
}

// association is a row before the tree is made.
type association struct {
	at                               line
	account, user, partition, parent string
	shares                           int64
	toParent                         bool // its share is "parent"
	limits                           twin.Limits
}

func (a *association) share(v string) error {
	if strings.EqualFold(v, "parent") || v == "2147483647" {
		a.toParent = true
		return nil
	}
	n, err := whole(v, 0)
	a.shares = int64(n)
	return err
}

// readDump reads what sacctmgr dump writes: lines such as "Account - 'phys':Fairshare=30",
// and for users and accounts below one, "Parent - 'phys'".
func (c *Cluster) readDump(name, text string) error {
	var list []association
	parent := ""
	number := 0
	for l := range strings.SplitSeq(text, "\n") {
		number++
		if l = strings.TrimSpace(l); l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		what, rest, ok := strings.Cut(l, " - ")
		at := line{name, number, ""}
		if !ok {
			return at.fault(l[:min(len(l), 20)], "must be as Account - 'NAME':KEY=VALUE, as sacctmgr dump writes it")
		}
		fields := dumpFields(rest)
		a := association{at: at, shares: 1, limits: twin.NoLimits()}
		switch what {
		case "Parent":
			parent = fields[0]
			continue
		case "Cluster":
			a.account = "root"
		case "Account":
			a.account, a.parent = fields[0], parent
		case "User":
			a.account, a.user = parent, fields[0]
		default:
			continue
		}
		for _, f := range fields[1:] {
			key, value, _ := strings.Cut(f, "=")
			value = strings.Trim(value, "'")
			switch set, isLimit := limitKey(key); {
			case strings.EqualFold(key, "Fairshare"):
				if err := a.share(value); err != nil {
					return at.fault(key, "%v", err)
				}
			case strings.EqualFold(key, "Partition"):
				a.partition = value
			case isLimit:
				if err := set(&a.limits, value); err != nil {
					return at.fault(key, "%v", err)
				}
			}
		}
		list = append(list, a)
	}
	return c.associate(name, list)
}

// dumpFields splits at colons outside of quotes; the first field is without its quotes.
func dumpFields(s string) []string {
	var out []string
	quoted, begin := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == ':' && !quoted:
			out = append(out, s[begin:i])
			begin = i + 1
		}
	}
	out = append(out, s[begin:])
	out[0] = strings.Trim(out[0], "'")
	return out
}

// maxAssocs bounds the associations of a cluster.
const maxAssocs = 1_000_000

// associate makes the tree: root, then accounts below their parents, then users.
func (c *Cluster) associate(name string, list []association) error {
	if len(list) > maxAssocs {
		return fmt.Errorf("%s: has %d associations; must have %d at most", name, len(list), maxAssocs)
	}
	root := twin.Assoc{Parent: -1, Account: "root", Limits: twin.NoLimits()}
	accounts := map[string]association{}
	var order []string
	for _, a := range list {
		switch {
		case a.user == "" && a.account == "root":
			root.Limits = a.limits
		case a.user == "":
			if _, twice := accounts[a.account]; !twice {
				order = append(order, a.account)
			}
			accounts[a.account] = a
		}
	}
	c.Assocs = []twin.Assoc{root}
	c.accounts["root"] = 0
	for _, account := range order {
		if err := c.account(accounts, account, 0); err != nil {
			return err
		}
	}
	parents := 0
	for _, a := range list {
		if a.user == "" {
			continue
		}
		p, ok := c.accounts[a.account]
		if !ok {
			return a.at.fault("Account", "user %s is of account %s, which has no row; print all associations: sacctmgr show assoc -P", a.user, a.account)
		}
		if a.toParent {
			parents++
		}
		key := member{a.account, a.user, a.partition}
		one := twin.Assoc{Parent: p, Account: a.account, User: a.user, Shares: a.shares, Limits: a.limits}
		if i, twice := c.assoc[key]; twice {
			c.Assocs[i] = one
			continue
		}
		c.assoc[key] = len(c.Assocs)
		c.Assocs = append(c.Assocs, one)
	}
	if parents > 0 {
		c.note("%s: %s the share of their parent; they count with a share of 1", filepath.Base(name), grid.Count(parents, "user has", "users have"))
	}
	return nil
}

// account adds an account after its parents.
func (c *Cluster) account(all map[string]association, account string, depth int) error {
	if _, done := c.accounts[account]; done {
		return nil
	}
	a := all[account]
	parent := 0
	if a.parent != "" && a.parent != "root" {
		if _, ok := all[a.parent]; !ok {
			return a.at.fault("ParentName", "account %s is below %s, which has no row", account, a.parent)
		}
		if depth > 100 {
			return a.at.fault("ParentName", "account %s is below itself, or more than 100 accounts deep", account)
		}
		if err := c.account(all, a.parent, depth+1); err != nil {
			return err
		}
		parent = c.accounts[a.parent]
	}
	if a.toParent {
		c.note("account %s has the share of its parent; it counts with a share of 1", account)
	}
	c.accounts[account] = len(c.Assocs)
	c.Assocs = append(c.Assocs, twin.Assoc{Parent: parent, Account: account, Shares: a.shares, Limits: a.limits})
	return nil
}

// readUsage reads the usage at the begin, as sshare -alP prints it.
func (c *Cluster) readUsage(name, text string) error {
	t, err := tabled(name, text)
	if err != nil {
		return err
	}
	for _, column := range [...]string{"account", "user", "rawusage"} {
		if _, ok := t.columns[column]; !ok {
			return fmt.Errorf("%s: line 1: has no column %s; print it with sshare -alP", name, column)
		}
	}
	var strangers []string
	for _, r := range t.rows {
		user := t.get(r, "user")
		if user == "" {
			continue // an account's is the sum of its users'
		}
		v := t.get(r, "rawusage")
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil || bits.Len64(n) > 42 {
			return line{name, r.number, ""}.fault("RawUsage", "%.40q is no number of CPU seconds", v)
		}
		i, ok := c.assoc[member{t.get(r, "account"), user, t.get(r, "partition")}]
		if !ok {
			strangers = append(strangers, user)
			continue
		}
		c.Assocs[i].Usage = int64(n)
	}
	if len(strangers) > 0 {
		slices.Sort(strangers)
		c.note("%s: without an association, and left out: %s", filepath.Base(name), listed(strangers))
	}
	return nil
}
