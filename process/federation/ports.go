package federation

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"github.com/bourse-grid/bourse/configs"
)

// Ports hands out free ports of this machine. They are below those that the system uses
// for outgoing connections, so that they are still free next time.
type Ports struct {
	Next  int
	taken []string // addresses in existing files
}

// MaxPort is below the range for outgoing connections on common systems.
const MaxPort = 32000

// Reserve sets aside the addresses in existing files.
func (p *Ports) Reserve(dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.toml"))
	if err != nil {
		return err
	}
	of, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.toml")) // brokers of several VOs
	if err != nil {
		return err
	}
	files = append(files, of...)
	for _, f := range files {
		var c configs.Process
		if s, err := configs.ReadSiteProcess(f); err == nil {
			c = s.Process
			p.taken = append(p.taken, s.Rendezvous.Address)
			for i := range s.VOs {
				p.taken = append(p.taken, s.VOs[i].Listen.Address, s.VOs[i].Gossip.Address)
			}
		} else if b, err := configs.ReadBrokerProcess(f); err == nil {
			c = b.Process
			p.taken = append(p.taken, b.Replica.Listen.Address)
		}
		p.taken = append(p.taken, c.Listen.Address, c.Gossip.Address, c.HTTP)
	}
	return nil
}

// Take returns n ports that are free for TCP and UDP.
func (p *Ports) Take(n int) ([]int, error) {
	var list []int
	for ; len(list) < n; p.Next++ {
		if p.Next > MaxPort {
			return nil, fmt.Errorf("no free ports up to %d on %s; start lower with --port", MaxPort, Host)
		}
		address := fmt.Sprintf("%s:%d", Host, p.Next)
		if !slices.Contains(p.taken, address) && free(address) {
			list = append(list, p.Next)
		}
	}
	return list, nil
}

func free(address string) bool {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return false
	}
	defer l.Close()
	u, err := net.ListenPacket("udp", address)
	if err != nil {
		return false
	}
	return u.Close() == nil
}
