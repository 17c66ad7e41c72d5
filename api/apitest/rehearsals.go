package apitest

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// PersonaTestBody is a good body with every property of a test.
func PersonaTestBody(n int) map[string]any {
	return map[string]any{
		"name": fmt.Sprint("Opening ", n), "question": "When does the museum open?", "language": "English", "enabled": true,
		"expect": map[string]any{"facts": []any{"nine"}, "notFacts": []any{"ten"}, "documentIds": []any{}, "grounded": true},
	}
}

// simulationBody is a good body with every property of a script.
func simulationBody(n int) map[string]any {
	return map[string]any{
		"turns": []any{"When does the museum open?", fmt.Sprint("And tomorrow? ", n)}, "language": "English", "variables": map[string]any{"name": "Kim"},
		"context": "The visitor is a child.", "goals": []any{"name"}, "version": 1,
	}
}

// AddTest adds a test to a persona.
func (w *World) AddTest(t testing.TB, org *Org, persona string, body map[string]any) map[string]any {
	t.Helper()
	o := w.Operation(t, "createPersonaTest")
	answer := w.Call(t, o, Request{Path: WithID(o, persona), Key: org.New, Body: body})
	require.Equal(t, http.StatusCreated, answer.Status, "%s", answer.Raw)
	return answer.Data(t)
}
