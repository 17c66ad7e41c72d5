package session

import (
	"slices"
	"strings"
	"time"
)

// Analytics are the figures of a conversation.
type Analytics struct {
	UserTurns, AvatarTurns, Interruptions int64
	// UserMs and AvatarMs are how long each spoke.
	UserMs, AvatarMs       int64
	UserWords, AvatarWords int64
	// Response, Retrieval and ModelFirst are the times of each answer.
	Response, Retrieval, ModelFirst Percentiles
	Queries, Grounded, Gaps         int64
	ToolsTotal, ToolsFailed         int64
	// Languages counts the user's turns in each.
	Languages map[string]int64
}

// Percentiles of times in milliseconds; nil where nothing was measured.
type Percentiles struct{ P50, P90, P95, Max *int64 }

// Analyze works the figures out of a conversation's turns.
func Analyze(turns []Turn) Analytics {
	a := Analytics{Languages: map[string]int64{}}
	var response, retrieval, first []int64
	for _, t := range turns {
		var lasted int64
		if t.EndedAt != nil {
			lasted = int64(t.EndedAt.Sub(t.StartedAt) / time.Millisecond)
		}
		words := int64(len(strings.Fields(t.Heard())))
		for _, c := range t.ToolCalls {
			a.ToolsTotal++
			if c.Status == "failed" {
				a.ToolsFailed++
			}
		}
		switch t.Speaker {
		case User:
			a.UserTurns++
			a.UserMs += lasted
			a.UserWords += words
			a.Languages[t.Language]++
		case Avatar:
			a.AvatarTurns++
			a.AvatarMs += lasted
			a.AvatarWords += words
			if t.Interrupted {
				a.Interruptions++
			}
			response = measured(response, t.Timing.ResponseMs)
			retrieval = measured(retrieval, t.Timing.RetrievalMs)
			first = measured(first, t.Timing.ModelFirstMs)
			if t.Grounded != nil {
				a.Queries++
				if *t.Grounded {
					a.Grounded++
				} else {
					a.Gaps++
				}
			}
		}
	}
	a.Response, a.Retrieval, a.ModelFirst = percentiles(response), percentiles(retrieval), percentiles(first)
	return a
}

// measured adds a time that was measured: those that were not are negative.
func measured(times []int64, ms int64) []int64 {
	if ms < 0 {
		return times
	}
	return append(times, ms)
}

// percentiles are by nearest rank.
func percentiles(times []int64) Percentiles {
	if len(times) == 0 {
		return Percentiles{}
	}
	slices.Sort(times)
	at := func(percent int) *int64 { return &times[(len(times)*percent+99)/100-1] }
	return Percentiles{P50: at(50), P90: at(90), P95: at(95), Max: at(100)}
}
