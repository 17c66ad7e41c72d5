package page

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/portals/subject"
)

// resultsBody is the page's own of somebody's results.
type resultsBody struct {
	Results []row
	Next    string
}

// row is a result in a list. Outcome is empty before it is released.
type row struct {
	ID, Subject, Kind, Attempt, State, Outcome string
	At                                         *moment
}

func (v *view) results() error {
	found, err := v.h.Learning.Results(v.r.Context(), v.site, v.secret, v.after())
	if err != nil {
		return err
	}
	s := v.sheet("results.title")
	body := resultsBody{Next: v.more("/results", found.Next)}
	for _, r := range found.Results {
		body.Results = append(body.Results, row{
			ID: r.ID.String(), Subject: v.subjectCalled(r.Subject), Kind: v.Say("kind." + r.Kind), Attempt: strconv.FormatInt(r.Attempt, 10),
			State: v.told(r.State), Outcome: v.outcome(&r), At: found.at(&r.StartedAt),
		})
	}
	s.Body = body
	return v.show(http.StatusOK, "results", s)
}

// told is where a result stands in words. One that is not released says no more than that it is
// looked at, whether it was scored or waits for somebody.
func (v *view) told(s result.State) string {
	if s == result.InProgress {
		s = result.AwaitingReview
	}
	return v.Say("result." + string(s))
}

// outcome says whether a released result passed; empty where nobody can fail, and of others.
func (v *view) outcome(r *result.Result) string {
	switch {
	case !r.Shown() || r.Passed == nil:
		return ""
	case *r.Passed:
		return v.Say("result.passed")
	}
	return v.Say("result.failed")
}

// scoredBody is the page's own of a result.
type scoredBody struct {
	row
	Shown     bool
	Score     string
	Questions []judged
	Mastery   []shifted
	// Contest is the objection that there is, and MayObject says that one can be made.
	Contest   *contested
	MayObject bool
	// Edition is that of the result as it is shown with the form.
	Edition int64
	Words   string
	Reports []fact
}

// shifted is an objective with how well it is mastered since the result, and before.
type shifted struct {
	Text phrase
	Said string
}

// judged is a question with how it was answered.
type judged struct {
	Text     string
	Language string
	Criteria []criterionBody
}

// criterionBody is a criterion with its score.
type criterionBody struct {
	Key, Label, Score, Level, Time, Rationale, Reason, Confidence, By string
	// Value, Max and what was Given are for the form of who changes it.
	Value, Max, Given string
	Levels            []string
	Quotes            []string
}

// contested is an objection to a result.
type contested struct {
	Words, State, Note string
	At                 *moment
}

// longestObjection is how many characters an objection, and what is answered, have at most.
const longestObjection = 4000

func (v *view) result(text, message string) error {
	which, err := id.ParseResult(text)
	if err != nil {
		return errNoPage
	}
	found, err := v.h.Learning.Result(v.r.Context(), v.site, v.secret, which)
	if err != nil {
		return err
	}
	r := &found.Result
	v.path = "/results/" + which.String() // also where a form was sent
	s := v.sheet("results.title")
	s.Title, s.Message = found.Title, message
	body := scoredBody{
		row:   row{ID: r.ID.String(), Subject: found.Title, Kind: v.Say("kind." + r.Kind), Attempt: strconv.FormatInt(r.Attempt, 10), State: v.told(r.State), Outcome: v.outcome(r), At: found.at(&r.StartedAt)},
		Shown: r.Shown(), Contest: v.contest(found.Zoned, found.Look),
	}
	if body.Shown {
		body.Score, body.Questions, body.Mastery = v.share(r.Percent), v.judged(r, found.Look, found.Content, false), v.shifts(r)
		body.MayObject, body.Edition = r.State == result.Released && !r.OnHold, r.Edition
		body.Words = v.r.PostForm.Get(inputWords)
		for _, p := range found.Reports {
			body.Reports = append(body.Reports, fact{
				Name: v.Say("results.report", strings.ToUpper(string(p.Format))), Text: v.at("/reports/" + p.ID.String()), Time: p.CreatedAt.In(found.Zone).Format(time.DateOnly),
			})
		}
	}
	s.Body = body
	return v.show(statusOf(message), "result", s)
}

// statusOf is that of a page that is shown again for what was wrong with a form.
func statusOf(message string) int {
	if message == "" {
		return http.StatusOK
	}
	return http.StatusUnprocessableEntity
}

func (v *view) share(percent *float64) string {
	if percent == nil {
		return ""
	}
	return v.Say("result.percent", number(*percent))
}

// shifts are the objectives of a result.
func (v *view) shifts(r *result.Result) (all []shifted) {
	said := func(m float64) string {
		return v.Say("mastery."+string(mastery.LevelOf(m))) + " (" + v.Say("result.percent", strconv.Itoa(int(100*m+.5))) + ")"
	}
	for _, o := range r.Objectives {
		all = append(all, shifted{v.objective(r.Subject, o.Key), v.Say("results.shift", said(o.Mastery), said(o.Previous))})
	}
	return all
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// contest is the latest objection as it is shown; nil for none.
func (v *view) contest(z Zoned, look *result.Look) *contested {
	if look == nil || look.Contest == nil {
		return nil
	}
	k := look.Contest
	made := &contested{Words: k.Words, State: v.Say("contest." + k.State), At: z.at(&k.CreatedAt)}
	if k.Note != nil {
		made.Note = *k.Note
	}
	return made
}

// judged are the scores of a result by question. Rationales, reasons and quotes are there where
// the conversation may be read; with sure it is told how sure
// each is.
func (v *view) judged(r *result.Result, look *result.Look, content subject.Content, sure bool) (all []judged) {
	for _, k := range r.Criteria {
		key, _, _ := strings.Cut(k.Key, ".")
		at := slices.IndexFunc(content.Questions, func(q subject.Question) bool { return q.Key == key })
		var q subject.Question
		if at >= 0 {
			q = content.Questions[at]
		}
		text := q.Text.In(r.Language, v.site.Definition.DefaultLanguage)
		if len(all) == 0 || all[len(all)-1].Text != text {
			all = append(all, judged{Text: text, Language: r.Language})
		}
		of := &all[len(all)-1]
		of.Criteria = append(of.Criteria, v.criterion(r, k, q, look, sure))
	}
	return all
}

func (v *view) criterion(r *result.Result, k result.Criterion, q subject.Question, look *result.Look, sure bool) criterionBody {
	made := criterionBody{Key: k.Key, Label: k.Label, Max: number(k.MaxScore), Score: v.Say("review.not_judged")}
	if k.Score != nil {
		made.Value = number(*k.Score)
		made.Score = v.Say("result.points", made.Value, made.Max)
	}
	if k.Time != "" {
		made.Time = v.Say("time." + string(k.Time))
	}
	_, name, _ := strings.Cut(k.Key, ".")
	for _, c := range q.Rubric {
		if c.Key != name {
			continue
		}
		for i, l := range c.Levels {
			text := l.Description.In(r.Language, v.site.Definition.DefaultLanguage)
			made.Levels = append(made.Levels, text)
			if k.Level != nil && *k.Level == int64(i) {
				made.Level = text
			}
		}
	}
	if look.Readable {
		made.Rationale, made.Quotes = k.Rationale, look.Words(k)
		if k.Reason != nil {
			made.Reason = *k.Reason
		}
	}
	if sure {
		made.Confidence = v.Say("result.percent", strconv.Itoa(int(100*k.Confidence+.5)))
		made.By = v.Say("review.by_person")
		if k.DecidedBy == result.ByAvatar {
			made.By = v.Say("review.by_avatar")
		}
	}
	return made
}

// inputWords are what somebody says of a result.
const inputWords = "words"

// words are what somebody wrote into a form, if they can be kept.
func (v *view) words(name string) (text string, ok bool) {
	// Browsers send the end of a line as two characters, and count it as one.
	text = strings.TrimSpace(strings.ReplaceAll(v.r.PostForm.Get(name), "\r\n", "\n"))
	return text, text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0) && utf8.RuneCountInString(text) <= longestObjection
}

// object enters what somebody says against a result of theirs.
func (v *view) object(text string) error {
	which, err := id.ParseResult(text)
	if err != nil {
		return errNoPage
	}
	words, ok := v.words(inputWords)
	if !ok {
		return v.result(text, v.Say("contest.missing"))
	}
	edition, err := strconv.ParseInt(v.r.PostForm.Get(inputEdition), 10, 64)
	if err != nil {
		return v.result(text, v.Say("review.stale"))
	}
	err = v.h.Learning.Object(v.r.Context(), v.site, v.secret, Objection{which, edition, words, v.h.Address(v.r)})
	if errors.Is(err, class.ErrStale) {
		return v.result(text, v.Say("review.stale"))
	}
	if errdefs.IsConflict(err, result.Noun, result.ReasonContestOpen) {
		return v.goTo("/results/" + which.String()) // it was sent twice
	}
	if unchangeable(err) {
		return v.result(text, v.Say("contest.refused"))
	}
	if err != nil {
		return err
	}
	return v.goTo("/results/" + which.String())
}
