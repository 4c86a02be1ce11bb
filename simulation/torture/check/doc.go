// Package check holds a world to the invariants I1 to I33, from outside and after every step.
// Package world builds and disturbs it; this one changes nothing.
//
// Each fact is checked against what its agent's journal has said before, as by "bourse
// journal verify" (journals.go), and at the end the facts of both sides are compared (rest.go).
// There are also checks of what no journal shows: messages (talk.go), lives (lives.go), live
// accounts (keeps.go), what users were told (told.go) and what truly is in resource managers
// (manager.go). An independent mirror for I1, I3 and I8 (mirror.go, books.go, divided.go,
// terms_mirror.go) keeps an error in the common fold from hiding.
//
// The checks trust no agent's own word. They see the facts that became durable, the
// messages that were sent, and the accounts. What an agent forgets because of an old disk
// is exempt (exempt.go); at rest only if an amnesia has named it, or it had ended before any
// agent could name it, as while the site that has forgotten it was down. Everything else must
// have been found again by then.
package check
