package api

// Replicas are the processes that hold a broker.
type Replicas struct {
	Here    string    `json:"here,omitempty" doc:"the replica that answers"`
	Leader  string    `json:"leader,omitempty" doc:"absent: unknown"`
	Term    uint64    `json:"term" doc:"of the present leadership"`
	Members []Replica `json:"members"`
}

// Replica is one of these processes, as the leader knows it. A replica that does not lead
// knows only its own progress.
type Replica struct {
	Name      string `json:"name" example:"replica:vo1/2"`
	Role      string `json:"role" enum:"leader,follower,joins,leaves" doc:"joins, leaves: the joining one is replacing the leaving one"`
	Term      uint64 `json:"term,omitempty" doc:"the latest term that it knows; absent: it is not heard"`
	Applied   uint64 `json:"applied" doc:"committed entries of the log on its disk"`
	Behind    uint64 `json:"behind" doc:"entries of the leader that it has not acknowledged"`
	Reachable bool   `json:"reachable" doc:"the leader has heard from it lately"`
	Address   string `json:"address,omitempty" doc:"for other replicas"`
	API       string `json:"api,omitempty"`
}

// Replacement replaces a member of a group by another one.
type Replacement struct {
	Out     int    `json:"out" minimum:"1" maximum:"1000" doc:"the id of the lost member, from its [replica]"`
	In      int    `json:"in" minimum:"1" maximum:"1000" doc:"the id of the new member, which no member has had before"`
	Address string `json:"address" maxLength:"300" doc:"host:port at which the others reach the new member" example:"four.example.org:7402"`
	API     string `json:"api,omitempty" maxLength:"300" doc:"the URL of its API, for users while it leads" example:"https://four.example.org:7480"`
}
