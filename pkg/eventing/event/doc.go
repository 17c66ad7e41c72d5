// Package event is the event log: the catalogue of everything that can happen,
// the one way to record that it did, and how a recorded event reads in a
// webhook's body or in GET /events (spec, Events).
//
// An event is staged in the transaction that makes it true, and has its place
// in the log and its deliveries a moment later (Emit, Numbering), only as ids
// and structure. Contact, result and
// conversation fields are read from the live rows by a Source each time the
// event is shown or sent. Sending is package delivery's.
package event
