package apitest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/hiring/ats"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/demographics"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/admission"
)

// Questions is a published subject of the kind screening, on a portal whose door for candidates
// is open.
func (w *World) Questions(t testing.TB, org *Org) string {
	t.Helper()
	k := "screening" + org.ID.String()
	if _, ok := w.Made[k]; ok {
		return w.Made[k]
	}
	on := w.School(t, org)
	w.call(t, org, "setCandidatesDoor", on, map[string]any{"open": true})
	body := SubjectBody(w.n)
	body["kind"], body["attemptsAllowed"] = "screening", nil
	made := w.post(t, org, "createSubject", "/portals/"+on+"/subjects", body)["id"].(string)
	w.call(t, org, "publishSubject", made, map[string]any{})
	w.call(t, org, "publishPortal", on, map[string]any{})
	w.Made[k], w.Made["hiring portal"+org.ID.String()] = made, on
	return made
}

// QuestionPool is a published subject of the kind screening of its own, on the portal of Questions, which asks
// some of five questions in an order of chance.
func (w *World) QuestionPool(t testing.TB, org *Org) string {
	t.Helper()
	w.Questions(t, org)
	w.n++
	body := SubjectBody(w.n)
	content := ContentBody(w.n)
	var questions []any
	for _, key := range []string{"ropes", "winds", "tides", "sails", "stars"} {
		questions = append(questions, map[string]any{
			"key": key, "kind": "open", "text": words("What do you know of " + key + "?"), "options": []any{}, "rubric": []any{}, "points": 1, "required": false, "followUps": 1,
			"timeLimitS": nil,
		})
	}
	content["questions"], content["rules"] = questions, map[string]any{"order": "random", "pick": 3}
	body["kind"], body["attemptsAllowed"], body["content"], body["assessed"], body["passPercent"] = "screening", nil, content, false, nil
	made := w.post(t, org, "createSubject", "/portals/"+w.Made["hiring portal"+org.ID.String()]+"/subjects", body)["id"].(string)
	w.call(t, org, "publishSubject", made, map[string]any{})
	return made
}

// Reword publishes a subject of QuestionPool anew, with other words for its questions.
func (w *World) Reword(t testing.TB, org *Org, subject, text string) {
	t.Helper()
	now := w.call(t, org, "getSubjectContent", subject, nil)
	for _, q := range now["questions"].([]any) {
		q.(map[string]any)["text"] = words(text + " " + q.(map[string]any)["key"].(string) + "?")
	}
	w.call(t, org, "updateSubjectContent", subject, map[string]any{"questions": now["questions"]})
	w.call(t, org, "publishSubject", subject, map[string]any{})
}

// call calls an operation on something as the organization's newest key, and expects 200.
func (w *World) call(t testing.TB, org *Org, operation, of string, body any) map[string]any {
	t.Helper()
	o := w.Operation(t, operation)
	answer := w.Call(t, o, Request{Path: WithID(o, of), Key: org.New, Body: body})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}

// RoleBody is a good body with every property of a role.
func (w *World) RoleBody(t testing.TB, org *Org) map[string]any {
	t.Helper()
	return map[string]any{
		"title": fmt.Sprint("Rigger ", w.n), "subjectId": w.Questions(t, org),
		"location":   map[string]any{"city": "Boston", "region": "MA", "country": "US", "remote": true, "timezone": "America/New_York", "outsideNewYorkCity": false},
		"department": "Harbour", "languages": []any{"English", "de"}, "description": "Knots all day.", "scoring": "advisory", "mustHaves": []any{"A licence"},
		"knockouts": []any{}, "retakes": 1,
		"notice": map[string]any{
			"required": []any{"eu_ai_act"}, "text": map[string]any{"en": "An AI asks.", "German": "Eine KI fragt."}, "leadDays": 0,
			"signals": map[string]any{"en": "The page notes what is pasted.", "de": "Die Seite vermerkt Eingefügtes."},
			"laws":    []any{map[string]any{"law": "eu_ai_act", "version": "1", "text": map[string]any{"en": "You talk with an AI.", "de": "Sie sprechen mit einer KI."}}},
		},
		"biasAudit":          map[string]any{"date": "2026-06-01", "auditor": "Example Audits", "url": "https://www.example.com/audit"},
		"alternativeProcess": "Write to us.", "retentionDays": 90, "hiringManagerIds": []any{w.manager(t, org)}, "blind": false, "voluntaryDemographics": false,
		"deadline": "2099-07-01T00:00:00Z", "externalId": fmt.Sprint("role-", w.n), "metadata": map[string]any{"source": "tests"},
	}
}

// Role makes a role that is open; more are properties in place of those of a good body.
func (w *World) Role(t testing.TB, org *Org, more map[string]any) string {
	t.Helper()
	w.n++
	body := w.RoleBody(t, org)
	maps.Copy(body, more)
	made := w.post(t, org, "createRole", "/roles", body)["id"].(string)
	w.call(t, org, "updateRole", made, map[string]any{"state": "open"})
	return made
}

// InvitesBody is a good body of invites.
func (w *World) InvitesBody() map[string]any {
	return map[string]any{
		"candidates": []any{map[string]any{
			"name": fmt.Sprint("Kim ", w.n), "email": fmt.Sprintf("applicant.%d@example.com", w.n), "phone": "+49 30 123456", "externalId": fmt.Sprint("applicant-", w.n),
			"language": "English", "resumeUrl": "https://www.example.com/resume.pdf", "metadata": map[string]any{"source": "tests"},
		}},
		"expiresInDays": 21, "send": false, "message": "We look forward to it.",
	}
}

// Next makes the next bodies others than those before.
func (w *World) Next() { w.n++ }

// Invite invites somebody to a role, and answers the invite.
func (w *World) Invite(t testing.TB, org *Org, role string) map[string]any {
	t.Helper()
	w.n++
	made := w.post(t, org, "createInvites", "/roles/"+role+"/invites", w.InvitesBody())
	return made["invites"].([]any)[0].(map[string]any)
}

// Arrive opens an invite and agrees to the interview, as the candidate does on their page.
func (w *World) Arrive(t testing.TB, org *Org, invite map[string]any) id.Candidate {
	t.Helper()
	_, token, found := strings.Cut(invite["url"].(string), "#invite=")
	require.True(t, found)
	which, err := id.ParseCandidate(invite["candidateId"].(string))
	require.NoError(t, err)
	portal, err := id.ParsePortal(w.Made["hiring portal"+org.ID.String()])
	require.NoError(t, err)
	_, err = w.Gate.ByInvite(t.Context(), org.ID, portal, candidate.Token(token))
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(t.Context(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := candidate.Agree(ctx, tx, which, Moment())
		return err
	}))
	return which
}

// Ask has a candidate ask for something on their page.
func (w *World) Ask(t testing.TB, org *Org, which id.Candidate, k candidate.RequestKind, words string) (made id.CandidateRequest) {
	t.Helper()
	require.NoError(t, w.Tenants.InTx(t.Context(), org.ID, func(ctx context.Context, tx *tenant.Tx) error {
		q, err := candidate.Ask(ctx, tx, which, k, words, Moment())
		made = q.ID
		return err
	}))
	return made
}

// StartInterview mints a candidate's session, as their page does.
func (w *World) StartInterview(t testing.TB, org *Org, which id.Candidate) (session.Session, error) {
	t.Helper()
	o, err := w.Directory.Organization(t.Context(), org.ID)
	require.NoError(t, err)
	terms, err := w.Gate.Terms(t.Context(), org.ID)
	require.NoError(t, err)
	var made session.Minted
	err = w.Tenants.InTx(t.Context(), org.ID, func(ctx context.Context, tx *tenant.Tx) (err error) {
		made, err = (&admission.Desk{Library: w.Library}).Enter(ctx, tx, admission.Request{
			Host: admission.Host{Organization: o, Terms: terms}, Source: session.FromPortal, Candidate: which, Door: "candidates", Channel: "chat",
		}, Moment())
		return err
	})
	return made.Session, err
}

// Interview has a candidate hold their interview with an answer, and ends it for a reason.
func (w *World) Interview(t testing.TB, org *Org, which id.Candidate, says string, why session.Reason) session.Session {
	t.Helper()
	return w.InterviewWhile(t, org, which, says, why, func(session.Session) {})
}

// InterviewWhile is Interview, during which something happens.
func (w *World) InterviewWhile(t testing.TB, org *Org, which id.Candidate, says string, why session.Reason, while func(session.Session)) session.Session {
	t.Helper()
	s, err := w.StartInterview(t, org, which)
	require.NoError(t, err)
	var held session.Session
	now := time.Now().UTC().Truncate(time.Microsecond)
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(t, w.Tenants.InTx(t.Context(), org.ID, fn))
	}
	in(func(ctx context.Context, tx *tenant.Tx) error {
		attached, err := session.Attach(ctx, tx, s.ID, uuid.New(), plan.Terms{}, now)
		if held = attached.Session; err != nil || says == "" {
			return err
		}
		turn := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: says, Language: "en", Origin: session.Typed, StartedAt: now, EndedAt: &now}
		if err := session.Keep(ctx, tx, attached.Session, turn, now); err != nil {
			return err
		}
		return session.Collect(ctx, tx, s.ID, attached.Session.Epoch, session.Found{
			Values: map[string]string{session.AnswerTo + "loop": says}, Clocks: InTime(attached.Session.Clocks, "loop"),
		}, time.Now())
	})
	while(held)
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, s.ID, session.Ending{Reason: why, At: now})
		return err
	})
	w.ScoreInterviews(t)
	return s
}

// ScoreInterviews scores every interview that waits for it.
func (w *World) ScoreInterviews(t testing.TB) {
	t.Helper()
	w.runJobs(t, (&screening.Scorer{Tenants: w.Tenants}).Background().Works)
}

// EraseCandidates does what is left to do for candidates who were erased.
func (w *World) EraseCandidates(t testing.TB) {
	t.Helper()
	eraser := candidate.Eraser{Silence: screening.Silence, Forget: (&demographics.Store{Tenants: w.Tenants, Vault: w.Vault}).Forget}
	w.runJobs(t, map[job.Kind]job.Work{job.CandidateErase: {Prepare: func(context.Context, job.Job) (job.Step, error) { return eraser.Step, nil }}})
}

// offerBody is a good body of an offer of an interview with people.
func (w *World) offerBody(t testing.TB, org *Org) map[string]any {
	t.Helper()
	return map[string]any{
		"mode": "video", "interviewerIds": []any{w.manager(t, org)}, "timezone": "Europe/Berlin", "joinUrl": "https://meet.example.com/1", "location": fmt.Sprint("Room ", w.n),
		"expiresInDays": 7, "slots": []any{InterviewSlot(1), InterviewSlot(2)},
	}
}

// InterviewSlot is an hour at noon, some days from now.
func InterviewSlot(days int) map[string]any {
	at := Moment().UTC().Truncate(24*time.Hour).AddDate(0, 0, days).Add(12 * time.Hour)
	return map[string]any{"startsAt": at.Format(time.RFC3339), "endsAt": at.Add(time.Hour).Format(time.RFC3339)}
}

// HiringManager is who reviews and decides in an organization.
func (w *World) HiringManager(t testing.TB, org *Org) string { return w.manager(t, org) }

// interviewed makes a candidate whose interview waits for its review.
func (w *World) interviewed(t testing.TB, org *Org) string {
	t.Helper()
	k := "role" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Role(t, org, nil)
	}
	which := w.Arrive(t, org, w.Invite(t, org, w.Made[k]))
	w.Interview(t, org, which, RightAnswer, session.EndedByUser)
	return which.String()
}

// hiringBody is a good body of an operation on roles and candidates; nil of any other.
func (w *World) hiringBody(t testing.TB, o *route.Operation, org *Org) any {
	t.Helper()
	switch o.ID {
	case "createRole":
		return w.RoleBody(t, org)
	case "updateRole":
		body := w.RoleBody(t, org)
		delete(body, "subjectId")
		body["state"] = []string{"open", "paused"}[w.n%2]
		return body
	case "createInvites":
		w.n++ // nobody is invited twice
		body := w.InvitesBody()
		body["candidates"].([]any)[0].(map[string]any)["location"] = map[string]any{
			"city": "Lyon", "region": "Rhône", "country": "FR", "timezone": "Europe/Paris", "outsideNewYorkCity": false,
		}
		return body
	case "updateCandidate":
		return map[string]any{"name": fmt.Sprint("Lee ", w.n), "email": fmt.Sprintf("lee.%d@example.com", w.n), "phone": "+49 30 654321"}
	case "explainDecision":
		return map[string]any{"explainedBy": w.manager(t, org), "explanation": fmt.Sprint("Somebody had licence ", w.n, ".")}
	case "reviewCandidate":
		return map[string]any{"reviewerId": w.manager(t, org)}
	case "updateCandidateRequest":
		return map[string]any{"state": []string{"declined", "done"}[w.n%2], "decidedBy": w.manager(t, org), "answer": "Here it is."}
	case "setPortalBiasAudit":
		return map[string]any{"published": true, "year": 2000 + w.n%100, "leaveOutSmall": true}
	case "offerInterview":
		return w.offerBody(t, org)
	case "updateInterview":
		return map[string]any{"state": "cancelled", "reasonCode": "moved_on"}
	case "decideCandidate":
		return map[string]any{
			"decision": []string{"advance", "hold"}[w.n%2], "decidedBy": w.manager(t, org), "reasonCode": "good", "note": "Good.", "notify": false, "explanation": "",
		}
	}
	return nil
}

func init() {
	Kinds["/roles/{id}"] = func(t testing.TB, w *World, org *Org) string {
		made := w.Role(t, org, nil)
		for range 3 {
			w.Invite(t, org, made)
		}
		return made
	}
	Kinds["/invites/{id}"] = func(t testing.TB, w *World, org *Org) string {
		return w.Invite(t, org, w.Role(t, org, nil))["id"].(string)
	}
	Kinds["/candidates/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.interviewed(t, org) }
	Kinds["/candidates/{id}/decision"] = func(t testing.TB, w *World, org *Org) string {
		which := w.interviewed(t, org)
		w.call(t, org, "reviewCandidate", which, map[string]any{"reviewerId": w.manager(t, org)})
		return which
	}
	Kinds["/candidates/{id}/explanation"] = func(t testing.TB, w *World, org *Org) string {
		which := w.interviewed(t, org)
		w.call(t, org, "reviewCandidate", which, map[string]any{"reviewerId": w.manager(t, org)})
		w.call(t, org, "decideCandidate", which, map[string]any{"decision": "hold", "decidedBy": w.manager(t, org), "reasonCode": "good"})
		return which
	}
	// With several of them, to list.
	Kinds["/roles/{id}/interviews"] = func(t testing.TB, w *World, org *Org) string {
		made := w.Role(t, org, nil)
		who := w.Invite(t, org, made)["candidateId"].(string)
		for range 3 {
			w.post(t, org, "offerInterview", "/candidates/"+who+"/interviews", w.offerBody(t, org))
		}
		return made
	}
	Kinds["/candidates/{id}/interviews"] = func(t testing.TB, w *World, org *Org) string {
		return w.Invite(t, org, w.Role(t, org, nil))["candidateId"].(string)
	}
	Kinds["/interviews/{id}"] = func(t testing.TB, w *World, org *Org) string {
		who := w.Invite(t, org, w.Role(t, org, nil))["candidateId"].(string)
		return w.post(t, org, "offerInterview", "/candidates/"+who+"/interviews", w.offerBody(t, org))["id"].(string)
	}
	Kinds["/roles/{id}/screenings"] = func(t testing.TB, w *World, org *Org) string {
		made := w.Role(t, org, nil)
		for range 3 {
			w.Interview(t, org, w.Arrive(t, org, w.Invite(t, org, made)), RightAnswer, session.EndedByUser)
		}
		return made
	}
	Kinds["/roles/{id}/question-sets"] = func(t testing.TB, w *World, org *Org) string {
		asks := w.QuestionPool(t, org)
		made := w.Role(t, org, map[string]any{"subjectId": asks})
		for n := range 3 {
			w.Reword(t, org, asks, fmt.Sprint("Say, ", n, ", what of"))
			w.Invite(t, org, made)
		}
		return made
	}
	Kinds["/roles/{id}/requests"] = func(t testing.TB, w *World, org *Org) string {
		made := w.Role(t, org, nil)
		who := w.Arrive(t, org, w.Invite(t, org, made))
		for _, k := range []candidate.RequestKind{candidate.DataAccess, candidate.Correction, candidate.Accommodation} {
			w.Ask(t, org, who, k, "Please.")
		}
		return made
	}
	Kinds["/candidate-requests/{id}"] = func(t testing.TB, w *World, org *Org) string {
		k := "role" + org.ID.String()
		if _, ok := w.Made[k]; !ok {
			w.Made[k] = w.Role(t, org, nil)
		}
		who := w.Arrive(t, org, w.Invite(t, org, w.Made[k]))
		return w.Ask(t, org, who, candidate.DataAccess, "Please.").String()
	}
	Kinds["/candidates/{id}/review"] = Kinds["/candidates/{id}"]
	Kinds["/candidates/{id}/unhold"] = func(t testing.TB, w *World, org *Org) string {
		held := w.interviewed(t, org)
		w.call(t, org, "holdCandidate", held, nil)
		return held
	}
	bodies["resendInvite"] = func(n int) map[string]any { return map[string]any{"expiresInDays": n%180 + 1, "send": false} }
	Once["reviewCandidate"], Once["decideCandidate"], Once["updateCandidateRequest"] = candidate.ReasonReviewed, candidate.ReasonDecided, candidate.ReasonRequestState
}

// Tell tells applicant tracking systems what is due to be told, and writes what came of the calls.
func (w *World) Tell(t testing.TB) {
	t.Helper()
	report := &connection.Reporter{Tenants: w.Tenants, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler)}
	w.runJobs(t, (&ats.Teller{Tenants: w.Tenants, Opener: w.Connections, Report: report, Egress: w.Egress, Clock: clock.RealClock{}}).Background().Works)
	report.Flush(t.Context())
}

// Post sends every mail that waits.
func (w *World) Post(t testing.TB, to mail.Sender) {
	t.Helper()
	w.runJobs(t, (&mailer.Worker{
		Tenants: w.Tenants, Vault: w.Gate.Mails.Vault, Sender: to, PortalURL: "https://portal.example.com", Candidates: candidate.Letters{}, Interviews: candidate.Letters{},
		Answers: w.Answers, JoinURL: func(which id.Session, token string) string {
			return session.StaffURL("https://portal.example.com", which, token)
		}, Clock: clock.RealClock{}, Log: slog.New(slog.DiscardHandler),
	}).Background().Works)
}
