package sessions

import (
	"context"
	"time"

	"visavis.dev/api/route"
	"visavis.dev/pkg/id"
	"visavis.dev/pkg/session"
)

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
