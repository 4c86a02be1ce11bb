package wire

import (
	"github.com/bourse-grid/bourse/agents"
	"github.com/bourse-grid/bourse/grid"
)

var (
	someLeg  = grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 3, Nonce: 1<<63 + 5, Seq: 17}, Leg: 2}
	otherLeg = grid.LegID{Tx: grid.TxID{Broker: "vo1", Incarnation: 2, Nonce: 99, Seq: 4}}
	someSpan = grid.Leg{Group: "main", Nodes: 16, Start: 1_790_000_000_000, End: 1_790_007_200_000}
	someFare = grid.Fare{Base: 32 * grid.Credit, Additive: 1_500_000}
	stamped  = agents.Stamp{Epoch: 1<<62 + 1, Seq: 1234, From: 1000}
	someWhy  = grid.Reason{Code: grid.Busy, Detail: "job 17 runs until 12:00"}
	listed   = agents.ListedLeg{Leg: someLeg, What: someSpan, Job: "wave", User: "ana", State: grid.Lost, Fare: someFare,
		Limit: 40 * grid.Credit, Left: 5000, End: 1_790_007_100_000, Version: 2, Refund: 3 * grid.Credit, Penalty: grid.Credit, Run: 7_100_000}
)

// samples returns one message of every kind that goes between processes, with
// every field set.
func samples() []agents.Message {
	machine := grid.Machine{Memory: 64 << 30, Disk: 1 << 40, GPUs: 4, OS: "linux", Arch: "amd64", Features: []string{"avx512", "ib"}}
	return []agents.Message{
		agents.OfferRequest{Cycle: 7, Horizon: 1_790_604_800_000, Incarnation: 3, Nonce: 77},
		agents.Offers{Cycle: 7, Now: 1_790_000_000_000, Version: 12, Refusal: someWhy, Stamp: stamped, Nonce: 77, Latest: 4, Groups: []agents.GroupOffer{{
			Group:      grid.Group{Site: "north", Name: "main", Nodes: 128, Performance: 1500, Price: 1_250_000, Machine: machine},
			Admissible: grid.Profile{{At: 1_790_000_000_000, Free: 12}, {At: 1_790_000_060_000, Free: 128}},
			Clear:      grid.Profile{{At: 1_790_000_000_000, Free: -1}},
		}}},
		agents.QuoteRequest{Ref: 9, Users: []string{"ana", ""}, Legs: []grid.Leg{someSpan, {Group: "gpu", Nodes: 1, Start: -5, End: 5}}},
		agents.Quotes{Ref: 9, Version: 12, Stamp: stamped, Quotes: []grid.Quote{
			{Fare: someFare, Delayed: 3, Cancellation: grid.HalfTime}, {Fare: grid.Fare{Base: grid.MaxCredits}, Refusal: someWhy}}},
		agents.Hold{Leg: someLeg, What: someSpan, Job: "wave", User: "ana", Limit: 40 * grid.Credit, For: 30_000, Run: 7_000_000, Replaces: otherLeg, Version: 1,
			Flex: grid.Flex{Ready: 1_790_000_000_000, Due: 1_790_010_000_000, Fix: 500, Phi: 2000}, Offer: 2},
		agents.Held{Leg: someLeg, Fare: someFare, Version: 2, Stamp: stamped, Start: 1_790_001_000_000, End: 1_790_008_200_000},
		agents.Refused{Leg: someLeg, Step: "Hold", Fare: someFare, Reason: someWhy, DecidedBy: 3, Stamp: stamped, Latest: 4,
			Instead: []grid.Place{{Start: 1_790_002_000_000, End: 1_790_009_200_000, Fare: someFare}, {Start: 5, End: 6}}},
		agents.Prepare{Leg: someLeg, For: 900_000},
		agents.Prepared{Leg: someLeg, Stamp: stamped},
		agents.Confirm{Leg: someLeg, DecidedBy: 3},
		agents.Confirmed{Leg: someLeg, Refund: grid.Credit, Stamp: stamped},
		agents.Cancel{Leg: someLeg, DecidedBy: 3},
		agents.Cancelled{Leg: someLeg, Stamp: stamped},
		agents.LegStarted{Leg: someLeg, Stamp: stamped},
		agents.Settled{Leg: someLeg, End: 1_790_007_100_000, Charged: 32 * grid.Credit, Stamp: stamped},
		agents.Release{Leg: someLeg, DecidedBy: 3, Full: true},
		agents.Released{Leg: someLeg, Refund: grid.Credit, Stamp: stamped},
		agents.Inquire{Leg: someLeg, Stamp: stamped},
		agents.Answer{Leg: someLeg, Verdict: agents.Abort, DecidedBy: 3},
		agents.Heuristic{Leg: someLeg, Stamp: stamped},
		agents.Degraded{Leg: someLeg, Refund: grid.Credit, Penalty: 2 * grid.Credit, Stamp: stamped},
		agents.Noted{Leg: someLeg, Step: "Settled", Shifts: 3},
		agents.Shifted{Leg: someLeg, Start: 1_790_001_000_000, End: 1_790_008_200_000, Shifts: 3, Fixed: true, Stamp: stamped},
		agents.ShiftOffer{Leg: someLeg, Number: 2, Version: 3, Start: 1_790_002_000_000, End: 1_790_009_200_000, Ready: 1_790_001_000_000, Due: 1_790_012_000_000,
			Pay: 4 * grid.Credit, For: 3_600_000, Stamp: stamped},
		agents.ShiftDeclined{Leg: someLeg, Number: 2, Version: 3, Reason: someWhy},
		agents.List{Broker: "vo1", Incarnation: 4, Nonce: 77, Known: []grid.LegID{someLeg, otherLeg}},
		agents.Listing{Incarnation: 4, Legs: []agents.ListedLeg{listed}, Refusal: someWhy, Stamp: stamped, Nonce: 77, Latest: 5},
		agents.Reassert{Leg: listed, Incarnation: 4, Nonce: 77},
		agents.Reasserted{Leg: someLeg, Reason: someWhy, Stamp: stamped},
		agents.LegOutputRequest{Leg: someLeg, Ref: 5, From: -4096},
		agents.LegOutput{Leg: someLeg, Ref: 5, From: 10, Size: 14, Data: []byte("a\x00\xff\n"), Failure: someWhy},
		agents.PilotsRequest{Ref: 6, Broker: "vo1", Job: "wave", User: "ana", Group: "main", Nodes: 16, Limit: 15_120_000,
			Orders: []agents.PilotOrder{{Pilot: someLeg, Granted: 90_000}, {Pilot: otherLeg, Granted: 150_000, Leave: true}}},
		agents.Pilots{Ref: 6, Refusal: someWhy, Group: "main", Cluster: 128, Price: 1_250_000,
			At: 1_790_000_000_000, Fits: true, Room: 3, Pilots: []agents.PilotIs{{Pilot: someLeg, State: grid.PilotRuns, Begin: 1_790_000_060_000},
				{Pilot: otherLeg, State: grid.PilotOver, Begin: 1_790_000_000_000, End: 1_790_000_060_000, Reason: someWhy}}},
		agents.ReplicaStep{Group: "broker:vo1", Raft: []byte{8, 3}},
		agents.ReplicaPart{Group: "broker:vo1", From: 2, To: 4, Term: 17, Part: []byte(`{"index":5}`)},
		agents.ReplicaPartTaken{Group: "broker:vo1", Index: 9, Next: 3},
	}
}
