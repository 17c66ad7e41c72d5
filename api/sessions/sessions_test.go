package sessions_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
)

// Each test has an organization of its own, with minutes.
func TestSessions(t *testing.T) {
	w := apitest.NewWorld(t)
	for name, test := range map[string]func(*testing.T, *apitest.World){
		"a ticket":               testTicket,
		"what minting needs":     testMintRefusals,
		"what minting names":     testMintNames,
		"other faces and voices": testMintOverrides,
		"duos":                   testMintDuo,
		"on a portal":            testMintOnAPortal,
		"portals that cannot":    testMintPlaceRefusals,
		"places":                 testMintPlaces,
		"sandbox":                testMintSandbox,
		"bounds of time":         testMintBounds,
		"minting again":          testMintReplay,
		"filters":                testSessionFilters,
		"older contract":         testSessionsOfAnOlderKey,
		"words need transcripts": testSessionWordsNeedTranscripts,
		"job interviews":         testScreeningsAreNotRead,
		"young learners":         testLearnersConversations,
		"zero retention":         testSessionsOfZeroRetention,
		"ends":                   testSessionEnds,
		"a last message":         testLastMessage,
		"orders":                 testSessionOrders,
		"steering":               testSteering,
		"steering within bounds": testSteeringRefusals,
		"idle sessions":          testEndIdle,
		"transcripts":            testTranscripts,
		"hostile words":          testHostileTranscripts,
		"figures":                testSessionFigures,
		"deleting words":         testDeleteTranscript,
		"team members":           testStaffTokens,
		"ratings":                testRatings,
		"events":                 testEventsOfSessions,
		"their personas":         testPersonasInSessions,
		"counts of places":       testConcurrency,
	} {
		t.Run(name, func(t *testing.T) {
			own := w.Apart(t)
			own.Use(t, own.Acme)
			test(t, own)
		})
	}
}

// places are how many places GET /me and GET /sessions/concurrency say are taken.
func places(t *testing.T, w *apitest.World) int {
	t.Helper()
	shown := apitest.At(w.Get(w.Acme.New, "/me").Data(t), "limits", "activeSessions")
	require.Equal(t, shown, w.CallAs(t, "getConcurrency", "", w.Acme.New, nil).Data(t)["active"])
	return int(shown.(float64))
}
