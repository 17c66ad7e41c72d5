package apitest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
)

// Answers to the question of the tests' contents: one that is right, and one that the scorer
// is not sure of.
const (
	RightAnswer  = "The bowline"
	UnsureAnswer = "Some knot that sailors use"
)

// Exam is a published assessment of an organization.
func (w *World) Exam(t testing.TB, org *Org) string {
	t.Helper()
	k := "exam" + org.ID.String()
	if _, ok := w.Made[k]; ok {
		return w.Made[k]
	}
	on := w.School(t, org)
	w.Made[k], w.Made["exam's portal"+org.ID.String()] = w.examOn(t, org, on), on
	return w.Made[k]
}

// examOn publishes an exam on a portal.
func (w *World) examOn(t testing.TB, org *Org, portal string) string {
	t.Helper()
	body := SubjectBody(w.n)
	body["kind"], body["attemptsAllowed"] = "assessment", nil
	return w.publishOn(t, org, portal, body)
}

// OpenExam makes the organization's exam one whose question is open, with a point that an answer
// is to cover, asked by a persona.
func (w *World) OpenExam(t testing.TB, org *Org, persona, point string) {
	t.Helper()
	w.Exam(t, org)
	body := SubjectBody(w.n)
	body["kind"], body["attemptsAllowed"], body["personaId"] = "assessment", nil, persona
	body["content"].(map[string]any)["questions"] = []any{map[string]any{
		"key": "loop", "kind": "open", "text": words("What is the loop for?"), "options": []any{}, "points": 2, "required": true, "followUps": 0,
		"rubric": []any{map[string]any{
			"key": "use", "label": words("Says what for"), "weight": 1, "levels": []any{},
			"points": []any{map[string]any{"text": words(point), "required": true}},
		}},
	}}
	w.Made["exam"+org.ID.String()] = w.publishOn(t, org, w.Made["exam's portal"+org.ID.String()], body)
}

// publishOn makes a subject on a portal and publishes it.
func (w *World) publishOn(t testing.TB, org *Org, portal string, body map[string]any) string {
	t.Helper()
	made := w.post(t, org, "createSubject", "/portals/"+portal+"/subjects", body)["id"].(string)
	o := w.Operation(t, "publishSubject")
	answer := w.Call(t, o, Request{Path: WithID(o, made), Key: org.New, Body: map[string]any{}})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	return made
}

// Learner makes somebody with a place on the portal of the organization's exam.
func (w *World) Learner(t testing.TB, org *Org) string {
	t.Helper()
	w.Exam(t, org)
	w.n++
	return w.post(t, org, "createPerson", "/people", map[string]any{
		"name": fmt.Sprint("Kim ", w.n), "ageBand": "adult",
		"membership": map[string]any{"portalId": w.Made["exam's portal"+org.ID.String()], "role": "learner"},
	})["id"].(string)
}

// Sit mints a session of the organization's exam for a person.
func (w *World) Sit(t testing.TB, org *Org, person string) Answer {
	t.Helper()
	o := w.Operation(t, "createSessionToken")
	return w.Call(t, o, Request{Path: o.Path, Key: org.New, Body: map[string]any{
		"subjectId": w.Exam(t, org), "personId": person, "channel": "chat", "language": "en",
	}})
}

// Assess has somebody sit the organization's exam with an answer, and answers the result's id.
func (w *World) Assess(t testing.TB, org *Org, person, says string) string {
	t.Helper()
	which := w.Unscored(t, org, person, says)
	w.Score(t)
	return which
}

// GiveUp does what the runner does with the job of a result that could not be scored in many
// tries.
func (w *World) GiveUp(t testing.TB, which string) {
	t.Helper()
	parsed, err := id.ParseResult(which)
	require.NoError(t, err)
	r, err := result.Get(context.Background(), w.Tenants, w.Acme.ID, parsed)
	require.NoError(t, err)
	input, err := json.Marshal(session.ToScore{Session: r.Session})
	require.NoError(t, err)
	work := (&result.Scorer{Tenants: w.Tenants}).Background().Works[job.ResultScore]
	w.InTx(t, func(ctx context.Context, tx *tenant.Tx) error {
		return work.GiveUp(ctx, tx, &job.Job{Input: input}, time.Now().UTC().Truncate(time.Microsecond))
	})
}

// Unscored is Assess before anything is scored.
func (w *World) Unscored(t testing.TB, org *Org, person, says string) string {
	t.Helper()
	minted := w.Sit(t, org, person)
	require.Equal(t, http.StatusCreated, minted.Status, "%s", minted.Raw)
	which, err := id.ParseSession(minted.Data(t)["session"].(map[string]any)["id"].(string))
	require.NoError(t, err)
	now := time.Now().UTC().Truncate(time.Microsecond)
	in := func(fn func(context.Context, *tenant.Tx) error) {
		require.NoError(t, w.Tenants.InTx(context.Background(), org.ID, fn))
	}
	in(func(ctx context.Context, tx *tenant.Tx) error {
		attached, err := session.Attach(ctx, tx, which, uuid.New(), plan.Terms{}, now)
		if err != nil {
			return err
		}
		turn := session.Turn{ID: id.NewTurn(), Speaker: session.User, Text: says, Language: "en", Origin: session.Typed, StartedAt: now, EndedAt: &now}
		if err := session.Keep(ctx, tx, attached.Session, turn, now); err != nil {
			return err
		}
		return session.Collect(ctx, tx, which, attached.Session.Epoch, session.Found{
			Values: map[string]string{session.AnswerTo + "loop": says}, Clocks: InTime(attached.Session.Clocks, "loop"),
		}, time.Now())
	})
	in(func(ctx context.Context, tx *tenant.Tx) error {
		_, err := session.End(ctx, tx, which, session.Ending{Reason: session.EndedByUser, At: now})
		return err
	})
	r, err := result.OfSession(context.Background(), w.Tenants, org.ID, which)
	require.NoError(t, err)
	return r.ID.String()
}

// Score scores every session that waits for it.
func (w *World) Score(t testing.TB) {
	t.Helper()
	w.runJobs(t, (&result.Scorer{Tenants: w.Tenants, Minds: w.Minds, Clock: w.Options.Clock, Log: w.Options.Log}).Background().Works)
}

// candidateOf is the one person of an organization whose results the tests do not look at.
func (w *World) candidateOf(t testing.TB, org *Org) string {
	t.Helper()
	k := "learner" + org.ID.String()
	if _, ok := w.Made[k]; !ok {
		w.Made[k] = w.Learner(t, org)
	}
	return w.Made[k]
}

// unsure makes a result that waits for a review, and released one that does not.
func (w *World) unsure(t testing.TB, org *Org) string {
	t.Helper()
	return w.Assess(t, org, w.candidateOf(t, org), UnsureAnswer)
}

func (w *World) Released(t testing.TB, org *Org) string {
	t.Helper()
	return w.Assess(t, org, w.candidateOf(t, org), RightAnswer)
}

// review makes a review, and contest an objection.
func (w *World) review(t testing.TB, org *Org) string {
	t.Helper()
	return w.post(t, org, "createReview", "/results/"+w.Released(t, org)+"/reviews", map[string]any{"reasonCode": "appeal"})["id"].(string)
}

func (w *World) contest(t testing.TB, org *Org) string {
	t.Helper()
	return w.post(t, org, "createContest", "/results/"+w.Released(t, org)+"/contests", map[string]any{"message": "I said so."})["id"].(string)
}

func (w *World) completionBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"personId": w.candidateOf(t, org), "subjectId": w.Exam(t, org), "completedAt": "2026-07-02T09:00:00Z", "validUntil": "2099-07-02T09:00:00Z",
		"source": "import", "evidence": map[string]any{"paper": fmt.Sprint("number ", w.n)},
	}
}

func (w *World) certificateBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"personId": w.candidateOf(t, org), "subjectId": w.Exam(t, org), "resultId": nil, "recipientName": fmt.Sprint("Kim Lee ", w.n),
		"template": "classic", "expiresAt": "2099-07-02T09:00:00Z",
	}
}

// Certified issues a certificate to somebody.
func (w *World) Certified(t testing.TB, org *Org) map[string]any {
	t.Helper()
	w.n++
	return w.post(t, org, "createCertificate", "/certificates", w.certificateBody(t, org))
}

// badge has an organization hand out a badge, which makes its key.
func (w *World) badge(t testing.TB, org *Org) {
	t.Helper()
	o := w.Operation(t, "getCertificateBadge")
	answer := w.Call(t, o, Request{Path: WithID(o, w.Certified(t, org)["id"].(string)), Key: org.New})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
}

func (w *World) AttestationBody(t testing.TB, org *Org) map[string]any {
	return map[string]any{
		"personId": w.candidateOf(t, org), "subjectId": w.Exam(t, org), "statementKey": "code_of_conduct", "statementVersion": fmt.Sprint(w.n),
		"text": "I have read the code of conduct.", "method": "witness", "witnessId": w.manager(t, org),
	}
}

func init() {
	Kinds["/completions/{id}"] = func(t testing.TB, w *World, org *Org) string {
		w.n++
		w.post(t, org, "createAttestation", "/attestations", w.AttestationBody(t, org)) // so that there are some to list
		return w.post(t, org, "createCompletion", "/completions", w.completionBody(t, org))["id"].(string)
	}
	Kinds["/certificates/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.Certified(t, org)["id"].(string) }
	Kinds["/certificates/verify/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.Certified(t, org)["number"].(string) }
	Kinds["/issuers/{id}"] = func(t testing.TB, w *World, org *Org) string {
		w.badge(t, org)
		return org.ID.String()
	}
	Kinds["/status-lists/{id}"] = func(t testing.TB, w *World, org *Org) string {
		w.badge(t, org)
		return org.ID.String() + ".0"
	}
	Kinds["/results/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.unsure(t, org) }
	// Without an open review, or an objection.
	Kinds["/results/{id}/reviews"] = func(t testing.TB, w *World, org *Org) string { return w.Released(t, org) }
	Kinds["/results/{id}/contests"] = Kinds["/results/{id}/reviews"]
	Kinds["/results/{id}/release"] = Kinds["/results/{id}"]
	Kinds["/results/{id}/void"] = Kinds["/results/{id}"]
	Kinds["/results/{id}/unhold"] = func(t testing.TB, w *World, org *Org) string {
		held := w.unsure(t, org)
		o := w.Operation(t, "holdResult")
		answer := w.Call(t, o, Request{Path: WithID(o, held), Key: org.New})
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		return held
	}
	Kinds["/reviews/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.review(t, org) }
	Kinds["/contests/{id}"] = func(t testing.TB, w *World, org *Org) string { return w.contest(t, org) }
	maps.Copy(bodies, map[string]func(int) map[string]any{
		"createContest": func(n int) map[string]any { return map[string]any{"message": fmt.Sprint("I said so ", n)} },
		"createReview": func(n int) map[string]any {
			return map[string]any{"reasonCode": "appeal", "assigneeId": nil, "dueAt": "2099-12-01T12:00:00Z", "note": fmt.Sprint("note ", n)}
		},
		"revokeCertificate": func(n int) map[string]any { return map[string]any{"reasonCode": fmt.Sprint("reason_", n)} },
		"rescoreResult": func(n int) map[string]any {
			return map[string]any{"criteria": []any{map[string]any{"key": "loop", "score": n % 3, "rationale": "It is."}}, "reason": fmt.Sprint("reason ", n)}
		},
		"updateContest": func(n int) map[string]any { return map[string]any{"state": "rejected", "note": fmt.Sprint("note ", n)} },
		"updateReview": func(n int) map[string]any {
			return map[string]any{"assigneeId": nil, "dueAt": "2099-12-01T12:00:00Z", "note": fmt.Sprint("note ", n), "outcome": "upheld"}
		},
		"voidResult": func(n int) map[string]any { return map[string]any{"reason": fmt.Sprint("reason ", n)} },
	})
	maps.Copy(Once, map[string]string{
		"createContest": result.ReasonContestOpen, "createReview": result.ReasonReviewOpen, "updateContest": result.ReasonDecided,
		"updateReview": result.ReasonCompleted, "revokeCertificate": certificate.ReasonRevoked, "voidResult": result.ReasonVoided, "releaseResult": result.ReasonReleased,
	})
}

// InTime are clocks of which one says that its question was answered in its time; nil of nil.
func InTime(clocks *session.Clocks, key string) *session.Clocks {
	clocks = clocks.Clone()
	if clocks != nil {
		if clocks.Questions == nil {
			clocks.Questions = map[string]session.Clock{}
		}
		k := clocks.Questions[key]
		k.Came = session.InTime
		clocks.Questions[key] = k
	}
	return clocks
}
