package conversation

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"visavis.dev/pkg/text/answer"
)

// Kept is what becomes of what is said in a session, as its settings have it.
type Kept struct {
	// None says that no words are kept. Days is for how many days after the session they are, 0
	// until it is over; nil where no time is set.
	None bool
	Days *int64
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
	SoundUntold  SoundKept = ""
	SoundOff     SoundKept = "off"
	SoundAsked   SoundKept = "asked"
	SoundIsTaped SoundKept = "on"
)

// told says in a language what is kept, a sentence each.
func (k *Kept) told(language string, aloud bool) (texts []string) {
	say := func(key string) { texts = append(texts, answer.Say(language, key)) }
	switch {
	case k.None:
		say("keptNone")
	case k.Days == nil:
		say("keptOpen")
	case *k.Days == 0:
		say("keptOver")
	case *k.Days == 1:
		say("keptDay")
	default:
		texts = append(texts, strings.ReplaceAll(answer.Say(language, "keptDays"), "{{days}}", strconv.FormatInt(*k.Days, 10)))
	}
	if k.Read && !k.None {
		say("keptRead")
	}
	switch k.Sound {
	case SoundOff:
		say("keptSilent")
	case SoundAsked:
		say("keptAsked")
	case SoundIsTaped:
		say("keptSound")
	}
	if k.Notice != "" && !aloud { // nobody writes down an address that is said
		texts = append(texts, strings.ReplaceAll(answer.Say(language, "keptNotice"), "{{url}}", k.Notice))
	}
	return texts
}

// Keeping says what is kept of the conversation: what the packs say of it, what its settings are,
// and that it is held with an AI, which who asks that should know as well. Where the settings are
// not known, nothing is said of them.
func (b extractive) Keeping(ctx context.Context, q Question) Stream {
	return func(yield func(Piece, error) bool) {
		pieces, err := b.keptByPacks(ctx, q)
		if err != nil {
			yield(Piece{}, err)
			return
		}
		texts := []string{answer.Say(q.Language, "keptUnknown")}
		if b.Kept != nil {
			if k, err := b.Kept(ctx); err == nil {
				texts = k.told(q.Language, b.aloud())
			} else if b.Log != nil {
				b.Log.WarnContext(ctx, "failed to read what is kept of a session", "session", b.Session.ID, "error", err)
			}
		}
		for _, text := range append(texts, bookOf(q.Language).disclosure) {
			pieces = append(pieces, Piece{Text: text, Retrieval: untold, ModelFirst: untold})
		}
		for _, p := range pieces {
			p.Act = ActDisclosure
			if !yield(p, nil) {
				return
			}
		}
	}
}

// keptByPacks is what the packs say of what is kept of conversations with the avatar; not of other
// records of the organization's.
func (b extractive) keptByPacks(ctx context.Context, q Question) ([]Piece, error) {
	for _, text := range []string{q.Text, answer.Say(q.Language, "keptWords")} {
		one := q
		one.Text, one.Previous = text, ""
		pieces, err := b.answer(ctx, one)
		if err != nil {
			return nil, err
		}
		pieces = slices.DeleteFunc(pieces, func(p Piece) bool {
			return p.Gap || p.Act != "" || len(p.Sources) == 0 || !answer.OfTalkKept(q.Language, p.Text)
		})
		if len(pieces) > 0 {
			return pieces, nil
		}
	}
	return nil, nil
}
