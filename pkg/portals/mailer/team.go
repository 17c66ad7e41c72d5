package mailer

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/portals/person"
	"visavis.dev/pkg/store/tenant"
)

// TeamEvent is why the hiring team is written to.
type TeamEvent string

// The events.
const (
	// TeamAsked: a candidate asked for something, whose answer is due soon or overdue.
	TeamAsked   TeamEvent = "asked"
	TeamDueSoon TeamEvent = "due_soon"
	TeamOverdue TeamEvent = "overdue"
	// TeamExplainSoon and TeamExplainOverdue: a law has candidates told why they were rejected.
	TeamExplainSoon    TeamEvent = "explain_soon"
	TeamExplainOverdue TeamEvent = "explain_overdue"
	// TeamWithdrew: a candidate took the application back.
	TeamWithdrew TeamEvent = "withdrew"
)

// TeamNotice is something that one of a role's hiring team is told about a candidate, by ids alone.
type TeamNotice struct {
	Event     TeamEvent    `json:"event"`
	Person    id.Person    `json:"personId"`
	Candidate id.Candidate `json:"candidateId"`
	// Request is zero for none.
	Request id.CandidateRequest `json:"requestId,omitzero"`
}

// TeamLetter is what is known of such a notice when it is sent. It has no word of the candidate's,
// and not their name: the role can be blind.
type TeamLetter struct {
	To, Language, Role, From string
	// Kind is what was asked for; empty for nothing.
	Kind  string
	DueAt *time.Time
}

// TellTeam queues a notice. A crash in between sends it again, with the same Message-ID.
func TellTeam(ctx context.Context, tx *tenant.Tx, n TeamNotice, p id.Portal, at time.Time) error {
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: team.job(), Portal: p, ResourceKind: "candidate", ResourceID: n.Candidate.String(), Scope: scope.CandidatesRead,
		CreatedBy: "platform", CreatedAt: at,
	}, input{Kind: team, Portal: p, Notice: &n})
	return err
}

// tellTeam sends a notice. Where one of the team has had all the mail of an hour it waits for the next.
func (w *Worker) tellTeam(ctx context.Context, j job.Job, l input, before tries) (job.Step, error) {
	if l.Notice == nil || w.Candidates == nil {
		return doneStep, nil
	}
	var letter TeamLetter
	err := w.Tenants.InTx(ctx, j.Org, func(ctx context.Context, tx *tenant.Tx) error {
		now := w.Clock.Now().UTC()
		found, ok, err := w.Candidates.Team(ctx, tx, *l.Notice, now)
		if err != nil || !ok {
			return errOr(err, errNobody)
		}
		letter = found
		_, key, known := person.Address(found.To)
		if !known {
			return errNobody
		}
		if before.Failed > 0 {
			return nil
		}
		return takeTeam(ctx, tx, key, now)
	})
	switch {
	case errors.Is(err, errNobody):
		return doneStep, nil
	case errors.Is(err, ErrTooMany):
		return nextHour, nil
	case err != nil:
		return nil, err
	}
	m, err := letter.message(j.ID, *l.Notice)
	if err != nil {
		return nil, err
	}
	return w.handOver(ctx, m, before, slog.String("job", j.ID.String()))
}

// hiringTeam is the holder of an organization's count of notices, apart from those of the inbox. As
// many go out in an hour.
const hiringTeam = "hiring_team"

// takeTeam counts a notice to one of the team.
func takeTeam(ctx context.Context, tx *tenant.Tx, key string, at time.Time) error {
	if err := take(ctx, tx, recipient(team, id.Portal{}, key), perMember, at); err != nil {
		return err
	}
	return take(ctx, tx, hiringTeam, perTeam, at)
}

// message is a notice as it is sent.
func (t *TeamLetter) message(j id.Job, n TeamNotice) (mail.Message, error) {
	code := languageFor(t.Language)
	say := func(key string) string { return phrases[code]["team."+key] }
	subject := say(string(n.Event))
	if from := line(t.From); from != "" {
		subject = from + ": " + subject
	}
	facts := []string{say("role") + ": " + line(t.Role), say("candidate") + ": " + n.Candidate.String()}
	if t.Kind != "" {
		facts = append(facts, say("kind")+": "+say("kind."+t.Kind))
	}
	if t.DueAt != nil {
		facts = append(facts, say("due")+": "+t.DueAt.UTC().Format(time.DateTime)+" UTC")
	}
	if !n.Request.IsZero() {
		facts = append(facts, say("request")+": "+n.Request.String())
	}
	s := htmlMail{Language: code, Direction: "ltr", Paragraphs: []string{say(string(n.Event)), strings.Join(facts, "\n")}, From: line(t.From)}
	if code == "ar" {
		s.Direction = "rtl"
	}
	var html strings.Builder
	err := page.ExecuteTemplate(&html, "reply.html", s)
	return mail.Message{ID: j.String(), To: t.To, Subject: subject, Language: code, Text: strings.Join(s.Paragraphs, "\n\n") + "\n", HTML: html.String()}, err
}
