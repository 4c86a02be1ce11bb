package api

// Site is a site as the broker knows it.
type Site struct {
	Name    string    `json:"name"`
	State   string    `json:"state" enum:"usable,drained,closed,silent,skewed,not-asked,left,lost" doc:"its state by its latest answer. drained: it accepts nothing new; closed: it accepts nothing from this VO, or its offers are invalid; for the others see answer, asked, member and lost"`
	Member  bool      `json:"member" doc:"the broker asks it for offers; otherwise it has left"`
	Listed  bool      `json:"listed" doc:"since the broker's last start, it has listed the legs that it carries"`
	Answer  string    `json:"answer,omitempty" enum:"silent,closed,skewed,usable" doc:"its answer to the last request for offers, or its latest word since; skewed: its clock is more than 2 s off"`
	Asked   Instant   `json:"asked,omitzero" doc:"when the last request was made"`
	Refusal *Reason   `json:"refusal,omitempty" doc:"why it is closed"`
	Lost    *SiteLoss `json:"lost,omitempty" doc:"present if it is lost: the broker has abandoned its legs, and asks it only what became of them"`
	Silent  Seconds   `json:"silent,omitzero" doc:"how long it has left questions unanswered"`
	Broken  uint64    `json:"brokenWords,omitempty" doc:"times that it has said what cannot be, or has taken back at once what it had confirmed"`
	Last    Instant   `json:"lastUntil,omitzero" doc:"until then it comes last, for its broken words: a job gets a window there only if it finds none elsewhere"`
	Groups  []Group   `json:"groups,omitempty"`
}

// SiteLoss says how a site was lost.
type SiteLoss struct {
	Since    Instant `json:"since"`
	Operator bool    `json:"operator" doc:"true: an operator declared it lost, and must take that back before it is used again. false: it was silent, and is used again once it answers"`
	Reason   string  `json:"reason"`
}

// LostWish says that a site will not come back.
type LostWish struct {
	Why string `json:"why,omitempty" maxLength:"256" doc:"reason, shown to the owners of the jobs"`
}

// Group is a group of nodes, with what is free now.
type Group struct {
	Name        string      `json:"name"`
	Nodes       int         `json:"nodes"`
	Free        int         `json:"free" doc:"nodes that can be reserved now"`
	Clear       int         `json:"clear" doc:"nodes that can be reserved now at the base price"`
	Performance Performance `json:"performance"`
	Price       Price       `json:"price" doc:"base price now"`
	Longest     Seconds     `json:"longest,omitzero" doc:"the longest window that is allowed; absent: any"`
	Shares
}

// Shares is how nodes are divided among several users, and what their GPUs cost.
type Shares struct {
	Slices   int   `json:"slices,omitempty" doc:"into how many equal shares a node is divided; absent: nodes are whole"`
	Cores    int   `json:"cores,omitempty" doc:"of a node; absent: not stated"`
	GPUs     int   `json:"gpus,omitempty" doc:"of a node"`
	GPUPrice Price `json:"gpuPrice,omitzero" doc:"base price then of one GPU for an hour, where nodes are divided: that of the node by its GPUs, rounded down to a millionth of a credit. For show: a part of a node costs its share of the node's price, rounded half up once"`
}

// SiteList is all sites that the broker knows, in order of name.
type SiteList struct {
	Sites []Site `json:"sites"`
}

// Offer is what one group offers over time.
type Offer struct {
	Site        string      `json:"site"`
	At          Instant     `json:"at" doc:"by the site's clock"`
	Group       string      `json:"group"`
	Nodes       int         `json:"nodes"`
	Performance Performance `json:"performance"`
	Price       Price       `json:"price" doc:"base price then"`
	Prices      []PriceStep `json:"prices,omitempty" doc:"its first changes after that; absent: it does not change"`
	Machine     Machine     `json:"machine"`
	Longest     Seconds     `json:"longest,omitzero" doc:"the longest window that is allowed; absent: any"`
	Shares
	Free []FreeStep `json:"free" doc:"each step applies until the next, the last one until the horizon"`
	More bool       `json:"more,omitempty" doc:"there are more steps than are shown"`
}

// FreeStep is how many nodes are free from an instant on.
type FreeStep struct {
	From  Instant `json:"from"`
	Free  int     `json:"free" doc:"nodes that can be reserved"`
	Clear int     `json:"clear" doc:"nodes that can be reserved at the base price"`
}

// PriceStep is the base price from an instant on.
type PriceStep struct {
	From  Instant `json:"from"`
	Price Price   `json:"price"`
}

// OfferList is what sites offer.
type OfferList struct {
	Offers []Offer `json:"offers"`
}

// Reservation is a committed leg that has not ended.
type Reservation struct {
	Leg    string  `json:"leg" doc:"broker/life/transaction.leg"`
	Job    string  `json:"job,omitempty"`
	User   string  `json:"user,omitempty"`
	Broker string  `json:"broker,omitempty" doc:"at a site: the broker that owns it"`
	Site   string  `json:"site"`
	Group  string  `json:"group"`
	Nodes  int     `json:"nodes"`
	Start  Instant `json:"start"`
	End    Instant `json:"end"`
	State  string  `json:"state"`
	Cost   Credits `json:"cost"`
}

// ReservationList is a page of reservations.
type ReservationList struct {
	Reservations []Reservation `json:"reservations"`
	Next         int           `json:"next,omitempty" doc:"skip= for the next page; absent: this is the last"`
}

// Accounts is the money of a VO.
type Accounts struct {
	VO    string  `json:"vo"`
	Money *VO     `json:"money,omitempty" doc:"of the VO as a whole; only for operators"`
	Users []Spend `json:"users" doc:"users see only their own row"`
	More  int     `json:"more,omitempty" doc:"number of users beyond the first 5,000, which are not shown"`
}

// VO is the VO's own money.
type VO struct {
	Budget  Credits `json:"budget" doc:"paid in altogether: the budget, the budgets of later periods, and deposits"`
	Spent   Credits `json:"spent" doc:"net of refunds"`
	Pending Credits `json:"pending" doc:"promised for legs that are held"`
	Left    Credits `json:"left"`
	Pace    *Pace   `json:"pace,omitempty" doc:"how well the budget lasts for its time; absent if the budget has no time"`
}

// Pace is how well a budget lasts for its time.
type Pace struct {
	From     Instant  `json:"from"`
	Until    Instant  `json:"until,omitzero"`
	For      Credits  `json:"for" doc:"credits for that time: left over from before, the budget, and deposits"`
	Used     Credits  `json:"used" doc:"spent and pending of that"`
	Foreseen *Credits `json:"foreseen,omitempty" doc:"projected use by the end, at the rate so far; absent in the first 2 % of the time"`
	Weight   Credits  `json:"weight" doc:"weight of a credit when windows are chosen by value: above 1 while spending is ahead of the budget"`
	Words    string   `json:"words" doc:"the same in words"`
}

// Spend is what one user has used.
type Spend struct {
	User    string   `json:"user" doc:"empty: jobs without a user"`
	Spent   Credits  `json:"spent" doc:"net of refunds"`
	Pending Credits  `json:"pending"`
	Quota   *Credits `json:"quota,omitempty" doc:"absent: the user has no quota"`
	Left    *Credits `json:"left,omitempty" doc:"under the quota"`
	Tenant  string   `json:"tenant,omitempty" doc:"the user's group of users; /v1/tenancy has its limits"`
}

// SiteStake is what would be abandoned with a site that is declared lost.
type SiteStake struct {
	Site    string  `json:"site"`
	Jobs    int     `json:"jobs" doc:"whose windows have legs there that are not over: each gets other nodes, or its window is released with a full refund and it waits again"`
	Legs    int     `json:"legs"`
	Running int     `json:"running" doc:"of the legs: their work may have to run again elsewhere"`
	Cost    Credits `json:"cost" doc:"of the legs, all of which is refunded"`
	Horizon Seconds `json:"horizon" doc:"how long jobs that fit nowhere without this site wait for it before they are abandoned"`
}
