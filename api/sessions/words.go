package sessions

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/tenant"
	"visavis.dev/pkg/visits/memory"
)

// registerWords declares the operations on what was said.
func (a *API) registerWords(s *route.Service, read route.Operation) {
	transcript := read
	transcript.ID, transcript.Path, transcript.Scope = "getTranscript", "/sessions/{id}/transcript", scope.TranscriptsRead
	transcript.Errors = []problem.Code{problem.CandidateInterview, problem.LearnerConversation}
	transcript.Summary = "What was said, turn by turn"
	transcript.Description = "format=text and format=vtt put the whole transcript of the page into content, ready to be written to a file."
	route.Handle(s, transcript, a.transcript)

	analytics := read
	analytics.ID, analytics.Path = "getSessionAnalytics", "/sessions/{id}/analytics"
	analytics.Errors = []problem.Code{problem.CandidateInterview}
	analytics.Summary = "The figures of a session; its summary needs transcripts:read too"
	route.Handle(s, analytics, a.analytics)

	remove := read
	remove.ID, remove.Method, remove.Path, remove.Class = "deleteTranscript", http.MethodDelete, "/sessions/{id}/transcript", "write"
	remove.Scope, remove.Since = scope.SessionsWrite, contract.V20261001
	remove.Errors = []problem.Code{problem.OnHold, problem.CandidateInterview, problem.LearnerConversation}
	remove.Summary = "Delete every word of a session so far; needs transcripts:read too"
	remove.Description = "What the persona remembers from this session is deleted with it; what it remembers from others stays. " +
		"Words whose time to be kept is over leave the memory as it is, which has a time of its own."
	route.Handle(s, remove, a.deleteTranscript)
}

// TranscriptQuery says how a transcript is wanted.
type TranscriptQuery struct {
	Path
	route.Paging
	Format string `query:"format" enum:"json,text,vtt" default:"json" doc:"json, plain text, or subtitles as WebVTT."`
}

// Transcript is what was said.
type Transcript struct {
	SessionID   id.Session       `json:"sessionId" doc:"The session whose words they are."`
	State       string           `json:"state" enum:"live,final" doc:"live while turns may be added, final after."`
	Language    string           `json:"language" doc:"The language that the session began in, as a code."`
	AIGenerated bool             `json:"aiGenerated" enum:"true" doc:"An avatar wrote what its turns say."`
	Turns       []TranscriptTurn `json:"turns" doc:"Empty where format is text or vtt."`
	Content     *string          `json:"content" doc:"The turns as text or WebVTT; null where format is json."`
	NextCursor  *string          `json:"nextCursor" doc:"Pass it as cursor for the next turns; null on the last page."`
}

// TranscriptTurn is one turn.
type TranscriptTurn struct {
	ID          id.Turn            `json:"id" doc:"Id of the turn, with the prefix turn_."`
	Index       int64              `json:"index" doc:"The turn's place in the conversation, from 0."`
	Speaker     session.Speaker    `json:"speaker" enum:"avatar,user,staff" doc:"Who spoke."`
	Host        *string            `json:"host" enum:"left,right" nullable:"true" doc:"The seat of the host of a duo who spoke; null for every other speaker. When the other host goes on, another turn begins."`
	Name        *string            `json:"name" doc:"The speaker's name: a team member's, or that of a duo's host; null where it is not known."`
	Text        string             `json:"text" doc:"What was said."`
	SpokenText  *string            `json:"spokenText" doc:"What was really heard of a turn that was interrupted."`
	Language    string             `json:"language" doc:"The language of the turn, as a code."`
	Source      session.Origin     `json:"source" enum:"voice,typed,say,greeting,tool" doc:"How the words came about."`
	StartedAt   time.Time          `json:"startedAt" doc:"When the turn began, in UTC."`
	EndedAt     *time.Time         `json:"endedAt" doc:"When the turn ended, in UTC; null while it goes on."`
	OffsetMs    int64              `json:"offsetMs" doc:"From the start of the session."`
	DurationMs  *int64             `json:"durationMs" doc:"How long the turn took, in milliseconds; null while it goes on."`
	Interrupted bool               `json:"interrupted" doc:"Whether the speaker was cut short."`
	Sources     []session.Source   `json:"sources" doc:"The passages that the answer rests on; empty for none."`
	Grounded    *bool              `json:"grounded" doc:"Whether an answer rests on the packs; null for what is no answer."`
	ToolCalls   []session.ToolCall `json:"toolCalls" doc:"Tools that were used for the turn; empty for none."`
	Redacted    bool               `json:"redacted" doc:"Its words are not kept."`
}

// wordsOf finds a session whose words the caller may read.
func (a *API) wordsOf(ctx context.Context, c *route.Call, p Path) (session.Session, error) {
	s, err := a.find(ctx, c, p)
	if err == nil && s.Withheld != nil && *s.Withheld == session.LearnerConversation {
		err = problem.New(problem.LearnerConversation, "A young learner's conversation stays in the dashboard.").WithParam("path.id")
	}
	return s, err
}

func (a *API) transcript(ctx context.Context, c *route.Call, q *TranscriptQuery) (Transcript, error) {
	s, err := a.wordsOf(ctx, c, q.Path)
	if err != nil {
		return Transcript{}, err
	}
	from, err := route.After[int64](c, q.Paging)
	if err != nil {
		return Transcript{}, err
	}
	if from == nil {
		from = new(int64)
	}
	found, err := session.Turns(ctx, a.Tenants, c.Org(), s.ID, *from, q.Limit+1)
	if err != nil {
		return Transcript{}, err
	}
	page, err := route.Paged(c, q.Paging, found, func(t session.Turn) int64 { return t.Index + 1 })
	if err != nil {
		return Transcript{}, err
	}
	shown := Transcript{SessionID: s.ID, State: "final", Language: s.Language, AIGenerated: true, Turns: []TranscriptTurn{}, NextCursor: page.Next}
	if !s.State.Over() {
		shown.State = "live"
	}
	switch q.Format {
	case "text":
		shown.Content = new(string)
		*shown.Content = asText(page.Items)
	case "vtt":
		shown.Content = new(string)
		*shown.Content = asVTT(s, page.Items)
	default:
		for _, t := range page.Items {
			shown.Turns = append(shown.Turns, showTurn(s, t))
		}
	}
	return shown, nil
}

func showTurn(s session.Session, t session.Turn) TranscriptTurn {
	shown := TranscriptTurn{
		ID: t.ID, Index: t.Index, Speaker: t.Speaker, Text: t.Text, Language: t.Language, Source: t.Origin, StartedAt: t.StartedAt.UTC(),
		EndedAt: route.UTC(t.EndedAt), Interrupted: t.Interrupted, Sources: t.Sources, Grounded: t.Grounded, ToolCalls: t.ToolCalls,
		Redacted: t.Unrecorded, OffsetMs: offset(s, t.StartedAt),
	}
	if t.Name != "" {
		shown.Name = &t.Name
	}
	if t.Host != "" {
		shown.Host = &t.Host
	}
	if t.Interrupted {
		shown.SpokenText = &t.Spoken
	}
	if t.EndedAt != nil {
		ms := t.EndedAt.Sub(t.StartedAt).Milliseconds()
		shown.DurationMs = &ms
	}
	return shown
}

// offset is how far into the session a moment is, in milliseconds.
func offset(s session.Session, at time.Time) int64 {
	if s.StartedAt == nil {
		return 0
	}
	return max(0, at.Sub(*s.StartedAt).Milliseconds())
}

// oneLine replaces what ends a line, in WebVTT too.
var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ")

// asText writes turns a line each.
func asText(turns []session.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%s: %s\n", oneLine.Replace(speaker(t)), oneLine.Replace(t.Heard()))
	}
	return b.String()
}

// asVTT writes turns as WebVTT cues.
func asVTT(s session.Session, turns []session.Turn) string {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	for _, t := range turns {
		begin, end := offset(s, t.StartedAt), offset(s, t.StartedAt)
		if t.EndedAt != nil {
			end = offset(s, *t.EndedAt)
		}
		fmt.Fprintf(&b, "\n%d\n%s --> %s\n<v %s>%s\n", t.Index+1, cueTime(begin), cueTime(max(end, begin+1)), escape(speaker(t)), escape(t.Heard()))
	}
	return b.String()
}

// markup is what means something in a cue.
var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(text string) string { return markup.Replace(oneLine.Replace(text)) }

func cueTime(ms int64) string {
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

func speaker(t session.Turn) string {
	if t.Name != "" {
		return t.Name
	}
	return strings.ToUpper(string(t.Speaker[:1])) + string(t.Speaker[1:])
}

func (a *API) deleteTranscript(ctx context.Context, c *route.Call, p *Path) (route.Deleted, error) {
	if !readsWords(c) {
		return route.Deleted{}, problem.New(problem.Forbidden, "This key lacks the scope %s.", scope.TranscriptsRead)
	}
	found, err := a.wordsOf(ctx, c, *p)
	if err != nil {
		return route.Deleted{}, err
	}
	return route.Commit(ctx, c, func(ctx context.Context, tx *tenant.Tx) (route.Deleted, error) {
		s, err := session.Lock(ctx, tx, found.ID)
		switch {
		case err != nil:
			return route.Deleted{}, asProblem(err)
		case s.OnHold:
			return route.Deleted{}, problem.New(problem.OnHold, "The session is under a hold, so its words stay.").WithParam("path.id")
		}
		if err := session.DeleteTranscript(ctx, tx, s.ID, c.Actor()); err != nil {
			return route.Deleted{}, err
		}
		if err := memory.ForgetSession(ctx, tx, s); err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: s.ID.String()}, nil
	})
}
