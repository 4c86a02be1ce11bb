package configs

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/bourse-grid/bourse/configs/keys"
	"github.com/bourse-grid/bourse/grid"
)

// Replica is a process's place among those that hold a broker: [replica].
type Replica struct {
	Number  int      // among Members; 0: only this process holds the broker
	Listen  Endpoint // only for the other replicas
	Members []ReplicaMember
	// Past is the number of the replica with the journal of the broker that ran alone before;
	// 0: there is none.
	Past  int
	Joins bool // it replaces a lost member, and did not found the group

	// Silence is how long the leader may be silent before it counts as gone; default 600 ms
	// with gossip's profile fast, else 4 s.
	Silence grid.Duration
}

// ReplicaMember is one of the processes that hold a broker: [[replica.member]].
type ReplicaMember struct {
	Number  int
	Address string // host:port at which other replicas reach it
	API     string // its URL for users
}

// maxReplicas bounds the members: more of them make a broker slower, not safer.
const maxReplicas = 9

// keys lists the keys of [replica].
func (r *Replica) keys(p *Process) keys.List {
	plain := p.TLS.Plain
	return slices.Concat(keys.List{
		keys.Whole("id", &r.Number, 1, 1, 1000, "id of this process among the members"),
	}, r.Listen.keys(plain), keys.List{
		keys.Each("member", &r.Members, maxReplicas, func(m *ReplicaMember) keys.List { return m.keys(plain) },
			"all processes that hold the broker, the same in each file: three survive the loss of one, five of two"),
		keys.Span("silence", &r.Silence, 0, 200*grid.Millisecond, "how long the leader may be silent before it counts as gone").ByDefault("`0.6s` with the profile fast, else `4s`"),
		keys.Whole("past", &r.Past, 0, 0, 1000, "the member whose folder has the journal of the broker that ran alone until now; 0: there is none. Used only when the group is founded"),
		keys.Boolean("joins", &r.Joins, false, "this process replaces a lost member, and waits for the others to send it the whole state"),
		keys.Rule(r.whole),
		keys.Rule(func(*keys.Table) {
			switch {
			case r.Silence > 0:
			case p.Gossip.Profile == "fast":
				r.Silence = 600 * grid.Millisecond
			default:
				r.Silence = 4 * grid.Second
			}
		}),
	})
}

// whole checks that the members form a group, and that this process is one of them.
func (r *Replica) whole(t *keys.Table) {
	if !t.Has("member") {
		t.Wrong("member", "missing; write a [[replica.member]] with id, address and api for each of the processes that hold the broker")
		return
	}
	seen := map[string]bool{}
	own := false
	for i, m := range r.Members {
		at := t.Path.Key("member").At(i)
		own = own || m.Number == r.Number
		for _, x := range []string{fmt.Sprint(m.Number), m.Address, m.API} {
			if seen[x] && x != "" {
				t.WrongAt(at, "%s appears twice", x)
			}
			seen[x] = true
		}
	}
	if !own {
		t.Wrong("id", "%d is not one of the members", r.Number)
	}
	if r.Past > 0 && !slices.ContainsFunc(r.Members, func(m ReplicaMember) bool { return m.Number == r.Past }) {
		t.Wrong("past", "%d is not one of the members", r.Past)
	}
	if len(r.Members)%2 == 0 {
		t.Wrong("member", "%d members survive no more losses than %d do; leave one out", len(r.Members), len(r.Members)-1)
	}
}

// keys lists the keys of [[replica.member]].
func (m *ReplicaMember) keys(plain bool) keys.List {
	return keys.List{
		keys.Whole("id", &m.Number, 1, 1, 1000, "its number, which no other member has ever had"),
		keys.Address("address", &m.Address, plain, "address at which the other replicas reach it; its host must be in its certificate").Must(`"one.example.org:7402"`),
		keys.Text("api", &m.API, "", "URL of its API, to which the others send users while it leads"),
		keys.Rule(func(t *keys.Table) {
			u, err := url.Parse(m.API)
			if _, _, split := net.SplitHostPort(u.Host); m.API != "" && (err != nil || split != nil || !strings.HasPrefix(u.Scheme, "http")) {
				t.Wrong("api", "%q: must be a URL such as https://one.example.org:7480", m.API)
			}
		}),
	}
}
