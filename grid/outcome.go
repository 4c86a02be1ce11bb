package grid

// Failure says why work is not a success; no reason: it is one, or nothing is known that
// ran. Work fails if it exits with a status other than 0, if it did not end by itself, as at
// its window's end, or if it is not known how it ended. The words end a sentence that begins
// with the work.
func (x *WorkResult) Failure() Reason {
	switch {
	case x == nil, x.Known && x.Exit == 0 && x.Signal == 0 && !x.Ended.Refused():
		return Reason{}
	case x.Ended.Code == Expired: // a status of 0 on the way out is no success
		return Because(Failed, "was cut off%v: %v", x.how(), x.Ended)
	case x.Ended.Refused():
		return Because(Failed, "ended%v", x.Words())
	case !x.Known:
		return Because(Failed, "ended, and how is not known")
	case x.Signal != 0:
		return Because(Failed, "was ended by signal %d", x.Signal)
	}
	return Because(Failed, "exited with status %d", x.Exit)
}
