package conversation

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"visavis.dev/pkg/text/answer"
)

// Kept is what becomes of what is said in a session, as its settings have it.
type Kept struct {
	// Untold says that it is not told what becomes of the words. None says that no words are kept. Days is for how many days after the session they are, 0
	// until it is over; nil where no time is set.
	Untold, None bool
	Days         *int64
	// Reachable says that how the user is reached is kept, if they tell it.
	Reachable bool
	// Read says that people of the organization may read the words.
	Read bool
	// Sound is whether the session's sound is kept.
	Sound SoundKept
	// Notice is the address of the privacy notice; empty for none.
	Notice string
}

// SoundKept is whether sound is kept.
type SoundKept string

// What becomes of sound. In chats there is none, and in rooms of others it is not known.
const (
	SoundUntold   SoundKept = ""
	SoundOff      SoundKept = "off"
	SoundAsked    SoundKept = "asked"
	SoundIsTaped  SoundKept = "on"
	SoundWasTaped SoundKept = "stopped"
)

// told says in a language what is kept, a sentence each.
func (k *Kept) told(language string, aloud bool) (texts []string) {
	say := func(key string) { texts = append(texts, answer.Say(language, key)) }
	switch {
	case k.Untold:
		say("keptUnknown")
	case k.None:
		say("keptNone")
		if k.Reachable {
			say("keptReach")
		}
		say("keptJoin")
	case k.Days == nil:
		say("keptOpen")
	case *k.Days == 0:
		say("keptOver")
	case *k.Days == 1:
		say("keptDay")
	default:
		texts = append(texts, strings.ReplaceAll(answer.Say(language, "keptDays"), "{{days}}", strconv.FormatInt(*k.Days, 10)))
	}
	if k.Read && !k.None && !k.Untold {
		say("keptRead")
	}
	switch k.Sound {
	case SoundOff:
		say("keptSilent")
	case SoundAsked:
		say("keptAsked")
	case SoundIsTaped:
		say("keptSound")
	case SoundWasTaped:
		say("keptStopped")
	}
	if k.Notice != "" && !aloud { // nobody writes down an address that is said
		texts = append(texts, strings.ReplaceAll(answer.Say(language, "keptNotice"), "{{url}}", k.Notice))
	}
	return texts
}

// keptWithin is how long it may take to look up what is kept: long before the answer is given up.
const keptWithin = 5 * time.Second

// Keeping says what is kept of the conversation: what the packs say of it, what its settings are,
// and that it is held with an AI, which who asks that should know as well. Where the settings are
// not known, nothing is said of them.
func (b extractive) Keeping(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		looking, cancel := context.WithTimeout(ctx, keptWithin)
		defer cancel()
		pieces, err := b.keptByPacks(looking, q)
		if err != nil && b.Log != nil {
			// That it is an AI is said all the same.
			b.Log.WarnContext(ctx, "failed to search for what is kept of a session", "session", b.Session.ID, "error", err)
		}
		texts := []string{answer.Say(q.Language, "keptUnknown")}
		if b.Kept != nil {
			reading, cancel := context.WithTimeout(ctx, keptWithin)
			defer cancel()
			if k, err := b.Kept(reading); err == nil {
				texts = k.told(q.Language, b.aloud())
			} else if b.Log != nil {
				b.Log.WarnContext(ctx, "failed to read what is kept of a session", "session", b.Session.ID, "error", err)
			}
		}
		for _, text := range append(texts, bookOf(q.Language).disclosure) {
			pieces = append(pieces, Piece{Text: text})
		}
		for _, p := range pieces {
			p.Act, p.quoted, p.Retrieval, p.ModelFirst = ActDisclosure, false, untold, untold
			if !yield(p, nil) {
				return
			}
		}
	}
}

// keptByPacks is what the packs say of what is kept of conversations with the avatar; not of other
// records of the organization's.
func (b extractive) keptByPacks(ctx context.Context, q Question) ([]Piece, error) {
	q.Text, q.Previous = answer.Say(q.Language, "keptWords"), ""
	passages, _, err := b.find(ctx, q)
	if err != nil {
		return nil, err
	}
	found := b.best(q, passages)
	if found.chosen = slices.DeleteFunc(found.chosen, func(c candidate) bool { return !answer.OfTalkKept(c.held.language, c.text) }); len(found.chosen) == 0 {
		return nil, nil
	}
	return stated(q, finding{chosen: found.chosen}, passages), nil
}
