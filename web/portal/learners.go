package portal

import (
	"context"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/learning/assignment"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/certificate/badge"
	"visavis.dev/pkg/learning/certificate/paper"
	"visavis.dev/pkg/learning/class"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/record"
	"visavis.dev/pkg/learning/report"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/learning/transcript"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/portals/subject"
	"visavis.dev/pkg/sessions/printed"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/signin"
	"visavis.dev/web/page"
)

// listed is how many of a list are on a page, and mostMastered of how many subjects it is said
// what somebody masters.
const (
	listed       = 25
	mostMastered = 50
)

// learners are what the members of pages learn.
type learners struct{ *Server }

// member finds who has a place whom a browser's secret is of, and when it is for them. The error
// is page.ErrNoVisit.
func (s *Server) member(ctx context.Context, site *published.Site, secret string) (signin.Guest, page.Zoned, error) {
	in, err := s.options.Front.Gate.Find(ctx, site.Portal, signin.Secret(secret))
	if err != nil {
		return in, page.Zoned{}, atDoor(err)
	}
	if !isMember(in) {
		return in, page.Zoned{}, page.ErrNoVisit
	}
	z := page.Zoned{Now: s.now(), Zone: time.UTC}
	if name := in.Sits.Timezone; name != nil {
		if zone, err := time.LoadLocation(*name); err == nil {
			z.Zone = zone
		}
	}
	return in, z, nil
}

// isMember says whether a guest has pages of a member's: not who came for a trial, of whom nothing
// is kept, and who changes nothing.
func isMember(in signin.Guest) bool { return !in.Membership.IsZero() && !in.Details.Sandbox }

func (s *Server) now() time.Time {
	return s.options.Backend.Options.Clock.Now().UTC().Truncate(time.Microsecond)
}

// paged leaves what fits on a page, and answers the id of the last where there is more.
func paged[T any](all []T, key func(T) string) (shown []T, next string) {
	if len(all) <= listed {
		return all, ""
	}
	return all[:listed], key(all[listed-1])
}

// from reads the id after which a page begins. What is none begins with the first.
func from[I any](parse func(string) (I, error), text string) I {
	after, err := parse(text)
	if err != nil {
		var first I
		return first
	}
	return after
}

// Work implements page.Learning.
func (l learners) Work(ctx context.Context, site *published.Site, secret, after string) (w page.Work, err error) {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return w, err
	}
	w.Zoned = z
	t := l.options.Backend.Tenants
	parts, err := assignment.OfPersonOn(ctx, t, in.Org, in.Portal, in.Person, from(id.ParseAssignment, after), listed+1)
	if err != nil {
		return w, err
	}
	w.Parts, w.Next = paged(parts, func(p assignment.Part) string { return p.Assignment.ID.String() })
	w.Unmet = map[id.Subject][]id.Subject{}
	err = t.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		for _, p := range w.Parts {
			of, ok := site.Subject(p.Assignment.Subject)
			if !ok || w.Unmet[of.ID] != nil {
				continue
			}
			if w.Unmet[of.ID], err = record.Unmet(ctx, tx, in.Person, of.Definition.Prerequisites, z.Now); err != nil {
				return err
			}
		}
		return nil
	}, tenant.Idempotent(true))
	return w, err
}

// Results implements page.Learning.
func (l learners) Results(ctx context.Context, site *published.Site, secret, after string) (r page.Results, err error) {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return r, err
	}
	r.Zoned = z
	found, err := result.List(ctx, l.options.Backend.Tenants, in.Org, result.Filter{Portal: in.Portal, Person: in.Person}, from(id.ParseResult, after), listed+1)
	for i := range found {
		found[i] = withheld(found[i])
	}
	r.Results, r.Next = paged(found, func(r result.Result) string { return r.ID.String() })
	return r, err
}

// withheld is a result as its learner may know of it.
func withheld(r result.Result) result.Result {
	if r.Shown() {
		return r
	}
	return result.Result{ID: r.ID, State: r.State, Kind: r.Kind, Subject: r.Subject, Attempt: r.Attempt, StartedAt: r.StartedAt, RubricVersion: r.RubricVersion, Language: r.Language}
}

// own finds a result of somebody's own.
func (l learners) own(ctx context.Context, in signin.Guest, which id.Result) (result.Result, error) {
	r, err := result.Get(ctx, l.options.Backend.Tenants, in.Org, which)
	if err == nil && (r.Person != in.Person || r.Portal != in.Portal) {
		err = result.Noun.NotFound(which)
	}
	return r, err
}

// Result implements page.Learning.
func (l learners) Result(ctx context.Context, site *published.Site, secret string, which id.Result) (s page.Scored, err error) {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return s, err
	}
	r, err := l.own(ctx, in, which)
	if err != nil {
		return s, err
	}
	s, err = l.scored(ctx, in.Org, z, r)
	if err != nil || r.Shown() {
		return s, err
	}
	s.Result, s.Look, s.Reports = withheld(r), &result.Look{}, nil
	return s, nil
}

// scored is a result with what is told beside it.
func (s *Server) scored(ctx context.Context, org id.Org, z page.Zoned, r result.Result) (shown page.Scored, err error) {
	t := s.options.Backend.Tenants
	shown.Zoned, shown.Result = z, r
	looks, err := result.LooksAt(ctx, t, org, []result.Result{r})
	if err != nil {
		return shown, err
	}
	shown.Look = looks[r.ID]
	of, v, err := subject.GetContent(ctx, t, org, r.Subject, r.RubricVersion)
	if err != nil {
		return shown, err
	}
	shown.Content, shown.Title = v.Content, of.TitleIn(v.Content, r.Language)
	reports, err := printed.List(ctx, t, org, printed.Filter{Result: r.ID, State: printed.Ready}, id.Report{}, listed)
	shown.Reports = reports
	return shown, err
}

// Object implements page.Learning.
func (l learners) Object(ctx context.Context, site *published.Site, secret string, o page.Objection) error {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return err
	}
	return l.options.Backend.Tenants.InTx(ctx, in.Org, func(ctx context.Context, tx *tenant.Tx) error {
		return class.Object(ctx, tx, by(in), o.Result, o.Edition, o.Words, o.From.String(), z.Now)
	})
}

// Record implements page.Learning.
func (l learners) Record(ctx context.Context, site *published.Site, secret, after string) (k page.Record, err error) {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return k, err
	}
	b := l.options.Backend
	k.Zoned = z
	if after == "" {
		if k.Mastery, err = mastery.OfPerson(ctx, b.Tenants, in.Org, in.Person, id.Subject{}, id.Subject{}, mostMastered); err != nil {
			return k, err
		}
	}
	entries, err := transcript.List(ctx, b.Tenants, in.Org, in.Person, z.Now, from(id.UUIDOf, after), listed+1)
	k.Entries, k.Next = paged(entries, transcript.Entry.Shown)
	k.Verify = map[string]string{}
	for _, e := range k.Entries {
		if e.Number != nil && e.State != string(certificate.Revoked) && e.Portal == in.Portal {
			k.Verify[e.Shown()] = b.Registry.Links.Verify(certificate.Number(*e.Number))
		}
	}
	return k, err
}

// Certificate implements page.Learning.
func (l learners) Certificate(ctx context.Context, site *published.Site, secret string, which id.Certificate, picture bool) (f page.File, err error) {
	in, _, err := l.member(ctx, site, secret)
	if err != nil {
		return f, err
	}
	b := l.options.Backend
	k, err := certificate.Get(ctx, b.Tenants, in.Org, which)
	if err == nil && (k.Person != in.Person || k.Portal != in.Portal) {
		err = certificate.Noun.NotFound(which)
	}
	if err == nil {
		err = k.Usable()
	}
	if err != nil {
		return f, err
	}
	if picture {
		data, err := b.Registry.Badge(ctx, in.Org, k, false)
		if err == nil {
			data, err = badge.PNG(data)
		}
		return page.File{Name: "badge-" + k.Number.String() + ".png", ContentType: "image/png", Data: data}, err
	}
	by, err := b.Registry.Name(ctx, in.Org)
	if err != nil {
		return f, err
	}
	data, err := paper.Print(ctx, paper.Content{
		Recipient: k.Recipient, Title: k.Title, Organization: by, Number: k.Number.String(), VerifyURL: b.Registry.Links.Verify(k.Number),
		Language: k.Language, Plain: k.Template == certificate.Plain, IssuedAt: k.IssuedAt, ExpiresAt: k.ExpiresAt,
	})
	return page.File{Name: "certificate-" + k.Number.String() + ".pdf", ContentType: "application/pdf", Data: data}, err
}

// Report implements page.Learning.
func (l learners) Report(ctx context.Context, site *published.Site, secret string, which id.Report) (f page.File, err error) {
	in, z, err := l.member(ctx, site, secret)
	if err != nil {
		return f, err
	}
	b := l.options.Backend
	r, err := printed.Get(ctx, b.Tenants, in.Org, which)
	if err != nil {
		return f, err
	}
	if _, err := l.own(ctx, in, r.Result); err != nil {
		return f, err
	}
	if r, err = report.Open(ctx, b.Tenants, in.Org, which, z.Now); err != nil {
		return f, err
	}
	data, err := b.Files.Read(ctx, in.Org, r.File)
	return page.File{Name: "report-" + r.ID.String() + "." + string(r.Format), ContentType: r.Format.ContentType(), Data: data}, err
}
