package world

// Streams of a seed: what is drawn for one purpose is drawn from one of its own, so that a new
// purpose leaves all else of a seed as it is.
//
// Three pairs share a stream, which recorded seeds hold as they are: the faults begin with
// the numbers that the promises began with, a manager's faults with those that the manager of the second
// site was drawn by, and the work with those of the third site's. So which promises a world has
// says something of its faults. A new purpose takes a number that is free; streams_test.go
// says so of whoever does not.
const (
	streamWorld         = 1
	streamPromises      = 2
	streamFaults        = 2 // shared with the promises
	streamReplicas      = 3
	streamLost          = 5
	streamLegFaults     = 6
	streamOperators     = 7
	streamMirrors       = 8
	streamMachineFaults = 9
	streamDiscovery     = 10
	streamKinds         = 11
	streamManager       = 12 // and the next two: one for each site
	streamManagerFaults = 13 // shared with the manager of the second site
	streamWork          = 14 // shared with the manager of the third site
	streamNarrow        = 18
	streamNarrowFaults  = 19
	streamLies          = 20
	streamPast          = 21
	streamShares        = 22
	streamWishes        = 23
	streamOffers        = 24
	streamFailures      = 25
	streamDisks         = 30
	streamTerms         = 40
	streamTermsFaults   = 41
	streamSilence       = 42
	streamParts         = 43
	streamReloads       = 44
	streamSlices        = 45
	streamRelease       = 46
	streamPilots        = 55
	streamPilotSites    = 56
	streamPilotFaults   = 57
	streamQueueJobs     = 58
)
