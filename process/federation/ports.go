package federation

import (
	"fmt"
	"io/fs"
	"net"
	"os"
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
	files, err := filesIn(dir, "*/*.toml", "*/*/*.toml") // the latter of brokers of several VOs
	if err != nil {
		return err
	}
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

// filesIn lists the files of a folder that match one of the patterns. The folder's own name is none.
func filesIn(dir string, patterns ...string) (files []string, err error) {
	for _, pattern := range patterns {
		names, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files, nil
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
