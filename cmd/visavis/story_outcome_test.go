package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
)

// checkTranscript compares what was said with what is kept, in every form.
func (s *story) checkTranscript() {
	s.t.Helper()
	turns := s.two.transcript(s.t, s.session)
	var got []string
	for i, turn := range turns {
		require.Equal(s.t, i, turn.Index)
		require.NotNil(s.t, turn.EndedAt)
		speaker, text := turn.Speaker, turn.Text
		if turn.Name != nil {
			speaker = *turn.Name
		}
		if turn.Interrupted {
			require.Contains(s.t, turn.Text, "should write to us a week before they come")
			text = *turn.SpokenText
			require.True(s.t, strings.HasPrefix(turn.Text, text))
		} else {
			require.Nil(s.t, turn.SpokenText)
		}
		got = append(got, speaker+": "+text)
	}
	require.Equal(s.t, s.said, got)
	content := func(format string) string {
		return data[struct{ Content string }](s.t, get(s.t, s.one.base+"/sessions/"+s.session+"/transcript?format="+format, s.key)).Content
	}
	var text, cues strings.Builder
	for i, line := range s.said {
		speaker, words, _ := strings.Cut(line, ": ")
		speaker = strings.ToUpper(speaker[:1]) + speaker[1:]
		fmt.Fprintf(&text, "%s: %s\n", speaker, words)
		fmt.Fprintf(&cues, "\n%d\n<v %s>%s\n", i+1, speaker, words)
	}
	require.Equal(s.t, text.String(), content("text"))
	var shown strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(content("vtt"), "WEBVTT\n")) {
		if !strings.Contains(line, " --> ") {
			shown.WriteString(line)
		}
	}
	require.Equal(s.t, cues.String(), shown.String())
}

// checkFigures compares the figures with what was said and how long it took.
func (s *story) checkFigures() {
	s.t.Helper()
	type percentiles struct{ P50, P90, P95, Max *int64 }
	figures := data[struct {
		TurnCount, UserTurns, AvatarTurns, Interruptions int
		LatencyMs                                        struct{ Response, Retrieval percentiles }
		Retrieval                                        struct{ Queries, Grounded, Gaps int }
	}](s.t, get(s.t, s.one.base+"/sessions/"+s.session+"/analytics", s.key))
	require.Equal(s.t, []int{len(s.said), 8, 10, 1}, []int{figures.TurnCount, figures.UserTurns, figures.AvatarTurns, figures.Interruptions})
	require.NotNil(s.t, figures.LatencyMs.Response.P50)
	require.NotNil(s.t, figures.LatencyMs.Response.P95)
	require.NotNil(s.t, figures.LatencyMs.Retrieval.P50)
	require.Equal(s.t, 1, figures.Retrieval.Gaps)

	ended := data[struct {
		DurationS, BilledS int64
		Rating             struct{ Score, Scale int }
		Staff              []struct{ Name, Mode, LeftAt string }
		Summary            string
	}](s.t, get(s.t, s.one.base+"/sessions/"+s.session, s.key))
	require.Positive(s.t, ended.BilledS)
	require.Equal(s.t, ended.DurationS, ended.BilledS)
	require.Equal(s.t, 5, ended.Rating.Score)
	require.Len(s.t, ended.Staff, 1)
	require.NotEmpty(s.t, ended.Staff[0].LeftAt)
	require.Contains(s.t, ended.Summary, "Which tram do I take?")
	minutes := data[struct {
		Minutes struct{ Used, Left, Held float64 }
	}](s.t, get(s.t, s.two.base+"/usage", s.key)).Minutes
	require.InDelta(s.t, float64(ended.BilledS)/60, minutes.Used, 0.01)
	require.InDelta(s.t, 30-float64(ended.BilledS)/60, minutes.Left, 0.01)
	me := data[struct{ Limits struct{ ActiveSessions int } }](s.t, get(s.t, s.two.base+"/me", s.key))
	require.Zero(s.t, me.Limits.ActiveSessions)
	gaps := data[[]struct {
		QuestionCount int
		Questions     []string
		PersonaID     string
	}](s.t, get(s.t, s.one.base+"/knowledge/gaps", s.key))
	require.Len(s.t, gaps, 1)
	require.Equal(s.t, []string{"Do you sell umbrellas?"}, gaps[0].Questions)
	require.Equal(s.t, s.persona, gaps[0].PersonaID)
}

// checkEvents compares the log with what happened, and what was received with
// the log.
func (s *story) checkEvents() {
	s.t.Helper()
	log := s.one.awaitLog(s.t, true, "conversation.rated", "session.transcript_ready", "job.completed")
	var order []string
	for _, e := range log {
		if strings.HasPrefix(e.Type, "session.") || strings.HasPrefix(e.Type, "handoff.") || e.Type == "conversation.rated" || e.Type == "knowledge.gap" {
			order = append(order, e.Type)
		}
	}
	require.Equal(s.t, []string{
		"session.started", "knowledge.gap", "handoff.joined", "handoff.left", "session.ended", "session.transcript_ready", "conversation.rated",
	}, order)
	require.Len(s.t, ofType(log, "knowledge.document.processed"), 3)
	require.Len(s.t, ofType(log, "job.completed"), 3)
	finals := ofType(log, "transcript.final")
	require.Len(s.t, finals, len(s.said))
	for i, e := range finals {
		_, said, _ := strings.Cut(s.said[i], ": ")
		require.InDelta(s.t, i, e.Data["index"], 0)
		require.Equal(s.t, said, e.Data["text"])
	}
	summary := ofType(log, "session.ended")[0].Data["summary"]
	require.Contains(s.t, summary, "Which tram do I take?")

	s.checkReceived(withWords, log)
	s.checkReceived(withoutWords, s.two.awaitLog(s.t, false, "conversation.rated"))
	for _, r := range s.receiver.Received(withoutWords) {
		// Whole words: an id may hold the letters of one by chance.
		require.NotRegexp(s.t, `\b(tram|umbrellas|Welcome|Kim)\b`, string(r.Body), "%s tells no words", r.Type)
	}
}

// checkReceived compares what an endpoint received with what it should: each
// event once, verified, and as the log has it.
func (s *story) checkReceived(path string, want []listedEvent) {
	s.t.Helper()
	s.receiver.awaitEvents(s.t, path, len(want))
	got := map[string]listedEvent{}
	for _, r := range s.receiver.Received(path) {
		require.True(s.t, r.Verified, r.Why)
		var e listedEvent
		require.NoError(s.t, json.Unmarshal(r.Body, &e))
		got[e.ID] = e
	}
	require.Zero(s.t, s.receiver.Count(path).Unverified)
	require.Zero(s.t, s.receiver.Count(path).Repeats)
	require.Len(s.t, got, len(want))
	for _, e := range want {
		sent := got[e.ID]
		require.Equal(s.t, e.Type, sent.Type)
		if e.Data["interrupted"] == true {
			e.Data["text"], sent.Data["text"] = nil, nil // what was heard is told after the end
		}
		require.Equal(s.t, e, sent)
	}
}
