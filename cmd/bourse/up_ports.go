package main

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"

	"github.com/bourse-grid/bourse/configs"
)

// ports hands out free ports of this machine. They are below those that the system uses
// for outgoing connections, so that they are still free next time.
type ports struct {
	next  int
	taken []string // addresses in existing files
}

// maxPort is below the range for outgoing connections on common systems.
const maxPort = 32000

// reserve sets aside the addresses in existing files.
func (p *ports) reserve(dir string) error {
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

// take returns n ports that are free for TCP and UDP.
func (p *ports) take(n int) ([]int, error) {
	var list []int
	for ; len(list) < n; p.next++ {
		if p.next > maxPort {
			return nil, fmt.Errorf("no free ports up to %d on %s; start lower with --port", maxPort, upHost)
		}
		address := fmt.Sprintf("%s:%d", upHost, p.next)
		if !slices.Contains(p.taken, address) && free(address) {
			list = append(list, p.next)
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
