package broker

// coordinator carries out the transactions of its client, by the rows of
// docs/TRANSACTION.md: it opens one, holds, decides, and sees that every site hears of
// the decision and every leg comes to its end. It knows neither cycles nor why
// somebody wants a window. Its parts each see to one thing that sites or lives do to
// that; they share what is on record and speak to sites by the coordinator alone.
type coordinator struct {
	*memory
	client   client
	recovery recovery
	amnesia  amnesia
	losses   losses
	watcher  watcher
}

// recovery brings a life that is not the first up to what its sites carry: it has
// them list their legs, decides afresh, and adopts what there is no record of.
type recovery struct {
	*memory
	co *coordinator
}

// amnesia finds that a site's memory is of the past, and tells it again what it has
// forgotten.
type amnesia struct {
	*memory
	co       *coordinator
	asserts  int // maxAsserts, less in tests
	probeSeq uint64
}

// losses goes on without sites that are lost, and settles what they claim when they
// are back.
type losses struct {
	*memory
	co *coordinator
}

// watcher asks after legs of which something should have been heard, or should be
// heard while another one can still be found.
type watcher struct {
	*memory
	co *coordinator
}

// newCoordinator is one that works for a client on what is remembered.
func newCoordinator(mem *memory, of client) *coordinator {
	co := &coordinator{memory: mem, client: of}
	co.recovery = recovery{memory: mem, co: co}
	co.amnesia = amnesia{memory: mem, co: co, asserts: maxAsserts}
	co.losses = losses{memory: mem, co: co}
	co.watcher = watcher{memory: mem, co: co}
	return co
}
