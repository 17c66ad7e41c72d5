package apitest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/face"
	"visavis.dev/pkg/store/apikey"
)

// PrepareFaces prepares every own face that somebody put on.
func (w *World) PrepareFaces(t testing.TB) {
	t.Helper()
	w.runJobs(t, (&face.Preparer{Tenants: w.Tenants, Files: w.Files, Library: avatar.NewLibrary()}).Background().Works)
}

// Create asks for an avatar of a good body that was changed.
func (w *World) Create(t *testing.T, key apikey.Secret, change func(avatar, consent map[string]any)) Answer {
	t.Helper()
	o := w.Operation(t, "createAvatar")
	body := w.Body(t, o).(map[string]any)
	change(body, body["consent"].(map[string]any))
	return w.Call(t, o, Request{Path: o.Path, Key: key, Body: body})
}

// CallAs makes a call of an operation by its id, on something.
func (w *World) CallAs(t testing.TB, operation, id string, key apikey.Secret, body any) Answer {
	t.Helper()
	o := w.Operation(t, operation)
	return w.Call(t, o, Request{Path: WithID(o, id), Key: key, Body: body})
}

// Last is the latest entry of Acme's activity log.
func (w *World) Last(t *testing.T) map[string]any {
	t.Helper()
	items, _ := w.Page(t, w.Operation(t, "listActivity"), w.Acme.New, map[string][]string{"limit": {"1"}})
	require.NotEmpty(t, items)
	return items[0].(map[string]any)
}

var Portrait = sync.OnceValue(func() string { return Picture(512) })

func landmarks() map[string]any {
	return map[string]any{
		"leftEye": []any{0.375, 0.4375}, "rightEye": []any{0.625, 0.4375}, "mouthLeft": []any{0.4375, 0.625}, "mouthRight": []any{0.5625, 0.625},
		"mouthTop": []any{0.5, 0.59375}, "mouthBottom": []any{0.5, 0.65625}, "chin": []any{0.5, 0.75},
	}
}

// Recording is a WAV file of a few samples.
const Recording = "data:audio/wav;base64,UklGRigAAABXQVZFZm10IBAAAAABAAEAgD4AAAB9AAACABAAZGF0YQQAAAAAAAAA"
