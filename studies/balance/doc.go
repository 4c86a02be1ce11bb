// Package balance is the study of load balancing by price: an experiment of our own. VOs spread
// their jobs over sites that price reservations in one way or another, and on a market of single
// users each of them chooses for itself.
package balance
