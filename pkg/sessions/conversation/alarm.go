package conversation

import "time"

// alarm is something that is due at a moment. At most one of each kind is set.
type alarm int

const (
	utteranceEnds  alarm = iota // the user has paused for long enough
	turnTooLong                 // the user has spoken for as long as anyone may
	bargesIn                    // the user has spoken over the avatar for long enough
	turnPlayed                  // the avatar's words were all spoken
	asksGoal                    // the avatar may come back to its goal
	nudges                      // the user has said nothing for a while
	warns                       // the conversation is about to end in silence
	silenceEnds                 // it ends
	bridgesSilence              // the answer is late, and the user is asked for one moment
	thinksTooLong               // no answer was found in time
	finishes                    // the last words took too long
	nobodyComes                 // the person who was asked for has not come
	answerTime                  // the time of the question that was put has run out
	allTime                     // the time of all questions has
	graceEnds                   // the last words of that time are not waited for any longer
	wordsMissing                // words of an utterance that was taken do not come any more
	notesTime                   // it is noted how much time is used
	alarms
)

func (c *Conversation) set(a alarm, in time.Duration) { c.due[a] = c.now().Add(in) }

func (c *Conversation) clear(which ...alarm) {
	for _, a := range which {
		c.due[a] = time.Time{}
	}
}

func (c *Conversation) isSet(a alarm) bool { return !c.due[a].IsZero() }

// next is the moment of the earliest alarm.
func (c *Conversation) next() (at time.Time, any bool) {
	for _, due := range c.due {
		if !due.IsZero() && (!any || due.Before(at)) {
			at, any = due, true
		}
	}
	return at, any
}

// expire goes through the alarms that are due, earliest first.
func (c *Conversation) expire() {
	for !c.over {
		first, found := alarm(0), false
		for a, due := range c.due {
			if !due.IsZero() && !due.After(c.now()) && (!found || due.Before(c.due[first])) {
				first, found = alarm(a), true
			}
		}
		if !found {
			return
		}
		c.clear(first)
		c.on(first)
		c.settle()
	}
}

func (c *Conversation) on(a alarm) {
	switch a {
	case utteranceEnds:
		c.hearOut()
	case turnTooLong:
		c.ear.speaking = false
		c.hearOut()
	case bargesIn:
		c.bargeIn()
	case turnPlayed:
		c.played()
	case asksGoal:
		c.askGoal()
	case nudges:
		c.nudge()
	case warns:
		c.warn()
	case silenceEnds:
		c.stop(EndedIdle)
	case bridgesSilence:
		c.bridge()
	case thinksTooLong:
		if c.thought != nil {
			c.conclude(c.thought)
		}
	case finishes:
		c.stop("")
	case nobodyComes:
		c.nobodyCame()
	case answerTime:
		c.timeRanOut(ofOne)
	case allTime:
		c.timeRanOut(ofAll)
	case graceEnds:
		c.closeQuestion()
	case wordsMissing:
		c.wordsAreMissing()
	case notesTime:
		c.noteTime()
	}
}
