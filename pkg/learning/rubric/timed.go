package rubric

import (
	"strings"

	"visavis.dev/pkg/sessions/session"
)

// whys are what to say of each doubt.
var whys = map[session.Doubt]string{
	session.NotUnderstood: "Something that was said was not understood.",
	session.LateWords:     "Words came after a time had run out.",
	session.WordsLost:     "Words may have been lost.",
	session.Handed:        "The conversation was interrupted during the answer.",
	session.ByStaff:       "A team member took over during the answer.",
	session.Stalled:       "The time was not kept exactly.",
	session.TooShort:      "The time of all questions ran out soon after it was asked.",
	session.Forbidden:     "A rule of the persona's refused something that was said.",
}

// Timed are the scores of an answer to the question of a key with what the clocks of its session know, and what came of
// the question in its time; empty where it had no limit. The words alone are scored, whatever time they took: but a time that
// ran out is told, and no score is sure where nobody knows for sure what was said in it.
func Timed(scores []Score, a Answer, clocks *session.Clocks, key string) ([]Score, session.Came) {
	k, timed := clocks.Of(key, !a.empty())
	if !timed {
		return scores, ""
	}
	doubts := why(k)
	for i := range scores {
		s := &scores[i]
		switch {
		case !a.Kept:
		case a.empty() && k.Came == session.NoAnswer:
			s.Confidence, s.Rationale = noAnswer, "The time ran out, and no answer was given."
		case a.empty() && k.Came == session.NeverPut:
			s.Confidence, s.Rationale = 0, "The question was not asked: the time was up before."
		case k.Came == session.RanOut:
			s.Rationale = strings.TrimSpace(s.Rationale + " The time ran out over the answer.")
		}
		if doubts == "" {
			continue
		}
		s.Confidence, s.Rationale = min(s.Confidence, Perhaps), strings.TrimSpace(s.Rationale+" "+doubts)
		if a.empty() {
			s.Confidence = 0
		}
	}
	return scores, k.Came
}

// Doubtful says whether nobody knows for sure what was answered in the time of a question.
func Doubtful(a Answer, clocks *session.Clocks, key string) bool {
	k, timed := clocks.Of(key, !a.empty())
	return timed && why(k) != ""
}

// why says why an answer is doubtful; empty where it is not.
func why(k session.Clock) string {
	var all []string
	if k.Came == session.NotKnown {
		all = append(all, "It is not known whether it was answered in time.")
	}
	for _, d := range k.Doubts {
		if text := whys[d]; text != "" {
			all = append(all, text)
		} else {
			all = append(all, "Something was not as it should be.") // what a later version knows
		}
	}
	return strings.Join(all, " ")
}
