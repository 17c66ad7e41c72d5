package page

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
)

// waitingBody is the page's own of the results that wait.
type waitingBody struct {
	Results []waitingRow
	Next    string
	Done    string
}

// waitingRow is a result that waits.
type waitingRow struct {
	URL, Name, Subject, Why string
	At                      *moment
}

// doneWords are what is said of what was just done, by what the address says of it.
var doneWords = map[string]string{
	"scores": "review.saved", "release": "review.released", "complete": "review.completed", "void": "review.voided", "upheld": "review.contest_decided",
	"rejected": "review.contest_decided",
}

func (v *view) waiting() error {
	w, err := v.h.Classes.Waiting(v.r.Context(), v.site, v.secret, v.after())
	if err != nil {
		return err
	}
	s := v.sheet("class.reviews.title")
	body := waitingBody{Next: v.more("/class/reviews", w.Next), Done: v.done()}
	for _, r := range w.Results {
		body.Results = append(body.Results, waitingRow{
			URL: v.at("/class/results/" + r.Result.String()), Name: r.Name, Subject: v.subjectCalled(r.Subject), Why: v.Say("waiting." + r.State), At: w.at(r.CompletedAt),
		})
	}
	s.Body = body
	return v.show(http.StatusOK, "reviews", s)
}

// done is what is said of what was just done; empty for nothing.
func (v *view) done() string {
	if key := doneWords[v.r.URL.Query().Get("done")]; key != "" {
		return v.Say(key)
	}
	return ""
}

// reviewBody is the page's own of a result that somebody looks at.
type reviewBody struct {
	scoredBody
	Name, Action, Done, Reason, Note, Why string
	// Wrong is the input that something is wrong with; empty for none.
	Wrong   string
	Edition int64
	Turns   []turnBody
	// Readable says that the words may be read, Held that nothing can be changed, Unjudged that a
	// score is missing, Released that it is released, Open that a review of it is open, and
	// Objects that an objection is to be decided.
	Readable, Held, Unjudged, Released, Open, Objects bool
	// MoreTurns says that more was said than the Turns.
	MoreTurns bool
}

// turnBody is something that was said.
type turnBody struct {
	Who, Text string
	Learner   bool
}

// flaw is what is wrong with a form, and with which input: none for the whole.
type flaw struct{ Text, At string }

func (v *view) review(text string, wrong flaw) error {
	which, err := id.ParseResult(text)
	if err != nil {
		return errNoPage
	}
	found, err := v.h.Classes.Review(v.r.Context(), v.site, v.secret, which)
	if err != nil {
		return err
	}
	v.path = "/class/results/" + which.String() // also where a form was sent
	s := v.sheet("class.reviews.title")
	s.Title, s.Message = found.Title, wrong.Text
	body := v.reviewBody(&found)
	body.Wrong = wrong.At
	s.Body = body
	return v.show(statusOf(wrong.Text), "review", s)
}

func (v *view) reviewBody(found *Reviewed) reviewBody {
	r := &found.Result
	body := reviewBody{
		scoredBody: scoredBody{
			row: row{
				ID: r.ID.String(), Subject: found.Title, Kind: v.Say("kind." + r.Kind), Attempt: strconv.FormatInt(r.Attempt, 10), State: v.Say("waiting." + string(r.State)),
				At: found.at(r.CompletedAt),
			},
			Shown: true, Score: v.share(r.Percent), Questions: v.judged(r, found.Look, found.Content, true), Contest: v.contest(found.Zoned, found.Look),
		},
		Name: found.Name, Action: v.at("/class/results/" + r.ID.String()), Done: v.done(), Edition: r.Edition, Readable: found.Look.Readable, Held: r.OnHold,
		Released: r.Shown(), Objects: r.State == result.Contested, MoreTurns: found.MoreTurns, Open: found.Look.Review != nil && found.Look.Review.State == result.Open,
		Reason: v.r.PostForm.Get(inputReason), Note: v.r.PostForm.Get(inputWords), Why: v.r.PostForm.Get(inputWhy),
	}
	// What was typed beside scores that are not those any more is not shown again: sent once more,
	// it would undo what somebody else has changed.
	kept := v.r.PostForm.Get(inputEdition) == strconv.FormatInt(r.Edition, 10)
	for i := range body.Questions {
		for j := range body.Questions[i].Criteria {
			k := &body.Questions[i].Criteria[j]
			body.Unjudged = body.Unjudged || k.Value == ""
			k.Given = k.Value
			if form := v.r.PostForm; kept && differs(form, k.Key) && utf8.RuneCountInString(form.Get(inputScore+k.Key)) <= longestScore {
				k.Given = form.Get(inputScore + k.Key)
			}
		}
	}
	for _, t := range found.Turns {
		body.Turns = append(body.Turns, turnBody{Who: v.who(t, found.Name), Text: t.Heard(), Learner: t.Speaker == session.User})
	}
	return body
}

// who is who said something.
func (v *view) who(t session.Turn, learner string) string {
	switch t.Speaker {
	case session.User:
		return learner
	case session.Staff:
		return v.Say("talk.staff")
	case session.Avatar:
	}
	return v.site.Speaker.Name
}

// longestScore is how many characters a number of points has at most.
const longestScore = 12

// decide does what somebody decides of a result.
func (v *view) decide(text, what string) error {
	which, err := id.ParseResult(text)
	if err != nil || doneWords[what] == "" {
		return errNoPage
	}
	d := Decision{Result: which, What: what, From: v.h.Address(v.r)}
	d.Edition, err = strconv.ParseInt(v.r.PostForm.Get(inputEdition), 10, 64)
	if err != nil {
		return v.review(text, flaw{Text: v.Say("review.stale")})
	}
	var wrong flaw
	if what == "scores" {
		d.Scores, wrong = v.scores()
	}
	if wrong.Text == "" {
		d.Reason, wrong = v.reason(what)
	}
	if wrong.Text != "" {
		return v.review(text, wrong)
	}
	err = v.h.Classes.Decide(v.r.Context(), v.site, v.secret, d)
	switch key := unfit(err); {
	case key != "":
		return v.review(text, flaw{v.Say(key), d.input(err)})
	case err != nil:
		return err
	}
	to := "/class/reviews"
	if what == "scores" || what == "complete" {
		to = "/class/results/" + which.String()
	}
	return v.goTo(to + "?done=" + what)
}

// input is the one of the form that a rule found wrong; empty for none.
func (d *Decision) input(err error) string {
	invalid, ok := errors.AsType[*errdefs.Invalid](err)
	if !ok {
		return ""
	}
	var at int
	if n, _ := fmt.Sscanf(invalid.Field, "criteria[%d].", &at); n == 1 && at < len(d.Scores) {
		return inputScore + d.Scores[at].Key
	}
	return ""
}

// reason is why somebody decides, and what is wrong with it; empty for nothing. It is asked for
// but to release and to complete.
func (v *view) reason(what string) (text string, wrong flaw) {
	name, longest := inputReason, longestReason
	switch what {
	case "release", "complete":
		return "", flaw{}
	case "upheld", "rejected":
		name, longest = inputWords, longestObjection
	case "void":
		name = inputWhy
	}
	text, ok := v.words(name)
	if !ok || utf8.RuneCountInString(text) > longest {
		return "", flaw{v.Say("review.reason_missing"), name}
	}
	return text, flaw{}
}

// longestReason is how many characters the reason of a change has at most.
const longestReason = 2000

// mostScores is how many criteria a subject has at most: 20 of each of 200 questions.
const mostScores = 4000

// scores are those that a form gives otherwise than they were seen, and what is wrong with them.
func (v *view) scores() (all []result.Rescore, wrong flaw) {
	for _, name := range slices.Sorted(maps.Keys(v.r.PostForm)) {
		key, found := strings.CutPrefix(name, inputScore)
		text := strings.TrimSpace(v.r.PostForm.Get(name))
		if !found || text == "" || !differs(v.r.PostForm, key) {
			continue
		}
		points, err := strconv.ParseFloat(digits.Replace(text), 64)
		if err != nil || utf8.RuneCountInString(text) > longestScore || points < 0 || points > 1e5 || points != points || len(all) == mostScores {
			return nil, flaw{v.Say("review.score_wrong"), name}
		}
		all = append(all, result.Rescore{Key: key, Score: points})
	}
	return all, flaw{}
}

// digits reads numbers as they are typed in the languages of the pages.
var digits = strings.NewReplacer(
	",", ".", "٫", ".", "٠", "0", "١", "1", "٢", "2", "٣", "3", "٤", "4", "٥", "5", "٦", "6", "٧", "7", "٨", "8", "٩", "9",
	"۰", "0", "۱", "1", "۲", "2", "۳", "3", "۴", "4", "۵", "5", "۶", "6", "۷", "7", "۸", "8", "۹", "9",
)

// differs says whether a form gives a criterion other points than those that were seen with it.
func differs(form url.Values, key string) bool {
	return strings.TrimSpace(form.Get(inputScore+key)) != form.Get(inputSeen+key)
}

// unfit is what is said of a decision that the result does not allow; empty of other errors.
func unfit(err error) string {
	var (
		held     *result.HeldError
		conflict *errdefs.Conflict
		invalid  *errdefs.Invalid
	)
	switch {
	case errors.Is(err, class.ErrStale):
		return "review.stale"
	case errors.As(err, &held):
		return "review.held"
	case errors.As(err, &conflict) && conflict.Reason == result.ReasonNotJudged:
		return "review.unjudged"
	case errors.As(err, &conflict):
		return "review.stale"
	case errors.As(err, &invalid):
		return "review.score_wrong"
	}
	return ""
}

// unchangeable says that a result cannot be changed as it stands.
func unchangeable(err error) bool { return unfit(err) != "" }
