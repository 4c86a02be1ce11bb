package federation

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

	"github.com/bourse-grid/bourse/web/client"
	"github.com/bourse-grid/bourse/workload/files"
)

// Two federations in one folder would be the same agents at the same addresses, so the
// second is refused at once. If the first is not listening yet, the locks of the journals
// refuse the second.

// pidFile holds the ID of the process that runs, or last ran, the federation of a folder.
const pidFile = "up.pid"

// AlreadyUp refuses a folder whose federation is running: its recorded process is alive,
// and something listens at an address of its agents. The ID alone proves nothing, because
// another process may have it by now.
func AlreadyUp(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, pidFile))
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 1 || !alive(pid) || !listens(dir) {
		return nil
	}
	return fmt.Errorf("a federation is already running in %s, as process %d: stop it with Ctrl-C or kill %d; to run another one, choose another folder, such as --dir %s",
		dir, pid, pid, dir+"2")
}

// alive reports whether a process exists.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	err = p.Signal(syscall.Signal(0))
	return err == nil || os.IsPermission(err)
}

// listens reports whether anything answers at an address in the folder's context.
func listens(dir string) bool {
	c, err := client.Read(filepath.Join(dir, ContextFile))
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

// WritePID records that this process runs the federation of a folder.
func WritePID(dir string) error {
	return files.Replace(filepath.Join(dir, pidFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, os.Getpid())
		return err
	})
}
