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
	// Avatar is who shows the persona's face as a video, where a service renders it.
	Avatar = "avatar"
	// Sound is the name of the persona's track.
	Sound = "sound"
)

// How a persona speaks with who renders its face (the avatars of LiveKit Agents): the sound of each turn is a stream of
// bytes of the topic AudioTopic, samples of 16 bits, little-endian, whose attributes are AudioRate and AudioChannels. The
// persona calls ClearBuffer where nothing more is to be heard of it; who renders calls PlaybackStarted and, at the end of
// each stream or for an interruption, PlaybackFinished with {playback_position, interrupted}, in seconds.
const (
	AudioTopic       = "lk.audio_stream"
	AudioRate        = "sample_rate"
	AudioChannels    = "num_channels"
	ClearBuffer      = "lk.clear_buffer"
	PlaybackStarted  = "lk.playback_started"
	PlaybackFinished = "lk.playback_finished"
)

// onBehalf names whose face and voice a participant has.
const onBehalf = "lk.publish_on_behalf"

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

// PersonaToken lets the persona into a session's room, to speak there and to hear its visitor.
func (k Key) PersonaToken(room string, now time.Time) (string, error) {
	return k.Mint(Participant{Identity: Persona, Agent: true}, Grant{
		Room: room, RoomJoin: true, CanPublish: true, CanPublishData: true, CanSubscribe: true,
	}, now, requestLasts)
}

// AvatarToken lets who renders the persona's face into a session's room, for as long as it may take to come. It may subscribe: programs that
// render join as any participant does.
func (k Key) AvatarToken(room string, now time.Time, lasts time.Duration) (string, error) {
	return k.Mint(Participant{Identity: Avatar, Agent: true, Attributes: map[string]string{onBehalf: Persona}}, Grant{
		Room: room, RoomJoin: true, CanPublish: true, CanPublishData: true, CanSubscribe: true,
	}, now, lasts)
}
