// Package certificate says who is who in a virtual organisation (VO). It makes the VO's
// certificate authority and the certificates of its members on disk, and checks the other
// end of a connection by them.
//
// An identity is one URI in a certificate, bourse://VO/ROLE/NAME. The role is site,
// broker, user, operator or mirror; the agent site:north of the VO atlas is
// bourse://atlas/site/north. Whoever holds a certificate of the VO's authority with that
// URI, neither expired nor revoked, is that member. Nothing else counts, neither the
// subject nor the address from which it calls.
//
// Connections are TLS 1.3 with certificates on both ends. A Store holds a process's own
// certificate and the authorities that it trusts. It reads them again when the files
// change, so a certificate is renewed without a restart. A Refusal names whose certificate
// was refused, what is wrong with it and what to do.
//
// The package uses only the standard library's cryptography. It opens no connection, never
// sends or logs a key, and never overwrites a file unless it is asked to. Certification
// paths follow RFC 5280, names of services in certificates RFC 6125.
package certificate
