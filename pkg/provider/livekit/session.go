package livekit

import (
	"time"

	"visavis.dev/pkg/base/id"
)

// What everybody in a session's room knows.
const (
	// Topic is that of the packets in which the live protocol is spoken.
	Topic = "visavis"
	// Persona and Visitor are the identities of the two that a session is between. A team
	// member's is their id.
	Persona = "persona"
	Visitor = "visitor"
)

// VisitorToken lets the visitor of a session into its room.
func (k Key) VisitorToken(room string, now time.Time, lasts time.Duration) (string, error) {
	return k.Mint(Participant{Identity: Visitor}, Grant{Room: room, RoomJoin: true, CanPublish: true, CanPublishData: true, CanSubscribe: true}, now, lasts)
}

// StaffToken lets a team member into a session's room. One that only listens publishes
// nothing.
func (k Key) StaffToken(room string, staff id.Staff, name string, listens bool, now time.Time, lasts time.Duration) (string, error) {
	return k.Mint(Participant{Identity: staff.String(), Name: name}, Grant{
		Room: room, RoomJoin: true, CanPublish: !listens, CanPublishData: !listens, CanSubscribe: true,
	}, now, lasts)
}

// PersonaToken lets the persona into a session's room. It hears data, for which it need not
// subscribe.
func (k Key) PersonaToken(room string, now time.Time) (string, error) {
	return k.Mint(Participant{Identity: Persona}, Grant{Room: room, RoomJoin: true, CanPublishData: true}, now, requestLasts)
}
