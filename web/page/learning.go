package page

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/transcript"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/printed"
)

// Learning is what members learn: each method is of whom a browser's secret is of. The error is
// ErrNoVisit of nobody with a place, and errdefs.NotFound of what is another's.
type Learning interface {
	// Work is a page of what is set for them, after the id of one; empty for the first.
	Work(ctx context.Context, site *published.Site, secret, after string) (Work, error)
	// Results is a page of their results, newest first.
	Results(ctx context.Context, site *published.Site, secret, after string) (Results, error)
	// Result is one of them. What is not released has no scores.
	Result(ctx context.Context, site *published.Site, secret string, which id.Result) (Scored, error)
	// Object enters their objection to a result. The error can be class.ErrStale.
	Object(ctx context.Context, site *published.Site, secret string, o Objection) error
	// Record is what they master, and a page of what they have to show.
	Record(ctx context.Context, site *published.Site, secret, after string) (Record, error)
	// Certificate and Report are files of theirs; a badge is a picture.
	Certificate(ctx context.Context, site *published.Site, secret string, which id.Certificate, badge bool) (File, error)
	Report(ctx context.Context, site *published.Site, secret string, which id.Report) (File, error)
}

// Zoned is when it is for somebody: times are told in their zone.
type Zoned struct {
	Now  time.Time
	Zone *time.Location
}

// Work is what is set for somebody on a portal.
type Work struct {
	Zoned
	Parts []assignment.Part
	// Unmet are, by subject, those that come before and are not completed.
	Unmet map[id.Subject][]id.Subject
	// Next is the id after which there is more; empty for nothing.
	Next string
}

// Results are a page of somebody's results. Of those that are not released nothing but their
// place in time is here.
type Results struct {
	Zoned
	Results []result.Result
	Next    string
}

// Scored is a result as somebody may see it. Criteria are empty before it is released.
type Scored struct {
	Zoned
	Result  result.Result
	Look    *result.Look
	Content subject.Content
	// Title is the subject's.
	Title   string
	Reports []printed.Report
}

// Objection is what somebody says against a result of theirs.
type Objection struct {
	Result id.Result
	// Edition is that of the result as they saw it.
	Edition int64
	Words   string
	From    netip.Addr
}

// Record is what somebody masters and has to show.
type Record struct {
	Zoned
	Mastery []mastery.Objective
	Entries []transcript.Entry
	// Verify are where certificates are verified, by their ids.
	Verify map[string]string
	Next   string
}

// File is something to download.
type File struct {
	Name, ContentType string
	Data              []byte
}

// learningPages are what the paths of members' pages begin with.
var learningPages = []string{"work", "results", "record", "certificates", "reports", "class"}

// isLearning says whether a path is one of the members'.
func isLearning(path string) bool {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return slices.Contains(learningPages, first)
}

// places are the pages for members, to go to from each other.
func (v *view) places() (made []choice) {
	if v.visit == nil || !v.visit.Member || v.h.Learning == nil {
		return nil
	}
	paths := []string{"/", "/work", "/results", "/record"}
	if v.visit.Supervises {
		paths = append(paths, "/class", "/class/reviews")
	}
	for _, path := range paths {
		key := strings.NewReplacer("/", ".").Replace(strings.TrimPrefix(path, "/")) + ".title"
		if path == "/" {
			key = "home"
		}
		made = append(made, choice{Name: v.Say(key), URL: v.at(path), Current: path == v.path})
	}
	return made
}

// learning shows a page of the members'.
func (v *view) learning(path string) error {
	if v.h.Learning == nil || v.h.Classes == nil {
		return errNoPage
	}
	if v.visit == nil || !v.visit.Member {
		return v.goTo("/sign-in")
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	return v.orAway(v.learningPage(parts))
}

// orAway sends whoever is not in any more to come in, and says of what is not theirs that it is
// not there.
func (v *view) orAway(err error) error {
	_, missing := errors.AsType[errdefs.NotFound](err)
	_, gone := errors.AsType[errdefs.Gone](err)
	switch {
	case errors.Is(err, ErrNoVisit):
		return v.goTo("/sign-in")
	case missing || gone:
		return errNoPage
	}
	return err
}

func (v *view) learningPage(parts []string) error {
	switch first, n := parts[0], len(parts); {
	case first == "work" && n == 1:
		return v.work()
	case first == "results" && n == 1:
		return v.results()
	case first == "results" && n == 2:
		return v.result(parts[1], "")
	case first == "results" && n == 3 && parts[2] == "contest", first == "class" && n == 4 && parts[1] == "results",
		first == "class" && n == 6 && parts[1] == "learners":
		return v.taking(posting, nil)
	case first == "record" && n == 1:
		return v.record()
	case first == "certificates" && n == 3:
		return v.certificateFile(parts[1], parts[2])
	case first == "reports" && n == 2:
		return v.reportFile(parts[1])
	case first == "class":
		return v.classPage(parts[1:])
	}
	return errNoPage
}

// learned does what somebody sends from a page of the members'.
func (v *view) learned(path string) error {
	if v.h.Learning == nil || v.h.Classes == nil {
		return errNoPage
	}
	if err := v.r.ParseForm(); err != nil {
		return refused(http.StatusBadRequest, "refused.other")
	}
	if err := v.recognise(); err != nil {
		return v.lost(err)
	}
	if v.visit == nil || !v.visit.Member {
		return v.lost(ErrNoVisit)
	}
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	var err error
	switch {
	case parts[0] == "results" && len(parts) == 3 && parts[2] == "contest":
		err = v.object(parts[1])
	case parts[0] == "class" && len(parts) > 1:
		err = v.inClass(parts[1:])
	default:
		return v.taking(reading, nil)
	}
	if errors.Is(err, ErrNoVisit) {
		return v.lost(err)
	}
	return v.orAway(err)
}

// lost says to somebody who sent a form and is not in why it was not taken, and shows what they
// wrote, to be sent again.
func (v *view) lost(err error) error {
	found := refusalOf(err, "")
	v.h.note(v.r, found, err)
	v.path = "/" // the form is not there to be looked at
	s := v.sheet("refused.title")
	s.Message = v.Say(found.key)
	var body lostBody
	for _, name := range []string{"title", inputWords, inputReason, inputWhy} {
		if text := v.r.PostForm.Get(name); text != "" && utf8.ValidString(text) {
			body.Words = append(body.Words, text)
		}
	}
	s.Body = body
	hint(v.w, found)
	return v.show(found.status, "lost", s)
}

// lostBody is the page's own of a form that was not taken.
type lostBody struct{ Words []string }

// moment is a time as people read it, and as programs do.
type moment struct{ Text, ISO string }

// at tells a time in somebody's zone; nil is none.
func (z Zoned) at(t *time.Time) *moment {
	if t == nil {
		return nil
	}
	in := t.In(z.Zone)
	return &moment{in.Format("2006-01-02 15:04 MST"), in.Format(time.RFC3339)}
}

// day tells a day in somebody's zone; nil is none.
func (z Zoned) day(t *time.Time) *moment {
	if t == nil {
		return nil
	}
	in := t.In(z.Zone)
	return &moment{in.Format(time.DateOnly), in.Format(time.DateOnly)}
}

func (v *view) certificateFile(text, what string) error {
	which, err := id.ParseCertificate(text)
	if err != nil || what != "pdf" && what != "badge" {
		return errNoPage
	}
	f, err := v.h.Learning.Certificate(v.r.Context(), v.site, v.secret, which, what == "badge")
	if errdefs.IsConflict(err, certificate.Noun, certificate.ReasonRevoked) {
		return refused(http.StatusConflict, "record.revoked")
	}
	return v.download(f, err)
}

func (v *view) reportFile(text string) error {
	which, err := id.ParseReport(text)
	if err != nil {
		return errNoPage
	}
	f, err := v.h.Learning.Report(v.r.Context(), v.site, v.secret, which)
	if _, conflict := errors.AsType[*errdefs.Conflict](err); conflict {
		return refused(http.StatusConflict, "results.no_report")
	}
	return v.download(f, err)
}

// download sends a file that is nobody else's.
func (v *view) download(f File, err error) error {
	if err != nil {
		return err
	}
	header := v.w.Header()
	header.Set("Content-Type", f.ContentType)
	header.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	header.Set("Cache-Control", "private, no-store")
	v.w.WriteHeader(http.StatusOK)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(f.Data) // the caller went away
	}
	return nil
}
