package route

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
)

const voices errdefs.Noun = "voice"

// What a rule returns is answered in one place: the id that stands in the path is named,
// whatever the error was wrapped in, and with its prefix or without.
func TestWhatRulesReturn(t *testing.T) {
	asked, other := id.NewVoice(), id.NewVoice()
	gone := voices.InUse(asked, "The voice is used by %d personas.", 2)
	gone.Details = map[string]any{"duoId": "duo_1"}
	for name, c := range map[string]struct {
		err  error
		want problem.Problem
	}{
		"not found": {voices.NotFound(asked), problem.Problem{Code: problem.NotFound, Message: "No such voice in this organization.", Param: "path.id"}},
		"gone":      {voices.Gone(asked), problem.Problem{Code: problem.Gone, Message: "The voice was deleted.", Param: "path.id"}},
		"erased": {errdefs.Gone{Noun: "person", ID: asked.String(), How: "erased"},
			problem.Problem{Code: problem.Gone, Message: "The person was erased.", Param: "path.id"}},
		"archived": {voices.Archived(asked),
			problem.Problem{
				Code: problem.Conflict, Message: "The voice is archived, so it cannot be changed any more.", Param: "path.id", Details: map[string]any{"reason": "archived"},
			}},
		"in use": {gone, problem.Problem{
			Code: problem.Conflict, Message: "The voice is used by 2 personas.", Param: "path.id", Details: map[string]any{"reason": "in_use", "duoId": "duo_1"},
		}},
		"conflict of no input": {&errdefs.Conflict{Noun: voices, Reason: "full", Message: "There is no room."},
			problem.Problem{Code: problem.Conflict, Message: "There is no room.", Details: map[string]any{"reason": "full"}}},
		"invalid": {errdefs.InvalidField("hosts[1].name", "is taken"),
			problem.Problem{Code: problem.InvalidRequest, Message: "hosts[1].name is taken.", Param: "body.hosts[1].name"}},
	} {
		for _, path := range []string{asked.String(), asked.Bare()} {
			call := &Call{Op: &Operation{Path: "/voices/{id}/speak"}, request: httptest.NewRequest("POST", "/v1/voices/"+path+"/speak", nil)}
			require.Equal(t, c.want, *call.Problem(fmt.Errorf("load the voice: %w", c.err)), name)
		}
	}

	// What is not there although nobody asked for it is a fault of the service's.
	call := &Call{Op: &Operation{Path: "/voices/{id}"}, request: httptest.NewRequest("GET", "/v1/voices/"+asked.String(), nil)}
	for _, err := range []error{voices.NotFound(other), voices.Gone(other), errdefs.NotFound{Noun: voices}} {
		require.Equal(t, problem.ServerError, call.Problem(err).Code, err)
	}
	require.Equal(t, problem.ServerError, (&Call{request: call.request}).Problem(voices.NotFound(asked)).Code, "without an operation")

	// A handler says where else an id stood.
	require.Equal(t, problem.Missing("voice").WithParam("body.voiceId"), At(voices.NotFound(other), "body.voiceId"))
	for _, err := range []error{errors.New("no such voice"), errdefs.InvalidField("name", "is taken"), nil} {
		require.Equal(t, err, At(err, "body.voiceId"), "is answered as it is")
	}
}
