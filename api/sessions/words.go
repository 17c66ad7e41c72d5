package sessions

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/activity"
	"visavis.dev/pkg/contract"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/problem"
	"visavis.dev/pkg/scope"
	"visavis.dev/pkg/session"
	"visavis.dev/pkg/tenant"
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
	route.Handle(s, remove, a.deleteTranscript)
}

// TranscriptQuery says how a transcript is wanted.
type TranscriptQuery struct {
	Path
	route.Paging
	Format string `query:"format" enum:"json,text,vtt" default:"json"`
}

// Transcript is what was said.
type Transcript struct {
	SessionID   id.Session       `json:"sessionId"`
	State       string           `json:"state" enum:"live,final"`
	Language    string           `json:"language"`
	AIGenerated bool             `json:"aiGenerated" enum:"true" doc:"An avatar wrote what its turns say."`
	Turns       []TranscriptTurn `json:"turns" doc:"Empty where format is text or vtt."`
	Content     *string          `json:"content" doc:"The turns as text or WebVTT; null where format is json."`
	NextCursor  *string          `json:"nextCursor" doc:"Pass it as cursor for the next turns; null on the last page."`
}

// TranscriptTurn is one turn.
type TranscriptTurn struct {
	ID          id.Turn            `json:"id"`
	Index       int64              `json:"index"`
	Speaker     session.Speaker    `json:"speaker" enum:"avatar,user,staff"`
	Name        *string            `json:"name"`
	Text        string             `json:"text"`
	SpokenText  *string            `json:"spokenText" doc:"What was really heard of a turn that was interrupted."`
	Language    string             `json:"language"`
	Source      session.Origin     `json:"source" enum:"voice,typed,say,greeting,tool"`
	StartedAt   time.Time          `json:"startedAt"`
	EndedAt     *time.Time         `json:"endedAt"`
	OffsetMs    int64              `json:"offsetMs" doc:"From the start of the session."`
	DurationMs  *int64             `json:"durationMs"`
	Interrupted bool               `json:"interrupted"`
	Sources     []session.Source   `json:"sources"`
	Grounded    *bool              `json:"grounded" doc:"Whether an answer rests on the packs; null for what is no answer."`
	ToolCalls   []session.ToolCall `json:"toolCalls"`
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
	return shown, err
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

// asText writes turns a line each.
func asText(turns []session.Turn) string {
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%s: %s\n", speaker(t), strings.ReplaceAll(t.Heard(), "\n", " "))
	}
	return b.String()
}

// asVTT writes turns as WebVTT cues.
func asVTT(s session.Session, turns []session.Turn) string {
	var b strings.Builder
	b.WriteString("WEBVTT\n")
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "\n", " ")
	for _, t := range turns {
		begin, end := offset(s, t.StartedAt), offset(s, t.StartedAt)
		if t.EndedAt != nil {
			end = offset(s, *t.EndedAt)
		}
		fmt.Fprintf(&b, "\n%d\n%s --> %s\n<v %s>%s\n", t.Index+1, cueTime(begin), cueTime(max(end, begin+1)), escape.Replace(speaker(t)), escape.Replace(t.Heard()))
	}
	return b.String()
}

func cueTime(ms int64) string {
	return fmt.Sprintf("%02d:%02d:%02d.%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
}

func speaker(t session.Turn) string {
	if t.Name != "" {
		return t.Name
	}
	return strings.ToUpper(string(t.Speaker[:1])) + string(t.Speaker[1:])
}

// SessionAnalytics are the figures of a session.
type SessionAnalytics struct {
	SessionID        id.Session      `json:"sessionId"`
	DurationS        *int64          `json:"durationS"`
	TurnCount        int64           `json:"turnCount"`
	UserTurns        int64           `json:"userTurns"`
	AvatarTurns      int64           `json:"avatarTurns"`
	Interruptions    int64           `json:"interruptions"`
	InterruptionRate float64         `json:"interruptionRate" doc:"Of the avatar's turns."`
	TalkShare        TalkShare       `json:"talkShare"`
	Words            WordCount       `json:"words"`
	LatencyMs        Latency         `json:"latencyMs"`
	Retrieval        Retrieval       `json:"retrieval"`
	Tools            Tools           `json:"tools"`
	Languages        []LanguageShare `json:"languages"`
	Network          Network         `json:"network"`
	Outcome          *string         `json:"outcome"`
	Summary          *string         `json:"summary" doc:"Written by the avatar."`
}

// TalkShare is who had how much of the session's time, from 0 to 1.
type TalkShare struct {
	User    float64 `json:"user"`
	Avatar  float64 `json:"avatar"`
	Silence float64 `json:"silence"`
}

// WordCount counts words.
type WordCount struct {
	User   int64 `json:"user"`
	Avatar int64 `json:"avatar"`
}

// Latency is how long the stages of the answers took, in milliseconds.
type Latency struct {
	Response        Percentiles `json:"response" doc:"From the end of a question to the first words of its answer."`
	Retrieval       Percentiles `json:"retrieval"`
	ModelFirstToken Percentiles `json:"modelFirstToken"`
}

// Percentiles are null where nothing was measured.
type Percentiles struct {
	P50 *int64 `json:"p50"`
	P90 *int64 `json:"p90"`
	P95 *int64 `json:"p95"`
	Max *int64 `json:"max"`
}

// Retrieval counts questions to the packs.
type Retrieval struct {
	Queries  int64 `json:"queries"`
	Grounded int64 `json:"grounded"`
	Gaps     int64 `json:"gaps"`
}

// Tools counts uses of tools.
type Tools struct {
	Total  int64 `json:"total"`
	Failed int64 `json:"failed"`
}

// LanguageShare is how much of what the user said was in a language.
type LanguageShare struct {
	Code  string  `json:"code"`
	Share float64 `json:"share"`
}

// Network is how the connection did.
type Network struct {
	Reconnects int64  `json:"reconnects"`
	Transport  string `json:"transport"`
}

// mostTurns bounds the turns that figures are worked out of.
const mostTurns = 5000

func (a *API) analytics(ctx context.Context, c *route.Call, p *Path) (SessionAnalytics, error) {
	s, err := a.find(ctx, c, *p)
	if err != nil {
		return SessionAnalytics{}, err
	}
	turns, err := session.Turns(ctx, a.Tenants, c.Org(), s.ID, 0, mostTurns)
	if err != nil {
		return SessionAnalytics{}, err
	}
	f := session.Analyze(turns)
	shown := SessionAnalytics{
		SessionID: s.ID, DurationS: s.DurationS, TurnCount: s.TurnCount, UserTurns: f.UserTurns, AvatarTurns: f.AvatarTurns,
		Interruptions: f.Interruptions, InterruptionRate: share(f.Interruptions, f.AvatarTurns),
		TalkShare: talkShare(s, f, c.Now()), Words: WordCount{f.UserWords, f.AvatarWords},
		LatencyMs: Latency{Percentiles(f.Response), Percentiles(f.Retrieval), Percentiles(f.ModelFirst)},
		Retrieval: Retrieval{f.Queries, f.Grounded, f.Gaps}, Tools: Tools{f.ToolsTotal, f.ToolsFailed},
		Languages: []LanguageShare{}, Network: Network{s.Reconnects, s.Transport}, Outcome: s.Outcome,
	}
	for _, code := range s.LanguagesHeard {
		shown.Languages = append(shown.Languages, LanguageShare{code, share(f.Languages[code], f.UserTurns)})
	}
	if readsWords(c) && s.Withheld == nil {
		shown.Summary = s.Summary
	}
	return shown, nil
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part*1000/whole) / 1000
}

func talkShare(s session.Session, f session.Analytics, now time.Time) TalkShare {
	if s.StartedAt == nil {
		return TalkShare{}
	}
	if s.EndedAt != nil {
		now = *s.EndedAt
	}
	all := now.Sub(*s.StartedAt).Milliseconds()
	return TalkShare{share(f.UserMs, all), share(f.AvatarMs, all), share(max(0, all-f.UserMs-f.AvatarMs), all)}
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
		if err := session.DeleteWords(ctx, tx, s.ID); err != nil {
			return route.Deleted{}, err
		}
		return route.Deleted{Deleted: true, ID: s.ID.String()},
			activity.Record(ctx, tx, c.Did("session.transcript_deleted", "session", s.ID.String(), nil))
	})
}
