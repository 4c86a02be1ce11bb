package sla

type Negotiation struct{}
