package api

// Tenancy lists how much users and tenants may use of the VO's resources.
type Tenancy struct {
	Tenants []Holding `json:"tenants" doc:"groups of users; users see only their own"`
	Users   []Holding `json:"users" doc:"users with terms; users see only their own row. \"*\": all other users"`
	More    int       `json:"more,omitempty" doc:"number of tenants and users beyond the first 5,000 of each, which are not shown"`
}

// Holding is a user or a tenant, with terms and usage.
type Holding struct {
	Name    string  `json:"name"`
	Tenant  string  `json:"tenant,omitempty" doc:"of a user: the user's tenant"`
	Source  string  `json:"source,omitempty" enum:"file,granted" doc:"where the tenant is set"`
	Terms   []Term  `json:"terms"`
	Waiting int     `json:"waiting" doc:"waiting jobs"`
	Hours   string  `json:"nodeHours" doc:"node-hours of windows that begin in the present period"`
	Credits Credits `json:"credits" doc:"spent or promised for those"`
	Until   Instant `json:"until" doc:"the end of that period"`
}

// Term is one term of a user or tenant.
type Term struct {
	Name   string `json:"name"`
	Value  string `json:"value" doc:"as in the broker's file" example:"30d"`
	Source string `json:"source" enum:"file,granted" doc:"file: the broker's file; granted: by an operator, which overrides the file"`
}

// Grant sets terms of a user or a tenant.
type Grant struct {
	User   string            `json:"user,omitempty" maxLength:"100" doc:"\"*\": all users without terms of their own"`
	Tenant string            `json:"tenant,omitempty" maxLength:"100" doc:"instead of a user"`
	In     string            `json:"in,omitempty" maxLength:"100" doc:"put the user into this tenant; \"-\": no tenant"`
	Terms  map[string]string `json:"terms,omitempty" doc:"by name, as in the broker's file" example:"{\"max_nodes\": \"64\"}"`
	Drop   []string          `json:"drop,omitempty" maxItems:"20" doc:"granted terms, or in, that the file sets again from now on"`
}
