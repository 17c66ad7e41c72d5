package conversation

import (
	"errors"

	"visavis.dev/pkg/base/id"
)

// Say is something the avatar is told to say.
type Say struct {
	ID             id.Turn
	Text, Language string
	// Interrupt ends what is being said, unless that is not interruptible.
	Interrupt     bool
	Interruptible bool
	// Record is false for words that are not to be kept.
	Record bool
}

// Steer changes a conversation under way; nil leaves things as they are.
type Steer struct {
	// Context is added to what is known, Instructions take the persona's place.
	Context, Instructions, Language *string
	// Listening false makes the avatar deaf to what is spoken, not to what is
	// typed. Mute keeps it from speaking on its own; what it is told to say it says.
	Listening, Mute *bool
	// Paused has the conversation wait until the user goes on: nothing is said, asked or ended for their silence.
	Paused *bool
	// Interrupt ends what is being said, whatever it is.
	Interrupt bool
	Goal      *string
	Variables map[string]string
	// Obeyed is called once the conversation goes by it; nil for nobody.
	Obeyed func()
}

// StaffMode is what a team member does in a conversation.
type StaffMode string

// The modes: only listening, speaking beside the avatar, or in its place.
const (
	StaffListens  StaffMode = "listen"
	StaffSpeaks   StaffMode = "speak"
	StaffTakeover StaffMode = "takeover"
)

// Staff is a team member in a conversation.
type Staff struct {
	ID   id.Staff
	Name string
	Mode StaffMode
	// OnlyListens says that they were invited to listen and for nothing else: a visitor who waits for a person waits on.
	OnlyListens bool
}

// The inputs below return at once. False says that it came too late, since the
// conversation is over, or that there was too much.

// Receive takes a client's message. What comes faster than it is handled is
// dropped, and the client told.
func (c *Conversation) Receive(m ClientMessage) bool {
	return c.mail.put(item{by: byClient, do: func() { c.receive(m) }})
}

// Refuse tells the client that its message was not understood; err is Decode's.
func (c *Conversation) Refuse(err error) bool {
	var wrong *BadMessageError
	if !errors.As(err, &wrong) {
		wrong = &BadMessageError{Code: "invalid_message", Message: "the message could not be read"}
	}
	return c.mail.put(item{by: byClient, do: func() {
		c.send(Error{Code: wrong.Code, Message: wrong.Message})
	}})
}

// Say has the avatar say something, now or when it has said what it is saying.
func (c *Conversation) Say(s Say) bool { return c.order(func() { c.saying(s) }) }

// Respond takes words as if the user had typed them; turn is the id of the
// user's turn that they are.
func (c *Conversation) Respond(turn id.Turn, text string) bool {
	return c.order(func() {
		c.unconfirmed = nil // it is not the visitor who says yes
		c.typed(turn, clean(text), "")
	})
}

// Steer changes the conversation.
func (c *Conversation) Steer(s Steer) bool {
	return c.order(func() {
		c.steer(s)
		if s.Obeyed != nil {
			s.Obeyed()
		}
	})
}

// StaffJoined lets a team member in, or changes the mode of one who is.
func (c *Conversation) StaffJoined(s Staff) bool { return c.order(func() { c.staffJoined(s) }) }

// StaffLeft lets a team member go.
func (c *Conversation) StaffLeft(who id.Staff) bool { return c.order(func() { c.staffLeft(who) }) }

// StaffSaid takes a team member's words. What comes faster than it is handled is dropped.
func (c *Conversation) StaffSaid(who id.Staff, text string) bool {
	return c.mail.put(item{by: byStaff, do: func() { c.staffSaid(who, clean(text)) }})
}

// Present tells whether the client is connected. It is taken to be until somebody says otherwise.
func (c *Conversation) Present(yes bool) bool { return c.order(func() { c.present(yes) }) }

// Finish ends the conversation, after a message if there is one; Run returns.
func (c *Conversation) Finish(message string) bool {
	return c.order(func() { c.finish(clean(message)) })
}

func (c *Conversation) order(do func()) bool {
	taken := c.mail.put(item{do: do})
	if !taken {
		c.log.Debug("a conversation was told something too late", "session", c.config.Session.ID)
	}
	return taken
}

func (c *Conversation) receive(m ClientMessage) {
	switch m.Type {
	case ClientReady:
		c.plays = c.plays || len(m.Audio) > 0
		c.state = "" // who comes again, as after a page is loaded again, knows of none
		c.greet()
	case UserText:
		c.begin()
		c.typed(id.NewTurn(), m.Text, m.Question)
	case UserStartedSpeaking:
		c.begin()
		c.startedSpeaking()
	case UserStoppedSpeaking:
		c.stoppedSpeaking()
	case UserTranscript:
		c.begin()
		c.transcribed(m.Text, m.Final, m.Question)
	case Interrupt:
		c.interruptedByClient()
	case Playback:
		c.reported(m.Turn, m.PlayedMs)
	case Ping:
		c.send(Pong{})
	case FunctionCallResult:
		c.answered(m)
	case EndSession:
		c.stop(EndedByUser)
	}
}
