package api

// ShiftOffer is a site's offer for shifting a job.
type ShiftOffer struct {
	N       int     `json:"n" doc:"number of the offer for the job, from 1"`
	Site    string  `json:"site"`
	Start   Instant `json:"start" doc:"start of the job after the shift"`
	End     Instant `json:"end"`
	Opens   Instant `json:"opens" doc:"earliest start after the shift"`
	Closes  Instant `json:"closes"`
	Pay     Credits `json:"pay" doc:"payment: its price falls by this"`
	Expires Instant `json:"expires" doc:"it must be answered before this"`
	State   string  `json:"state" enum:"offer,accept,reject,expired" doc:"offer: it can still be answered"`
	Reason  *Reason `json:"reason,omitempty" doc:"why it was rejected, if not by its user"`
}

// ShiftOffers lists the offers for a job, at most the latest 16.
type ShiftOffers struct {
	Offers []ShiftOffer `json:"offers"`
}

// ShiftAnswer is a user's answer to an offer.
type ShiftAnswer struct {
	N      int  `json:"n" minimum:"1" doc:"number of the offer"`
	Accept bool `json:"accept" doc:"true: the job is shifted; false: it stays where it is"`
}
