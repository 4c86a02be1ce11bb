package world

import (
	"math/rand/v2"

	"github.com/bourse-grid/bourse/agents/sim"
	"github.com/bourse-grid/bourse/grid"
)

// wishFaults are further changes of mind in every fourth ordinary world, from a stream of their
// own: other nodes, another length, a later deadline. The salts of all other wishes there have 32
// bits, and by those a user wants nothing but another choice of when, or no window.
func wishFaults(seed uint64) (list []sim.Fault) {
	r := rand.New(rand.NewPCG(seed, streamWishes))
	if r.IntN(4) != 0 || narrow(seed) {
		return nil
	}
	for range 6 {
		list = append(list, otherWindow(r))
	}
	return list
}

// otherWindow is a wish for another window, of any kind.
func otherWindow(r *rand.Rand) sim.Fault {
	salt := 1 + r.Uint64N(1<<62)
	salt -= salt >> 8 % 3 << 8 // they want another window, not none
	return sim.Fault{Kind: UserCancel, Host: UsersID(BrokerNames[r.IntN(len(BrokerNames))]), Salt: salt,
		At: Start.Add(10*grid.Minute + grid.Duration(r.Int64N(int64(Storm-20*grid.Minute))))}
}
