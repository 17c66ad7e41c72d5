package comment_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/openapi/comment"
	"visavis.dev/api/webhooks"
	"visavis.dev/pkg/personas/persona"
)

func TestOf(t *testing.T) {
	r := comment.NewReader("../../..")
	require.Equal(t, "One webhook.", r.Of(reflect.TypeFor[webhooks.Webhook]()), "without the section of the spec")
	require.Equal(t, "Bound the persona's sessions.", r.Of(reflect.TypeFor[persona.Limits]()))
	require.Empty(t, r.Of(reflect.TypeFor[reflect.Method]()), "of another module")
	require.Panics(t, func() { comment.NewReader(t.TempDir()).Of(reflect.TypeFor[webhooks.Webhook]()) }, "no sources")
}
