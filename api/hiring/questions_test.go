package hiring_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/hiring/question"
	"visavis.dev/pkg/hiring/record"
	"visavis.dev/pkg/sessions/session"
)

// exported is the record of a candidate as it is saved.
func exported(t *testing.T, w *apitest.World, who string) []byte {
	t.Helper()
	answer := w.CallAs(t, "getCandidateCompliance", who, w.Acme.New, nil)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	var envelope struct {
		Data struct {
			Record json.RawMessage `json:"record"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(answer.Raw, &envelope))
	return envelope.Data.Record
}

// keys are those of the questions that a session asks, and prompts what it says to ask them.
func keys(s session.Session) (keys, prompts []string) {
	for _, g := range s.Brief.Goals {
		keys, prompts = append(keys, g.Key), append(prompts, g.Prompt)
	}
	return keys, prompts
}

// Everybody of a role is asked the same, also where the order and the choice are by chance; who is invited
// after the subject changed is asked what it says then, and both are on record, in words.
func TestCandidatesOfARoleAreAskedTheSame(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	asks := w.QuestionPool(t, w.Acme)
	role := w.Role(t, w.Acme, map[string]any{"subjectId": asks, "retakes": 1})
	require.Empty(t, read(t, w, "getRole", role)["questionSets"], "nobody was invited")
	first, second := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role)), w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	one := w.Interview(t, w.Acme, first, "", session.EndedByUser)

	w.Reword(t, w.Acme, asks, "What would you say of")
	two := w.Interview(t, w.Acme, second, "", session.EndedByUser)
	firstKeys, firstPrompts := keys(one)
	secondKeys, secondPrompts := keys(two)
	require.Len(t, firstKeys, 3)
	require.Equal(t, firstKeys, secondKeys, "in the same order")
	require.Equal(t, firstPrompts, secondPrompts, "in the words of when they were invited")
	r := read(t, w, "getRole", role)
	require.Equal(t, false, r["questionsDiffer"])
	require.Len(t, r["questionSets"], 1)
	set := r["questionSets"].([]any)[0]
	require.Equal(t, []any{1.0, 2.0, 2.0, 3.0}, []any{apitest.At(set, "version"), apitest.At(set, "invited"), apitest.At(set, "interviewed"), apitest.At(set, "questions")})

	w.Reword(t, w.Acme, asks, "What, in short, of")
	late := w.Invite(t, w.Acme, role)
	third := w.Arrive(t, w.Acme, late)
	r = read(t, w, "getRole", role)
	require.Len(t, r["questionSets"], 2)
	require.Equal(t, false, r["questionsDiffer"], "nobody was asked it yet")
	o := w.Operation(t, "createInvites")
	again := w.Call(t, o, apitest.Request{Path: apitest.WithID(o, role), Key: w.Acme.New, Body: map[string]any{"candidates": []any{map[string]any{"name": "Ali"}}}})
	require.Equal(t, http.StatusCreated, again.Status, "%s", again.Raw)
	require.Equal(t, true, again.Data(t)["questionsChanged"])
	require.Equal(t, 2.0, apitest.At(again.Data(t), "questionSet", "version"))
	three := w.Interview(t, w.Acme, third, "", session.EndedByUser)
	thirdKeys, thirdPrompts := keys(three)
	require.Equal(t, firstKeys, thirdKeys, "what is drawn follows from the role")
	require.NotEqual(t, firstPrompts, thirdPrompts)
	require.Equal(t, true, read(t, w, "getRole", role)["questionsDiffer"])
	require.Equal(t, 2.0, read(t, w, "getCandidate", third.String())["questionSetVersion"])
	logged, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, map[string][]string{"limit": {"100"}})
	require.True(t, slices.ContainsFunc(logged, func(e any) bool { return apitest.At(e, "action") == "role.questions_changed" }))

	// The record has the hash, and the words that it is of.
	sets := w.CallAs(t, "listQuestionSets", role, w.Acme.New, nil).JSON(t)["data"].([]any)
	require.Len(t, sets, 2)
	for who, at := range map[string]int{first.String(): 1, second.String(): 1, third.String(): 0} {
		text := exported(t, w, who)
		v, err := record.Verify(text)
		require.NoError(t, err)
		require.Len(t, v.Asked, 1)
		require.Equal(t, apitest.At(sets[at], "hash"), v.Asked[0].Hash)
		require.Equal(t, firstKeys, v.Asked[0].Keys)
		require.Equal(t, question.Hash(apitest.At(sets[at], "document").(string)), v.Asked[0].Hash)
		for _, prompt := range []string{"What do you know of", "What, in short, of"} {
			require.Equal(t, (at == 1) == (prompt == "What do you know of"), strings.Contains(string(text), prompt))
		}
		_, err = record.Verify([]byte(strings.Replace(string(text), "What", "Where", 1)))
		require.ErrorIs(t, err, record.ErrBroken)
		shown := read(t, w, "getCandidateInterview", who)
		require.Equal(t, apitest.At(sets[at], "hash"), apitest.At(shown, "questionSet", "hash"))
		require.True(t, strings.HasPrefix(apitest.At(shown["questions"].([]any)[0], "text").(string), []string{"What, in short, of", "What do you know of"}[at]))
	}

	// Whoever is interviewed once more is asked the same as before.
	granted := w.Ask(t, w.Acme, first, "retake", "")
	require.Equal(t, http.StatusOK, answer(t, w, granted, "done", "").Status)
	_, prompts := keys(w.Interview(t, w.Acme, first, "", session.EndedByUser))
	require.Equal(t, firstPrompts, prompts)
	// Words that come back are the version that they were.
	w.Reword(t, w.Acme, asks, "What do you know of")
	w.Invite(t, w.Acme, role)
	r = read(t, w, "getRole", role)
	require.Len(t, r["questionSets"], 2)
	require.Equal(t, 3.0, apitest.At(r["questionSets"].([]any)[0], "invited"))

	// The record outlasts the candidate, with the questions.
	require.Equal(t, http.StatusAccepted, w.CallAs(t, "eraseCandidate", third.String(), w.Acme.New, nil).Status)
	w.EraseCandidates(t)
	v, err := record.Verify(exported(t, w, third.String()))
	require.NoError(t, err)
	require.Equal(t, firstKeys, v.Asked[0].Keys)
}

// Where the subject asks nothing when somebody is invited, it is frozen once the interview begins.
func TestQuestionsAreFrozenWhenTheInterviewBegins(t *testing.T) {
	t.Parallel()
	w := apitest.NewWorld(t)
	role := w.Role(t, w.Acme, nil)
	who := w.Arrive(t, w.Acme, w.Invite(t, w.Acme, role))
	shard, err := w.Tenants.ShardOf(t.Context(), w.Acme.ID)
	require.NoError(t, err)
	db, err := w.Tenants.Shard(t.Context(), shard)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `UPDATE candidate SET question_set = 0`) // as of before there were any
	require.NoError(t, err)
	require.Nil(t, read(t, w, "getCandidate", who.String())["questionSetVersion"])
	w.Interview(t, w.Acme, who, apitest.RightAnswer, session.EndedByUser)
	require.Equal(t, 1.0, read(t, w, "getCandidate", who.String())["questionSetVersion"])
	require.Contains(t, string(exported(t, w, who.String())), `"visavis-candidate-record-2"`)
}
