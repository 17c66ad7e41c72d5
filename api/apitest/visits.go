package apitest

import (
	"maps"
	"testing"
)

// Visitor asks for a session at a widget, with these changes of a good request.
func (w *World) Visitor(t testing.TB, own string, changes map[string]any, header map[string]string) Answer {
	t.Helper()
	body := visitBody(1)
	maps.Copy(body, changes)
	return w.Call(t, w.Operation(t, "createWidgetSession"), Request{Path: "/widgets/" + own + "/sessions", Body: body, Header: header})
}
