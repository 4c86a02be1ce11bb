package main

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/bourse-grid/bourse/files"
	"github.com/bourse-grid/bourse/web/client"
)

// Two federations in one folder would be one another's agents under the same addresses.
// The second is refused at once; where the first has not come so far as to listen, the
// locks of the journals refuse it.

// pidFile has the process that runs the federation of a folder, or ran it last.
const pidFile = "up.pid"

// alreadyUp refuses a folder whose federation runs: the process that is written there is
// alive, and something listens where its agents do. A number alone may be another
// process's by now.
func alreadyUp(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 1 || !alive(pid) || !listens(dir) {
		return nil
	}
	return fmt.Errorf("a federation is running in %s already, as process %d: stop it with Ctrl-C where it runs, or kill %d; for another beside it name a folder of its own, such as --dir %s",
		dir, pid, pid, dir+"2")
}

// alive reports whether a process is there.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}

// listens reports whether anybody answers where an agent of the folder's context is.
func listens(dir string) bool {
	c, err := client.Read(filepath.Join(dir, contextFile))
	if err != nil {
		return false
	}
	for _, address := range append([]string{c.Broker}, addresses(c.Sites)...) {
		u, err := url.Parse(address)
		if err != nil {
			continue
		}
		if conn, err := net.DialTimeout("tcp", u.Host, time.Second); err == nil {
			_ = conn.Close()
			return true
		}
	}
	return false
}

func addresses(sites map[string]string) (list []string) {
	for _, a := range sites {
		list = append(list, a)
	}
	return list
}

// writePID writes that this process runs the federation of a folder.
func writePID(dir string) error {
	return files.Replace(filepath.Join(dir, pidFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, os.Getpid())
		return err
	})
}
