// Package delivery brings recorded events to webhooks: at least once, signed,
// on the schedule of the spec, with no webhook in another's way (spec, Events:
// Delivery, Retries and pausing).
//
// A delivery's row is entered with its event (package event). A worker holds
// lanes of a shard by leases, and a webhook falls into one lane, so one worker
// at a time delivers for it. The worker reads what is due, makes attempts, and
// writes their results in batches: a row is written once when it is entered
// and once for each attempt.
package delivery
