package rehearsal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/conversation"
	"visavis.dev/pkg/sessions/rehearsal"
	"visavis.dev/pkg/sessions/session"
)

func TestJudge(t *testing.T) {
	yes, no, guide, prices := true, false, id.NewDocument(), id.NewDocument()
	known := conversation.Reply{Text: "Das Café öffnet um 9 Uhr. Der Eintritt kostet 1.250,50 €.", Grounded: &yes, Sources: []conversation.Source{
		{Source: session.Source{DocumentID: guide, Title: "Guide", ChunkID: id.NewChunk()}},
		{Source: session.Source{DocumentID: guide, Title: "Guide", ChunkID: id.NewChunk()}},
	}}
	unknown := conversation.Reply{Text: "Das weiß ich nicht.", Grounded: &no, Gap: true}
	for name, test := range map[string]struct {
		expect  rehearsal.Expectation
		reply   conversation.Reply
		reasons []rehearsal.Reason
		check   func(*testing.T, rehearsal.Result)
	}{
		"all is said":       {rehearsal.Expectation{Facts: []string{"CAFE", "1,250.50 €", "um 9"}, NotFacts: []string{"10 Uhr"}, DocumentIDs: []id.Document{prices, guide}, Grounded: &yes}, known, nil, nil},
		"in another script": {rehearsal.Expectation{Facts: []string{"午前9時"}}, conversation.Reply{Text: "博物館は午前９時に開きます。"}, nil, nil},
		"something is missing": {rehearsal.Expectation{Facts: []string{"um 9 Uhr", "montags"}}, known, []rehearsal.Reason{rehearsal.FactMissing}, func(t *testing.T, r rehearsal.Result) {
			require.Equal(t, []string{"montags"}, r.Missing)
		}},
		"something is too much": {rehearsal.Expectation{NotFacts: []string{"eintritt kostet", "gratis"}}, known, []rehearsal.Reason{rehearsal.UnwantedFact}, func(t *testing.T, r rehearsal.Result) {
			require.Equal(t, []string{"eintritt kostet"}, r.Unwanted)
		}},
		"from elsewhere":            {rehearsal.Expectation{DocumentIDs: []id.Document{prices}}, known, []rehearsal.Reason{rehearsal.OtherSource}, nil},
		"from nowhere":              {rehearsal.Expectation{DocumentIDs: []id.Document{guide}, Grounded: &yes}, unknown, []rehearsal.Reason{rehearsal.OtherSource, rehearsal.NotGrounded}, nil},
		"small talk":                {rehearsal.Expectation{Grounded: &yes}, conversation.Reply{Text: "Hallo!"}, []rehearsal.Reason{rehearsal.NotGrounded}, nil},
		"honest":                    {rehearsal.Expectation{Grounded: &no}, unknown, nil, nil},
		"answered all the same":     {rehearsal.Expectation{Grounded: &no}, known, []rehearsal.Reason{rehearsal.Answered}, nil},
		"made up":                   {rehearsal.Expectation{Grounded: &no}, conversation.Reply{Text: "Um neun.", Grounded: &no}, []rehearsal.Reason{rehearsal.Answered}, nil},
		"a refusal is no ignorance": {rehearsal.Expectation{Grounded: &no}, conversation.Reply{Text: "Davon spreche ich nicht."}, []rehearsal.Reason{rehearsal.Answered}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, test.expect.Check())
			r := test.expect.Judge(test.reply, []id.Document{prices})
			require.Equal(t, append([]rehearsal.Reason{}, test.reasons...), r.Reasons)
			require.Equal(t, len(test.reasons) == 0, r.Passed)
			require.Equal(t, test.reply.Text, r.Answer)
			require.Equal(t, test.reply.Grounded, r.Grounded)
			require.Equal(t, []id.Document{prices}, r.DeletedDocuments)
			if len(test.reply.Sources) > 0 {
				require.Equal(t, []rehearsal.Source{{DocumentID: guide, Title: "Guide"}}, r.Sources)
			}
			if test.check != nil {
				test.check(t, r)
			}
		})
	}
}

func TestWhatCannotBeExpected(t *testing.T) {
	for field, e := range map[string]rehearsal.Expectation{
		"expect":             {},
		"expect.facts[1]":    {Facts: []string{"nine", " …! "}},
		"expect.notFacts[0]": {NotFacts: []string{""}},
		"expect.facts[0]":    {Facts: []string{strings.Repeat("ä", rehearsal.MaxFact+1)}},
	} {
		var wrong *errdefs.Invalid
		require.ErrorAs(t, e.Check(), &wrong, field)
		require.Equal(t, field, wrong.Field)
	}
	long := rehearsal.Expectation{Facts: []string{strings.Repeat("ä", rehearsal.MaxFact)}}
	require.NoError(t, long.Check())
}
