package webhook_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/eventing/webhook"
)

var (
	everything = webhook.Circumstances{ReadsTranscripts: true}
	nothing    = webhook.Circumstances{}
	zero       = webhook.Circumstances{ReadsTranscripts: true, ZeroRetention: true}
)

// quiet is a webhook without conversation words, telling one with.
func quiet() webhook.Webhook {
	return webhook.Webhook{URL: "https://example.com/a?token=1", Events: []string{"*"}, Active: true, APIVersion: contract.V20260708}
}

func telling() webhook.Webhook {
	w := quiet()
	w.Events, w.IncludeConversation = []string{"*", "transcript.final"}, true
	return w
}

func off(w webhook.Webhook) webhook.Webhook {
	w.Active = false
	return w
}

// The changes of the table below.
var (
	moved       = webhook.Change{URL: new("https://example.org/b?token=2")}
	moreEvents  = webhook.Change{Events: &[]string{"session.started", "session.started"}}
	newContract = webhook.Change{APIVersion: new(contract.V20261001)}
	resumed     = webhook.Change{Active: new(true)}
	stopped     = webhook.Change{Active: new(false)}
	described   = webhook.Change{Description: new(new("mine"))}
	told        = webhook.Change{IncludeConversation: new(true)}
	hushed      = webhook.Change{IncludeConversation: new(false)}
	same        = webhook.Change{URL: new(quiet().URL), APIVersion: new(contract.V20260708), Active: new(true)}
)

func TestApply(t *testing.T) {
	for name, test := range map[string]struct {
		w       webhook.Webhook
		change  webhook.Change
		in      webhook.Circumstances
		err     error
		changes map[string]any
	}{
		"nothing":              {telling(), webhook.Change{}, zero, nil, map[string]any{}},
		"the same":             {telling(), same, zero, nil, map[string]any{}},
		"move":                 {quiet(), moved, nothing, nil, map[string]any{"url": "https://example.org"}},
		"events":               {quiet(), moreEvents, nothing, nil, map[string]any{"events": []string{"session.started"}}},
		"contract":             {quiet(), newContract, nothing, nil, map[string]any{"apiVersion": contract.V20261001}},
		"resume":               {off(quiet()), resumed, nothing, nil, map[string]any{"active": true}},
		"stop":                 {telling(), stopped, nothing, nil, map[string]any{"active": false}},
		"describe":             {telling(), described, nothing, nil, map[string]any{"description": new("mine")}},
		"tell":                 {quiet(), told, everything, nil, map[string]any{"includeConversation": true}},
		"tell on":              {telling(), told, everything, nil, map[string]any{}},
		"hush":                 {telling(), hushed, nothing, nil, map[string]any{"includeConversation": false}},
		"tell, unread":         {quiet(), told, nothing, webhook.ErrNeedsTranscripts, nil},
		"tell on, unread":      {telling(), told, nothing, webhook.ErrNeedsTranscripts, nil},
		"move words":           {telling(), moved, nothing, webhook.ErrNeedsTranscripts, nil},
		"move words, read":     {telling(), moved, everything, nil, map[string]any{"url": "https://example.org"}},
		"events of words":      {telling(), moreEvents, nothing, webhook.ErrNeedsTranscripts, nil},
		"contract of words":    {telling(), newContract, nothing, webhook.ErrNeedsTranscripts, nil},
		"resume words":         {off(telling()), resumed, nothing, webhook.ErrNeedsTranscripts, nil},
		"resume words, read":   {off(telling()), resumed, everything, nil, map[string]any{"active": true}},
		"zero, tell":           {quiet(), told, zero, webhook.ErrZeroRetention, nil},
		"zero, tell on":        {telling(), told, zero, webhook.ErrZeroRetention, nil},
		"zero, describe":       {telling(), described, zero, webhook.ErrZeroRetention, nil},
		"zero, stop":           {telling(), stopped, zero, webhook.ErrZeroRetention, nil},
		"zero, hush":           {telling(), hushed, zero, nil, map[string]any{"includeConversation": false}},
		"zero, no words":       {quiet(), described, zero, nil, map[string]any{"description": new("mine")}},
		"zero, tell, unread":   {quiet(), told, webhook.Circumstances{ZeroRetention: true}, webhook.ErrNeedsTranscripts, nil},
		"zero, hush, unread":   {telling(), hushed, webhook.Circumstances{ZeroRetention: true}, nil, map[string]any{"includeConversation": false}},
		"stop what is stopped": {off(telling()), stopped, zero, nil, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			before := test.w
			after, changes, err := test.w.Apply(test.change, test.in)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.changes, changes)
			require.Equal(t, before, test.w)
			if len(changes) == 0 {
				require.Equal(t, before, after)
			} else {
				require.NotEqual(t, before, after)
			}
		})
	}
}

func TestApplyEvents(t *testing.T) {
	for name, test := range map[string]struct {
		events       []string
		conversation bool
		want         []string
		err          *webhook.EventError
	}{
		"none":                   {[]string{}, false, []string{}, nil},
		"any":                    {[]string{"*"}, false, []string{"*"}, nil},
		"twice":                  {[]string{"lead.captured", "*", "lead.captured", "*"}, false, []string{"lead.captured", "*"}, nil},
		"unknown":                {[]string{"*", "lead.lost"}, true, nil, &webhook.EventError{Index: 1}},
		"a part of a name":       {[]string{"lead"}, true, nil, &webhook.EventError{}},
		"a pattern":              {[]string{"lead.*"}, true, nil, &webhook.EventError{}},
		"empty":                  {[]string{""}, true, nil, &webhook.EventError{}},
		"words":                  {[]string{"*", "transcript.final"}, true, []string{"*", "transcript.final"}, nil},
		"words that are not had": {[]string{"*", "transcript.final"}, false, nil, &webhook.EventError{Index: 1, NeedsConversation: true}},
	} {
		t.Run(name, func(t *testing.T) {
			change := webhook.Change{Events: &test.events, IncludeConversation: &test.conversation}
			after, _, err := webhook.Webhook{}.Apply(change, everything)
			if test.err != nil {
				var refused *webhook.EventError
				require.ErrorAs(t, err, &refused)
				require.Equal(t, test.err, refused)
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, after.Events)
		})
	}
	after, _, err := telling().Apply(hushed, nothing)
	require.NoError(t, err)
	require.Contains(t, after.Events, "transcript.final", "it stays, and is dormant")
}

func TestApplyToAPausedWebhook(t *testing.T) {
	at := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	w := off(quiet())
	w.PausedAt, w.FailingSince = &at, &at
	after, _, err := w.Apply(stopped, nothing)
	require.NoError(t, err)
	require.Equal(t, w, after, "it stays paused")
	after, _, err = w.Apply(resumed, nothing)
	require.NoError(t, err)
	require.Equal(t, quiet(), after, "its failing run starts again")
	require.Equal(t, &at, w.PausedAt)
}

func TestDescriptionsAreCompared(t *testing.T) {
	w := quiet()
	w.Description = new("mine")
	for name, test := range map[string]struct {
		to        *string
		different bool
	}{"same": {new("mine"), false}, "other": {new("other"), true}, "none": {nil, true}} {
		after, changes, err := w.Apply(webhook.Change{Description: &test.to}, nothing)
		require.NoError(t, err)
		require.Equal(t, test.different, len(changes) > 0, name)
		require.Equal(t, test.to, after.Description)
	}
}
