package dashboard

import (
	"maps"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/few"
	"visavis.dev/pkg/base/id"
)

// Batch is of how many people a figure about people is at least.
const Batch = few.Least

// group is what waits together.
type group struct {
	measure      string
	portal, unit uuid.UUID
}

// waiter is somebody of whom something waits.
type waiter struct {
	group
	person uuid.UUID
}

// people has something of a person wait, and counts what waits with it once it is of enough
// people. It belongs to the time at which it is counted: the batch's last event.
func (c *counting) people(a area, measure string, p id.Portal, u id.Unit, person uuid.UUID, at time.Time, n counts) {
	if person == (uuid.UUID{}) || c.erased[person] {
		return
	}
	g := group{measure, uuid.UUID(p), uuid.UUID(u)}
	if c.waiting[g] == nil {
		c.waiting[g] = map[uuid.UUID]counts{}
	}
	if c.waiting[g][person] == nil {
		c.waiting[g][person] = counts{}
	}
	c.waiting[g][person].add(n)
	c.changed[waiter{g, person}] = true
	maps.DeleteFunc(c.waiting[g][person], func(_ string, n int64) bool { return n == 0 })
	if len(c.waiting[g][person]) == 0 {
		delete(c.waiting[g], person) // who did nothing is nobody to be hidden among
	}
	if len(c.waiting[g]) < Batch {
		return
	}
	for who, of := range c.waiting[g] {
		c.changed[waiter{g, who}] = true
		for _, at := range g.places(a, at) {
			c.cell(at).add(of)
		}
	}
	c.waiting[g] = map[uuid.UUID]counts{}
}

// places are where what a group's people did is counted.
func (g group) places(a area, at time.Time) []place {
	all := []place{{a, uuid.UUID{}, uuid.UUID{}, slotOf(at)}}
	if g.portal != (uuid.UUID{}) {
		all = append(all, place{a, g.portal, uuid.UUID{}, slotOf(at)})
	}
	if g.unit != (uuid.UUID{}) {
		all = append(all, place{a, g.portal, g.unit, slotOf(at)})
	}
	return all
}

// forget leaves nothing waiting of somebody who was erased, as far as it was read.
func (c *counting) forget(person uuid.UUID) {
	for g, people := range c.waiting {
		if _, ok := people[person]; ok {
			delete(people, person)
			c.changed[waiter{g, person}] = true
		}
	}
}
