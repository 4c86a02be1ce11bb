package federation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/agents/certificate"
	"github.com/bourse-grid/bourse/configs"
)

// MaxReplicas bounds the processes that hold a broker.
const MaxReplicas = 7

// ReplicaFile is the file of replica k of a broker, counted from 0.
func ReplicaFile(dir, name string, k int) string {
	return filepath.Join(dir, fmt.Sprintf("broker-%s-%d", name, k+1), "broker.toml")
}

// layOutReplicas makes n processes that hold the broker of a VO; 0: as many as there are, or
// else one. They share one certificate. dir has the VO's authority.
func layOutReplicas(dir, name, vo string, n int, ca *certificate.Authority, p *Ports) ([]Member, string, error) {
	first := memberFile(dir, "broker", name)
	if _, err := os.Stat(first); err == nil {
		cfg, err := configs.ReadBrokerProcess(first)
		if err != nil {
			return nil, "", err
		}
		had := max(1, len(cfg.Replica.Members))
		if n != 0 && n != had {
			return nil, "", fmt.Errorf("%s has a broker of %d processes; leave --replicas out, or choose another folder with --dir", dir, had)
		}
		n = had
	}
	if n <= 1 {
		m, seed, err := layOutBroker(dir, name, vo, "", ca, p)
		return []Member{m}, seed, err
	}
	if err := Issue(ca, certificate.Broker, name, Host, "localhost"); err != nil {
		return nil, "", err
	}
	var ports [][]int
	var list strings.Builder
	for k := range n {
		a, err := p.Take(4)
		if err != nil {
			return nil, "", err
		}
		ports = append(ports, a)
		fmt.Fprintf(&list, "[[replica.member]]\nid = %d\naddress = \"%s:%d\"\napi = \"https://%s:%d\"\n", k+1, Host, a[3], Host, a[2])
	}
	var members []Member
	seed := ""
	for k, a := range ports {
		file := first
		if k > 0 {
			file = ReplicaFile(dir, name, k)
		}
		more := fmt.Sprintf("[replica]                # several processes hold the broker\nid = %d\naddress = \"%s:%d\"\n%s", k+1, Host, a[3], list.String())
		m, gossip, err := layOutBrokerFile(file, name, vo, seed, more, a)
		if err != nil {
			return nil, "", err
		}
		m.Name = fmt.Sprintf("%s-%d", m.Name, k+1)
		if members = append(members, m); seed == "" {
			seed = gossip
		}
	}
	return members, seed, nil
}
