package federation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bourse-grid/bourse/configs"
)

// MaxBrokers bounds the brokers of one VO.
const MaxBrokers = 10

// upBrokerName is the name of a further broker, numbered from 2.
func upBrokerName(i int) string { return fmt.Sprintf("broker%d", i) }

// BrokerContext is the context file for a further broker.
func BrokerContext(dir, name string) string {
	return filepath.Join(dir, strings.TrimSuffix(ContextFile, ".json")+"-"+name+".json")
}

// AddBrokers makes the missing ones of n brokers (0: as many as there are) in a federation
// of one VO that is laid out. It returns all members, brokers first. Each broker has its
// own accounts and queue.
func AddBrokers(dir string, members []Member, n, port int) ([]Member, error) {
	if n == 0 {
		for n = 1; n < MaxBrokers; n++ {
			if _, err := os.Stat(memberFile(dir, "broker", upBrokerName(n+1))); errors.Is(err, fs.ErrNotExist) {
				break
			}
		}
	}
	if n == 1 {
		return members, nil
	}
	if len(members) > 1 && members[1].Role == "broker" {
		return nil, fmt.Errorf("%s has a broker of several processes; leave --brokers out, or choose another folder with --dir", dir)
	}
	ca, err := OpenAuthority(filepath.Join(dir, CaFolder), VO)
	if err != nil {
		return nil, err
	}
	first, err := configs.ReadBrokerProcess(members[0].File)
	if err != nil {
		return nil, err
	}
	ports := &Ports{Next: port}
	if err := ports.Reserve(dir); err != nil {
		return nil, err
	}
	list := members[:1:1]
	for i := 2; i <= n; i++ {
		name := upBrokerName(i)
		m, _, err := layOutBroker(dir, name, VO, first.Gossip.Advertise, ca, ports)
		if err != nil {
			return nil, err
		}
		if err := writeContext(dir, filepath.Base(BrokerContext(dir, name)), ca, append([]Member{m}, members[1:]...)); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return append(list, members[1:]...), nil
}
