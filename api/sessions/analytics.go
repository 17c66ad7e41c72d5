package sessions

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

// SessionAnalytics are the figures of a session.
type SessionAnalytics struct {
	SessionID        id.Session      `json:"sessionId" doc:"The session that the figures are of."`
	DurationS        *int64          `json:"durationS" doc:"How long it lasted, in seconds; null before it ends."`
	TurnCount        int64           `json:"turnCount" doc:"How many turns were taken."`
	UserTurns        int64           `json:"userTurns" doc:"How many turns the user took."`
	AvatarTurns      int64           `json:"avatarTurns" doc:"How many turns the avatar took."`
	Interruptions    int64           `json:"interruptions" doc:"How many times the avatar was interrupted."`
	InterruptionRate float64         `json:"interruptionRate" doc:"Of the avatar's turns."`
	TalkShare        TalkShare       `json:"talkShare" doc:"Who had how much of the time."`
	Words            WordCount       `json:"words" doc:"How many words were said."`
	LatencyMs        Latency         `json:"latencyMs" doc:"How long the stages of the answers took, in milliseconds."`
	Retrieval        Retrieval       `json:"retrieval" doc:"How questions to the packs were met."`
	Tools            Tools           `json:"tools" doc:"How tools were used."`
	Languages        []LanguageShare `json:"languages" doc:"The languages that the user spoke, most first."`
	Network          Network         `json:"network" doc:"How the connection did."`
	Outcome          *string         `json:"outcome" doc:"What came of it; null where that is not known."`
	Summary          *string         `json:"summary" doc:"Written by the avatar."`
}

// TalkShare is who had how much of the session's time, from 0 to 1.
type TalkShare struct {
	User    float64 `json:"user" doc:"The user's share."`
	Avatar  float64 `json:"avatar" doc:"The avatar's share."`
	Silence float64 `json:"silence" doc:"The share in which nobody spoke."`
}

// WordCount counts words.
type WordCount struct {
	User   int64 `json:"user" doc:"How many the user said."`
	Avatar int64 `json:"avatar" doc:"How many the avatar said."`
}

// Latency is how long the stages of the answers took, in milliseconds.
type Latency struct {
	Response        Percentiles `json:"response" doc:"From the end of a question to the first words of its answer."`
	Retrieval       Percentiles `json:"retrieval" doc:"Finding passages in the packs."`
	ModelFirstToken Percentiles `json:"modelFirstToken" doc:"From asking the model to the first word of its answer."`
}

// Percentiles are null where nothing was measured.
type Percentiles struct {
	P50 *int64 `json:"p50" doc:"Half took no longer than this; null where nothing was measured."`
	P90 *int64 `json:"p90" doc:"Nine in ten took no longer than this; null where nothing was measured."`
	P95 *int64 `json:"p95" doc:"Nineteen in twenty took no longer than this; null where nothing was measured."`
	Max *int64 `json:"max" doc:"The longest; null where nothing was measured."`
}

// Retrieval counts questions to the packs.
type Retrieval struct {
	Queries  int64 `json:"queries" doc:"How many times the packs were searched."`
	Grounded int64 `json:"grounded" doc:"How many answers rested on passages."`
	Gaps     int64 `json:"gaps" doc:"How many questions the packs did not answer."`
}

// Tools counts uses of tools.
type Tools struct {
	Total  int64 `json:"total" doc:"How many times a tool was used."`
	Failed int64 `json:"failed" doc:"How many of the uses failed."`
}

// LanguageShare is how much of what the user said was in a language.
type LanguageShare struct {
	Code  string  `json:"code" doc:"The language."`
	Share float64 `json:"share" doc:"The share of the user's words that were in it, from 0 to 1."`
}

// Network is how the connection did.
type Network struct {
	Reconnects int64  `json:"reconnects" doc:"How many times the client connected again."`
	Transport  string `json:"transport" doc:"What the conversation was to go over: websocket, webrtc or livekit."`
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
