package portal_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

// Whoever has a teacher's place beside a learner's has a class only where they came by that.
func TestAClassIsOfThePlaceThatSomebodyCameBy(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	kim, pat := s.comes("Kim", "learner", s.red), s.comes("Pat", "learner", s.blue)
	which := s.sits(kim, s.about(), apitest.UnsureAnswer)
	s.call(http.MethodPost, "/people/"+pat.id+"/memberships", map[string]any{"portalId": s.portalID, "role": "teacher", "unitId": s.red}, nil)
	at := "/class/results/" + which
	for _, path := range []string{"/class", "/class/set", "/class/reviews", at} {
		status, _, _ := s.see(pat, path)
		require.Equal(t, http.StatusNotFound, status, path)
	}
	status, _, _ := s.sends(pat, at+"/release", url.Values{"edition": {"2"}})
	require.Equal(t, http.StatusNotFound, status)
	status, _, _ = s.sends(pat, "/class/set", url.Values{})
	require.Equal(t, http.StatusNotFound, status)
	var still struct{ State string }
	s.call(http.MethodGet, "/results/"+which, nil, &still)
	require.Equal(t, "awaiting_review", still.State)
	require.Contains(t, s.shows(pat, "/work"), "Nothing is set for you", "as a learner they are in")
}

// Whose place is over, or does not begin yet, is in no class and cannot be chosen.
func TestAClassIsWhoIsThereNow(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	red, head := s.comes("Red Teacher", "teacher", s.red), s.comes("Head", "manager", "")
	past, soon, here := s.comes("Past", "learner", s.red), s.comes("Soon", "learner", s.red), s.comes("Here", "learner", s.red)
	s.call(http.MethodPatch, "/memberships/"+past.membership, map[string]any{"endsAt": "2026-01-01T00:00:00Z"}, nil)
	s.call(http.MethodPatch, "/memberships/"+soon.membership, map[string]any{"startsAt": "2099-01-01T00:00:00Z"}, nil)
	for _, who := range []*somebody{red, head} {
		for _, path := range []string{"/class", "/class/set"} {
			shown := s.shows(who, path)
			require.Contains(t, shown, ">Here<", path)
			require.NotContains(t, shown, ">Past<", path)
			require.NotContains(t, shown, ">Soon<", path)
		}
		for whom, status := range map[*somebody]int{past: 422, soon: 422, here: 303} {
			once := hidden.FindStringSubmatch(s.shows(who, "/class/set"))[2]
			form := url.Values{"once": {once}, "title": {"Work"}, "subject": {s.exam}, "kind": {"practice"}, "person": {whom.id}}
			got, _, body := s.sends(who, "/class/set", form)
			require.Equal(t, status, got, body)
		}
	}
}

// Who teaches one of many units can choose theirs, and what lies in it, and is told of more.
func TestWhoTeachesChoosesTheirUnits(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	var big struct{ ID string }
	s.call(http.MethodPost, "/units", map[string]any{"portalId": s.portalID, "kind": "class", "name": "Big"}, &big)
	db, err := s.made.Tenants.Shard(t.Context(), "shard-1")
	require.NoError(t, err)
	bigID, err := id.ParseUnit(big.ID)
	require.NoError(t, err)
	// With ids that come before that of the unit they lie in.
	_, err = db.Exec(t.Context(), `
		INSERT INTO unit SELECT (jsonb_populate_record(u, jsonb_build_object('id', ('00000000-0000-7000-8000-' || lpad(i::TEXT, 12, '0'))::UUID, 'name', 'Part ' || i, 'parent_id', u.id, 'external_id', NULL))).*
		FROM unit u, generate_series(1, 120) AS g (i) WHERE u.org_id = $1 AND u.id = $2`, s.org, bigID)
	require.NoError(t, err)
	red, many, head := s.comes("Red Teacher", "teacher", s.red), s.comes("Big Teacher", "teacher", big.ID), s.comes("Head", "manager", "")
	const more = "There are more units or people than can be chosen here."
	shown := s.shows(red, "/class/set")
	require.Contains(t, shown, ">Red<")
	require.NotContains(t, shown, more)
	shown = s.shows(many, "/class/set")
	require.Contains(t, shown, ">Big<", "their own comes first")
	require.Equal(t, 99, strings.Count(shown, ">Part "))
	require.Contains(t, shown, more)
	require.Contains(t, s.shows(head, "/class/set"), more)
}

// Long lists come in pages.
func TestListsOfAClassArePaged(t *testing.T) {
	t.Parallel()
	s := newSchool(t)
	head := s.comes("Head", "manager", "")
	for n := range 27 {
		s.call(http.MethodPost, "/people", map[string]any{
			"name": fmt.Sprintf("Pupil %02d", n), "membership": map[string]any{"portalId": s.portalID, "role": "learner", "unitId": s.red},
		}, nil)
	}
	first := s.shows(head, "/class")
	require.Equal(t, 25, strings.Count(first, "Pupil "))
	next := regexp.MustCompile(`href="` + s.home + `(/class\?after=[^"]+)"`).FindStringSubmatch(first)
	require.NotNil(t, next)
	require.Equal(t, 2, strings.Count(s.shows(head, next[1]), "Pupil "))
}
