//go:build linux

package drill

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/bourse-grid/bourse/agents/certificate"
)

// docs/FAILURES.md: a site that is cut off costs itself only; when the cut is
// mended it is back in the next cycle. Every agent has a network namespace of its
// own, on a bridge in one more; all traffic stays within these.
func TestPartition_ASiteThatIsCutOffIsBackAfterwards(t *testing.T) {
	t.Parallel()
	f := lay(t, plan{broker: "batch_size = 1\n"})
	n := f.namespaces()
	for _, a := range f.agents {
		a.start()
	}
	for _, a := range f.agents {
		a.ready()
	}
	n.place("before", 200, patience) // a leg at every site
	north := f.site("north")
	for round := range 2 {
		n.link(north, "down")
		begun := time.Now()
		n.place(fmt.Sprint("without", round), 140, 40*time.Second)
		t.Logf("cut off: the first job is placed elsewhere in %v", time.Since(begun).Round(time.Millisecond))
		if !f.broker.said(`"peer":"site:north"`, "peer has gone") {
			t.Error("the broker has not noticed that north is cut off")
		}
		n.link(north, "up")
		begun = time.Now()
		n.place(fmt.Sprint("with", round), 200, 40*time.Second)
		t.Logf("mended: a job with a leg at north is placed in %v", time.Since(begun).Round(time.Millisecond))
	}
	f.stop()
	f.verify()
}

// namespaces are the networks of a federation's agents.
type namespaces struct {
	f      *federation
	prefix string
}

// namespaces lays the networks and moves the agents into them, before they are
// started. It skips the test with a word where that may not be done.
func (f *federation) namespaces() *namespaces {
	f.t.Helper()
	if os.Getuid() != 0 {
		f.t.Skip("network namespaces want root")
	}
	n := &namespaces{f, fmt.Sprintf("drill%d-", os.Getpid()%10_000)}
	if out, err := exec.Command("ip", "netns", "add", n.prefix+"hub").CombinedOutput(); err != nil {
		f.t.Skipf("this machine has no network namespaces for us: %v, %s", err, out)
	}
	f.t.Cleanup(n.remove)
	n.ip("-n", n.prefix+"hub", "link", "add", "bridge", "type", "bridge")
	n.ip("-n", n.prefix+"hub", "link", "set", "bridge", "up")
	for i, a := range f.agents {
		ns := n.prefix + fmt.Sprint(i)
		a.host = fmt.Sprintf("10.77.0.%d", i+1)
		a.issue(f.ca, certificate.Request{Replace: true})
		n.ip("netns", "add", ns)
		n.ip("-n", ns, "link", "set", "lo", "up")
		n.ip("-n", ns, "link", "add", "eth0", "type", "veth", "peer", "name", fmt.Sprint("port", i), "netns", n.prefix+"hub")
		n.ip("-n", n.prefix+"hub", "link", "set", fmt.Sprint("port", i), "master", "bridge", "up")
		n.ip("-n", ns, "addr", "add", a.host+"/24", "dev", "eth0")
		n.ip("-n", ns, "link", "set", "eth0", "up")
		a.within = []string{"ip", "netns", "exec", ns}
	}
	f.write()
	return n
}

func (n *namespaces) ip(args ...string) {
	n.f.t.Helper()
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		n.f.t.Skipf("this machine does not let us lay a network: ip %s: %v, %s", strings.Join(args, " "), err, out)
	}
}

// remove takes the namespaces away; what runs in them is killed before.
func (n *namespaces) remove() {
	for _, a := range n.f.agents {
		if a.running() {
			a.kill()
		}
	}
	for i := range n.f.agents {
		_ = exec.Command("ip", "netns", "del", n.prefix+fmt.Sprint(i)).Run()
	}
	_ = exec.Command("ip", "netns", "del", n.prefix+"hub").Run()
}

// link cuts an agent off, or mends that: at the bridge's end, so that the agent
// notices nothing but silence.
func (n *namespaces) link(a *agent, state string) {
	n.f.t.Helper()
	for i := range n.f.agents {
		if n.f.agents[i] == a {
			n.ip("-n", n.prefix+"hub", "link", "set", fmt.Sprint("port", i), state)
		}
	}
}

// place submits a job from the broker's machine and waits until it is placed.
func (n *namespaces) place(name string, nodes int, within time.Duration) {
	n.f.t.Helper()
	batch := n.f.dir + "/" + name + ".toml"
	must(n.f.t, os.WriteFile(batch, fmt.Appendf(nil, "[[job]]\nname = %q\nnodes = %d\nlength = \"1s\"\nmax_price = 20.0\n", name, nodes), 0o600))
	ctx, stop := context.WithTimeout(context.Background(), within)
	defer stop()
	cmd := exec.CommandContext(ctx, n.f.broker.within[0], append(n.f.broker.within[1:], binary, "submit", batch, "--wait", "--context", n.f.context())...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || !strings.Contains(out.String(), "placed") {
		n.f.t.Fatalf("job %s of %d nodes: %v\n%s", name, nodes, err, &out)
	}
}
