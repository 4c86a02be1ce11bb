//go:build linux

package drill

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/bourse-grid/bourse/agents/certificate"
)

// A replica listens to the others at its replicaPort; they reach it by a passage.
const (
	replicaPort = 7402
	passagePort = 7403
)

// replicate adds the processes that hold the broker together with the first one. They
// have one certificate, for the addresses of all. past: the first one's folder has the
// journal of a broker that ran alone, which they take over.
func (f *federation) replicate(n int, past bool) {
	f.t.Helper()
	f.replicas = []*agent{f.broker}
	var hosts []string
	for k := range n {
		a := f.broker
		if k > 0 {
			a = &agent{f: f, role: "broker", name: f.broker.name, keys: f.broker.keys, dir: filepath.Join(f.dir, fmt.Sprintf("broker-%s-%d", f.broker.name, k+1))}
			must(f.t, os.Mkdir(a.dir, 0o700))
			f.agents = append(f.agents, a)
			f.replicas = append(f.replicas, a)
			a.host = fmt.Sprintf("%s%d", f.net, len(f.agents))
		}
		a.number = k + 1
		hosts = append(hosts, a.host)
	}
	_, err := f.ca.Issue(certificate.Request{Role: certificate.Broker, Name: f.broker.name, Hosts: append(hosts, "127.0.0.1"), Replace: true})
	must(f.t, err)
	var members strings.Builder
	for _, a := range f.replicas {
		f.passages = append(f.passages, f.passage(a))
		fmt.Fprintf(&members, "[[replica.member]]\nid = %d\naddress = \"%s:%d\"\napi = %q\n", a.number, a.host, passagePort, a.api())
	}
	member := 0
	if past {
		member = 1
	}
	for _, a := range f.replicas {
		a.keys += fmt.Sprintf("[replica]\npast = %[6]d\nid = %[1]d\naddress = \"%[2]s:%[3]d\"\nadvertise = \"%[2]s:%[4]d\"\n%[5]s", a.number, a.host, replicaPort, passagePort, &members, member)
	}
}

// holders are the processes that hold the broker.
func (f *federation) holders() []*agent {
	if f.replicas == nil {
		return []*agent{f.broker}
	}
	return f.replicas
}

// without lists the folders of all agents but those of the broker's other processes.
func (f *federation) without(b *agent) (folders []string) {
	for _, a := range f.agents {
		if a == b || a.number == 0 {
			folders = append(folders, a.dir)
		}
	}
	return folders
}

// passage is where what a replica is sent goes through, until some of it is cut: then that
// is lost, and who sends it hears nothing. Who that is, the kernel tells.
type passage struct {
	to       *agent
	listener net.Listener
	mu       sync.Mutex
	cut      map[*agent]bool
	conns    map[net.Conn]*agent // both ends, by whom it comes from
}

func (f *federation) passage(to *agent) *passage {
	f.t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("%s:%d", to.host, passagePort))
	must(f.t, err)
	p := &passage{to: to, listener: l, cut: map[*agent]bool{}, conns: map[net.Conn]*agent{}}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.take(conn, f.caller(conn))
		}
	}()
	return p
}

// caller is the replica whose process has opened a connection; nil if it is gone.
func (f *federation) caller(conn net.Conn) *agent {
	at := func(a net.Addr) string {
		t := a.(*net.TCPAddr)
		ip := t.IP.To4()
		return fmt.Sprintf("%02X%02X%02X%02X:%04X", ip[3], ip[2], ip[1], ip[0], t.Port)
	}
	text, _ := os.ReadFile("/proc/net/tcp")
	for line := range strings.Lines(string(text)) {
		x := strings.Fields(line)
		if len(x) < 10 || x[1] != at(conn.RemoteAddr()) || x[2] != at(conn.LocalAddr()) {
			continue
		}
		for _, a := range f.replicas {
			files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", a.process()))
			for _, file := range files {
				if to, _ := os.Readlink(file); to == "socket:["+x[9]+"]" {
					return a
				}
			}
		}
	}
	return nil
}

// take lets a connection through.
func (p *passage) take(conn net.Conn, from *agent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if from == nil {
		_ = conn.Close()
		return
	}
	p.conns[conn] = from
	if p.cut[from] {
		return // nobody answers
	}
	on, err := net.Dial("tcp", net.JoinHostPort(p.to.host, strconv.Itoa(replicaPort)))
	if err != nil {
		p.end(conn)
		return
	}
	p.conns[on] = from
	go p.carry(conn, on, from)
	go p.carry(on, conn, from)
}

func (p *passage) carry(in, out net.Conn, from *agent) {
	b := make([]byte, 64<<10)
	for {
		n, err := in.Read(b)
		p.mu.Lock()
		cut := p.cut[from]
		if err != nil {
			p.end(in, out)
		}
		p.mu.Unlock()
		if err != nil {
			return
		}
		if !cut {
			_, _ = out.Write(b[:n])
		}
	}
}

func (p *passage) end(conns ...net.Conn) {
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

// set cuts what comes from a replica, or mends that: then what was connected breaks.
func (p *passage) set(from *agent, cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut[from] = cut
	for c, of := range p.conns {
		if !cut && of == from {
			p.end(c)
		}
	}
}

func (p *passage) close() {
	_ = p.listener.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		p.end(c)
	}
}
