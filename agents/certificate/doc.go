// Package certificate says who is who in a virtual organisation (VO). It makes
// the VO's certificate authority and the certificates of its members on disk,
// and holds the other end of a connection against them.
//
// An identity is one URI in a certificate, bourse://VO/ROLE/NAME, with the role
// site, broker, user, operator or mirror; the agent site:north of the VO atlas is
// bourse://atlas/site/north. Whoever holds a certificate of the VO's authority
// with that URI, neither expired nor revoked, is that member; nothing else
// counts: not the subject, not the address it calls from.
//
// Connections are TLS 1.3 with certificates on both ends. A Store holds a
// process's own certificate and the authorities that it trusts, and reads them
// again when the files change, so that a certificate is renewed without a
// restart. Who is refused is refused with a Refusal: whose certificate, what is
// wrong with it, what to do.
//
// The package uses the standard library's cryptography only. It opens no
// connection, never sends or logs a key, and never overwrites a file unless it
// is asked to. Paths of certificates are those of RFC 5280, names of services in
// them follow RFC 6125.
package certificate
