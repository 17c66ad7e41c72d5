package session_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/sessions/session"
)

func TestList(t *testing.T) {
	w := newWorld(t)
	var ids []id.Session
	for i := range 6 {
		s, _ := w.mint(after(i*10), func(s *session.Session) {
			if i%2 == 1 {
				s.Persona, s.Subject, s.ExternalID, s.Language, s.Kind, s.Source = id.Persona{7}, id.Subject{5}, new("crm"), "de", "test", "widget"
				s.Portal, s.Person = id.Portal{4}, id.Person{3}
			}
		})
		ids = append(ids, s.ID)
	}
	w.attach(ids[2], w.pod, after(21))
	w.end(ids[3], session.EndedByAPI, after(31))
	for name, c := range map[string]struct {
		filter session.Filter
		want   []int
	}{
		"all":                {session.Filter{}, []int{0, 1, 2, 3, 4, 5}},
		"of a persona":       {session.Filter{Persona: id.Persona{7}}, []int{1, 3, 5}},
		"of a subject":       {session.Filter{Subject: id.Subject{5}}, []int{1, 3, 5}},
		"of a portal":        {session.Filter{Portal: id.Portal{4}}, []int{1, 3, 5}},
		"of another portal":  {session.Filter{Portal: id.Portal{5}, Person: id.Person{3}}, nil},
		"of a person":        {session.Filter{Person: id.Person{3}, Persona: id.Persona{7}}, []int{1, 3, 5}},
		"of another person":  {session.Filter{Person: id.Person{4}, ExternalID: new("crm")}, nil},
		"of another subject": {session.Filter{Subject: id.Subject{6}}, nil},
		"of a caller's id":   {session.Filter{ExternalID: new("crm")}, []int{1, 3, 5}},
		"of two of these":    {session.Filter{ExternalID: new("crm"), Persona: id.Persona{1}}, nil},
		"of a language":      {session.Filter{Language: "en"}, []int{0, 2, 4}},
		"of kinds":           {session.Filter{Kinds: []string{"test"}}, []int{1, 3, 5}},
		"of sources":         {session.Filter{Sources: []string{"api", "widget"}}, []int{0, 1, 2, 3, 4, 5}},
		"live":               {session.Filter{States: []session.State{session.Live}}, []int{2}},
		"not over":           {session.Filter{States: []session.State{session.Live, session.Created}}, []int{0, 1, 2, 4, 5}},
		"over":               {session.Filter{States: []session.State{session.Expired, session.Ended}}, []int{3}},
		"of no state":        {session.Filter{States: []session.State{}}, nil},
		"of a time":          {session.Filter{From: after(20), To: after(40)}, []int{2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			var want []id.Session
			for _, i := range c.want {
				want = append(want, ids[i])
			}
			var down []id.Session
			for i := range want {
				down = append(down, want[len(want)-1-i])
			}
			for ascending, want := range map[bool][]id.Session{true: want, false: down} {
				filter := c.filter
				filter.Ascending = ascending
				var found []id.Session
				var last id.Session
				for {
					page, err := session.List(t.Context(), w.tenants, w.one, filter, last, 2)
					require.NoError(t, err)
					if len(page) == 0 {
						break
					}
					for _, s := range page {
						found = append(found, s.ID)
					}
					last = page[len(page)-1].ID
				}
				require.Equal(t, want, found)
			}
		})
	}
	foreign, err := session.List(t.Context(), w.tenants, w.two, session.Filter{}, id.Session{}, 10)
	require.NoError(t, err)
	require.Empty(t, foreign)
}

// A session that a process runs is not idle sooner than its use is noted again.
func TestIdleSessions(t *testing.T) {
	w := newWorld(t)
	running := w.live(now).Session
	waiting, _ := w.mint(now)
	for _, c := range []struct {
		olderThanS, at int
		idle           []id.Session
	}{
		{0, 0, nil}, {0, 1, []id.Session{waiting.ID}}, {0, 30, []id.Session{waiting.ID}}, {0, 31, []id.Session{running.ID, waiting.ID}},
		{60, 60, nil}, {60, 61, []id.Session{running.ID, waiting.ID}},
	} {
		f := session.IdleFilter{Before: after(c.at - c.olderThanS), Now: after(c.at)}
		found, err := session.IdleSince(t.Context(), w.tenants, w.one, f)
		require.NoError(t, err)
		var idle []id.Session
		for _, s := range found {
			idle = append(idle, s.ID)
			require.True(t, f.Idle(s))
		}
		require.ElementsMatch(t, c.idle, idle, "%+v", c)
		for _, s := range []id.Session{running.ID, waiting.ID} {
			require.Equal(t, slices.Contains(c.idle, s), f.Idle(w.get(s)), "%+v", c)
		}
	}
}
