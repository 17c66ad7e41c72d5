package results_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/provider/model/modeltest"
)

// otherWords say what the point of the exam says, in words that it does not have.
const otherWords = "So that somebody who fell overboard can be pulled out of the sea."

// A model reads what is said in other words; where it does not help, the words are weighed
// without it, and a person looks at what they do not show.
func TestAModelScoresAnswers(t *testing.T) {
	c := apitest.NewConnections(t)
	connection := c.Modelled(t, map[string]any{})
	body := apitest.Minimal()
	body["model"] = map[string]any{"connectionId": connection}
	persona := c.CallAs(t, "createPersona", "", c.Acme.New, body)
	require.Equal(t, http.StatusCreated, persona.Status, "%s", persona.Raw)
	c.OpenExam(t, c.Acme, persona.Data(t)["id"].(string), "To rescue a man from the water")
	assessed := func(says string, answer modeltest.Behaviour) map[string]any {
		t.Helper()
		c.Models.Behave(answer)
		return makeResult(t, c.World, c.Assess(t, c.Acme, c.Learner(t, c.Acme), says))
	}
	said := func(quote string) modeltest.Behaviour {
		return modeltest.Stream(`{"criteria": [{"points": [{"stance": "covers", "quote": "` + quote + `", "confidence": 0.9}], "reason": "It is a rescue."}]}`)
	}

	r := assessed(otherWords, said("can be pulled out of the sea"))
	require.Equal(t, "released", r["state"], "%v", r)
	require.InDelta(t, 100, r["percent"], 0.001)
	criterion := r["criteria"].([]any)[0].(map[string]any)
	require.Equal(t, connection, criterion["connectionId"])
	require.Equal(t, "avatar", criterion["decidedBy"])
	require.Equal(t, []any{"can be pulled out of the sea"}, criterion["quotes"])
	require.Contains(t, criterion["rationale"], "It is a rescue.")

	for name, answer := range map[string]modeltest.Behaviour{
		"a quote that nobody said": said("to rescue a man from the water"),
		"prose":                    modeltest.Stream("A good answer."),
		"nothing":                  modeltest.Status(http.StatusInternalServerError, nil),
	} {
		r := assessed(otherWords, answer)
		require.Equal(t, "awaiting_review", r["state"], "%s: %v", name, r)
		require.Equal(t, name == "a quote that nobody said", r["criteria"].([]any)[0].(map[string]any)["connectionId"] != nil, name)
	}

	r = assessed("To rescue a man from the water.", modeltest.Status(http.StatusInternalServerError, nil))
	require.Equal(t, "released", r["state"], "%v", r)
	require.Nil(t, r["criteria"].([]any)[0].(map[string]any)["connectionId"])
}
