// Package setup plans portals from what an organization has already — a website,
// documents, a few lines — and makes the plans true (spec, Setup).
//
// A plan is worked out by a job, looked at and changed by people, and applied by
// another job. What it proposes is made of what the sources say: with a connected
// model it is written by it, without one it is put together from their headings
// and texts, and nothing is invented.
package setup
