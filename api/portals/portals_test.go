package portals_test

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/tenant"
)

// announced are the types of the events of portals, newest first.
func announced(t *testing.T, w *apitest.World, n int) []string {
	t.Helper()
	var types []string
	for _, e := range w.Events(t, w.Acme.New, "") {
		if kind := e.(map[string]any)["type"].(string); strings.HasPrefix(kind, "portal.") || strings.HasPrefix(kind, "workspace.") {
			types = append(types, kind)
		}
	}
	require.GreaterOrEqual(t, len(types), n)
	return types[:n]
}

// draftBody is a portal that keeps every rule, unless it is for visitors.
func draftBody(n int) map[string]any {
	body := apitest.PortalBody(n)
	delete(body, "publish")
	return body
}

func TestPortals(t *testing.T) {
	w := apitest.NewWorld(t)
	body := draftBody(1)
	body["slug"] = "Harbour-School"
	made := w.CallAs(t, "createPortal", "", w.Acme.New, body).Data(t)
	own := made["id"].(string)
	require.Equal(t, []any{"draft", 1.0, nil, nil, "harbour-school", true}, []any{
		made["state"], made["draftVersion"], made["publishedVersion"], made["publishRefused"], made["slug"], made["hasUnpublishedChanges"],
	})
	require.True(t, strings.HasSuffix(made["url"].(string), "/p/harbour-school"))
	require.Len(t, made["subjectIds"], 1)
	require.Equal(t, []string{"portal.created", "workspace.created"}, announced(t, w, 2))
	speaker := w.CallAs(t, "getPersona", made["personaId"].(string), w.Acme.New, nil).Data(t)
	require.Equal(t, []any{"Guide", []any{own}}, []any{speaker["name"], speaker["portalIds"]})
	e := apitest.RequireError(t, w.CallAs(t, "deletePersona", made["personaId"].(string), w.Acme.New, nil), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "in_use", apitest.At(e, "details", "reason"))

	t.Run("changes", func(t *testing.T) {
		o := w.Operation(t, "updatePortal")
		patch := func(etag string, body map[string]any) apitest.Answer {
			return w.Call(t, o, apitest.Request{Path: apitest.WithID(o, own), Key: w.Acme.New, Body: body, Header: map[string]string{"If-Match": etag}})
		}
		changed := patch(`"1"`, map[string]any{"pages": map[string]any{"title": map[string]any{"German": "Hafen"}}})
		require.Equal(t, `"2"`, changed.Header.Get("ETag"))
		require.Equal(t, map[string]any{"en": "Welcome", "de": "Hafen"}, apitest.At(changed.Data(t), "pages", "title"))
		require.Equal(t, []string{"portal.updated"}, announced(t, w, 1))
		e := apitest.RequireError(t, patch(`"1"`, map[string]any{"name": "Other"}), http.StatusConflict, "version_conflict", "header.If-Match")
		require.Equal(t, 2.0, apitest.At(e, "details", "currentVersion"))
		for name, c := range map[string]struct {
			body  map[string]any
			param string
		}{
			"no language":   {map[string]any{"languages": []any{"Elvish"}}, "body.languages[0]"},
			"not among it":  {map[string]any{"defaultLanguage": "fr"}, "body.defaultLanguage"},
			"no slug":       {map[string]any{"slug": "a b"}, "body.slug"},
			"no host":       {map[string]any{"customDomain": "127.0.0.1"}, "body.customDomain"},
			"another's":     {map[string]any{"knowledgeBaseIds": []any{id.NewKnowledgeBase().String()}}, "body.knowledgeBaseIds[0]"},
			"no origin":     {map[string]any{"allowedOrigins": []any{"https://a.example.com", "a.example.com"}}, "body.allowedOrigins[1]"},
			"insecure link": {map[string]any{"privacy": map[string]any{"privacyUrl": "http://example.com"}}, "body.privacy.privacyUrl"},
		} {
			t.Run(name, func(t *testing.T) {
				apitest.RequireError(t, w.CallAs(t, "updatePortal", own, w.Acme.New, c.body), http.StatusBadRequest, "invalid_request", c.param)
			})
		}
	})
	t.Run("frames", func(t *testing.T) {
		require.Equal(t, map[string]any{"iframeUrl": nil, "html": nil}, made["embed"])
		framed := w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"allowedOrigins": []any{"https://WWW.example.com:443/", "https://www.example.com"}}).Data(t)
		require.Equal(t, []any{"https://www.example.com"}, framed["allowedOrigins"])
		require.Equal(t, framed["url"], apitest.At(framed, "embed", "iframeUrl"))
		require.Contains(t, apitest.At(framed, "embed", "html"), `<iframe src="`+framed["url"].(string)+`" title="Welcome"`)
		require.Equal(t, made["embed"], w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"allowedOrigins": []any{}}).Data(t)["embed"])
	})
	t.Run("addresses", func(t *testing.T) {
		other := draftBody(2)
		other["slug"] = "harbour-school"
		e := apitest.RequireError(t, w.CallAs(t, "createPortal", "", w.Globex.New, other), http.StatusConflict, "conflict", "body.slug")
		require.Equal(t, "slug_taken", apitest.At(e, "details", "reason"))
		require.Equal(t, "https://learn.example.com/", w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"customDomain": "learn.example.com"}).Data(t)["url"])
		theirs := w.CallAs(t, "createPortal", "", w.Globex.New, draftBody(3)).Data(t)["id"].(string)
		e = apitest.RequireError(t, w.CallAs(t, "updatePortal", theirs, w.Globex.New, map[string]any{"customDomain": "learn.example.com"}), http.StatusConflict, "conflict", "body.customDomain")
		require.Equal(t, "domain_taken", apitest.At(e, "details", "reason"))
		// A refusal gives back what it claimed.
		apitest.RequireError(t, w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"slug": "wanted", "baseVersion": 99}), http.StatusConflict, "version_conflict", "body.baseVersion")
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePortal", theirs, w.Globex.New, map[string]any{"slug": "wanted"}).Status)
	})
	t.Run("publishing", func(t *testing.T) {
		require.Equal(t, true, w.CallAs(t, "checkPortal", own, w.Acme.New, nil).Data(t)["ready"])
		published := w.CallAs(t, "publishPortal", own, w.Acme.New, map[string]any{"changeNote": "First"}).Data(t)
		require.Equal(t, []any{"published", published["draftVersion"], false}, []any{published["state"], published["publishedVersion"], published["hasUnpublishedChanges"]})
		require.Equal(t, []string{"portal.updated", "workspace.published"}, announced(t, w, 2))
		n := len(w.Events(t, w.Acme.New, ""))
		require.Equal(t, published, w.CallAs(t, "publishPortal", own, w.Acme.New, map[string]any{}).Data(t), "nothing new is nothing to publish")
		require.Len(t, w.Events(t, w.Acme.New, ""), n)

		require.Equal(t, true, w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"name": "Renamed"}).Data(t)["hasUnpublishedChanges"])
		restored := w.CallAs(t, "restorePortal", own, w.Acme.New, map[string]any{"version": published["publishedVersion"]}).Data(t)
		require.Equal(t, made["name"], restored["name"])
		apitest.RequireError(t, w.CallAs(t, "restorePortal", own, w.Acme.New, map[string]any{"version": 99}), http.StatusBadRequest, "invalid_request", "body.version")
		require.Equal(t, "unpublished", w.CallAs(t, "unpublishPortal", own, w.Acme.New, nil).Data(t)["state"])
		e := apitest.RequireError(t, w.CallAs(t, "unpublishPortal", own, w.Acme.New, nil), http.StatusConflict, "conflict", "")
		require.Equal(t, "not_published", apitest.At(e, "details", "reason"))
	})
	require.Equal(t, "archived", w.CallAs(t, "archivePortal", own, w.Acme.New, nil).Data(t)["state"])
	require.Equal(t, "portal.archived", w.Last(t)["action"])
	e = apitest.RequireError(t, w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"name": "x"}), http.StatusConflict, "conflict", "path.id")
	require.Equal(t, "archived", apitest.At(e, "details", "reason"))
	require.Equal(t, http.StatusOK, w.CallAs(t, "deletePersona", made["personaId"].(string), w.Acme.New, nil).Status, "nothing shows it any more")
}

func TestPublishingIsRefused(t *testing.T) {
	w := apitest.NewWorld(t)
	body := draftBody(1)
	body["subjects"], body["publish"] = []any{}, true
	made := w.CallAs(t, "createPortal", "", w.Acme.New, body).Data(t)
	own := made["id"].(string)
	require.Equal(t, "draft", made["state"])
	require.Equal(t, "knowledgeBaseIds", apitest.At(apitest.At(made, "publishRefused", "problems").([]any)[0], "field"))
	n := len(w.Events(t, w.Acme.New, ""))

	e := apitest.RequireError(t, w.CallAs(t, "publishPortal", own, w.Acme.New, map[string]any{}), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, "knowledgeBaseIds", apitest.At(apitest.At(e, "details", "problems").([]any)[0], "field"))
	bare := strings.TrimPrefix(own, "portal_")
	older := w.CallAs(t, "publishPortal", bare, w.OldNamed, map[string]any{})
	require.Equal(t, http.StatusOK, older.Status)
	require.Equal(t, bare, older.Data(t)["id"])
	require.Equal(t, []any{"draft", nil}, []any{older.Data(t)["state"], older.Data(t)["publishedVersion"]})
	require.Equal(t, apitest.At(e, "details", "problems"), apitest.At(older.Data(t), "publishRefused", "problems"))
	require.Len(t, w.Events(t, w.Acme.New, ""), n, "a refusal tells nobody")
	require.Equal(t, false, w.CallAs(t, "checkPortal", own, w.Acme.New, nil).Data(t)["ready"])
}

// Whoever publishes at the same moment: one does, and the others find it done.
func TestPublishingAtTheSameTime(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.CallAs(t, "createPortal", "", w.Acme.New, draftBody(1)).Data(t)["id"].(string)
	var group sync.WaitGroup
	statuses := make([]int, 6)
	for i := range statuses {
		group.Go(func() {
			statuses[i] = w.Do(apitest.Request{Method: http.MethodPost, Path: "/portals/" + own + "/publish", Key: w.Acme.New, Body: map[string]any{}}).Status
		})
	}
	group.Wait()
	for _, status := range statuses {
		require.Equal(t, http.StatusOK, status)
	}
	require.Equal(t, []string{"portal.updated", "workspace.published", "portal.created", "workspace.created"}, announced(t, w, 4))
	require.Len(t, w.Get(w.Acme.New, "/portals/"+own+"/versions").JSON(t)["data"], 1)
}

func TestWhoSpeaks(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.CallAs(t, "createPortal", "", w.Acme.New, draftBody(1)).Data(t)
	own, speaker := made["id"].(string), made["personaId"].(string)
	o := w.Operation(t, "putPortalPersona")
	put := func(body map[string]any) apitest.Answer { return w.CallAs(t, o.ID, own, w.Acme.New, body) }

	named := put(map[string]any{"face": "jisoo", "voice": "OWEN", "name": "Ji"})
	require.Equal(t, "@1790812800", named.Header.Get("Deprecation"))
	require.Equal(t, []any{speaker, id.NamedAvatar("jisoo").String(), id.NamedVoice("owen").String(), "Ji"}, []any{
		named.Data(t)["personaId"], named.Data(t)["avatarId"], named.Data(t)["voiceId"], named.Data(t)["name"],
	}, "it speaks here alone, so it is changed itself")
	require.Equal(t, []string{"portal.updated"}, announced(t, w, 1))
	older := w.CallAs(t, "putPortalPersona", own, w.OldNamed, map[string]any{"face": "Amara", "voice": "Nora"})
	require.Empty(t, older.Header.Get("Deprecation"))
	require.Equal(t, map[string]any{"face": "Amara", "voice": "Nora", "name": "Ji", "language": "en"}, older.Data(t))

	body := draftBody(2)
	delete(body, "avatarId")
	delete(body, "voiceId")
	body["personaId"] = speaker
	w.CallAs(t, "createPortal", "", w.Acme.New, body)
	apart := put(map[string]any{"voiceId": id.NamedVoice("owen").String()})
	require.Empty(t, apart.Header.Get("Deprecation"))
	require.NotEqual(t, speaker, apart.Data(t)["personaId"], "another portal has it too")
	require.Equal(t, apitest.StudioVoice, w.CallAs(t, "getPersona", speaker, w.Acme.New, nil).Data(t)["voiceId"])
	require.Equal(t, 2.0, w.CallAs(t, "getPortal", own, w.Acme.New, nil).Data(t)["draftVersion"])

	duo := w.Make(t, w.Acme, "createDuo")
	require.Equal(t, duo["id"], put(map[string]any{"duoId": duo["id"]}).Data(t)["duoId"])
	require.Equal(t, speaker, put(map[string]any{"personaId": speaker}).Data(t)["personaId"])
	for name, c := range map[string]struct {
		body  map[string]any
		param string
	}{
		"nothing":        {map[string]any{}, "body"},
		"two":            {map[string]any{"personaId": speaker, "duoId": duo["id"]}, "body.duoId"},
		"more":           {map[string]any{"personaId": speaker, "name": "x"}, "body.personaId"},
		"twice":          {map[string]any{"avatarId": apitest.LibraryFace, "face": "Amara"}, "body.face"},
		"nobody's name":  {map[string]any{"face": "Nobody"}, "body.face"},
		"nobody's voice": {map[string]any{"voiceId": id.NewVoice().String()}, "body.voiceId"},
		"nobody":         {map[string]any{"personaId": id.NewPersona().String()}, "body.personaId"},
		"no language":    {map[string]any{"language": "Elvish"}, "body.language"},
	} {
		t.Run(name, func(t *testing.T) {
			apitest.RequireError(t, put(c.body), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
}

func TestPortalsOfAPlan(t *testing.T) {
	w := apitest.NewWorld(t)
	managed := w.CallAs(t, "createPortal", "", w.Acme.New, draftBody(1)).Data(t)["id"].(string)
	which, err := id.ParsePortal(managed)
	require.NoError(t, err)
	require.NoError(t, w.Tenants.InTx(context.Background(), w.Acme.ID, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE portal SET managed_by = 'Portal/acme/museum/42' WHERE org_id = $1 AND id = $2`, w.Acme.ID, which)
		return err
	}))
	require.Equal(t, "Portal acme/museum", w.CallAs(t, "getPortal", managed, w.Acme.New, nil).Data(t)["managedBy"])
	refused := func(operation string, key apikey.Secret, body any) {
		e := apitest.RequireError(t, w.CallAs(t, operation, managed, key, body), http.StatusConflict, "conflict", "path.id")
		require.Equal(t, []any{"managed", "Portal acme/museum"}, []any{apitest.At(e, "details", "reason"), apitest.At(e, "details", "managedBy")})
	}
	for _, operation := range []string{
		"updatePortal", "putPortalPersona", "publishPortal", "restorePortal", "unpublishPortal", "archivePortal", "setVisitorsDoor",
	} {
		refused(operation, w.Acme.New, w.Body(t, w.Operation(t, operation)))
	}
	for _, operation := range []string{"updatePortal", "putPortalPersona", "publishPortal"} {
		refused(operation, w.OldNamed, w.Body(t, w.Operation(t, operation)))
	}
	// What no resource declares is changed here all the same.
	require.Equal(t, true, w.CallAs(t, "setEmbedDoor", managed, w.Acme.New, map[string]any{"open": true}).Data(t)["open"])
	require.NoError(t, w.Directory.SetOverrides(context.Background(), w.Acme.ID, plan.Overrides{Limits: plan.Limits{plan.Portals: new(int64(1))}}))
	fresh := w.Key(w.Acme, scope.Grant{Contract: contract.Latest, Scopes: scope.All()})
	e := apitest.RequireError(t, w.CallAs(t, "createPortal", "", fresh, draftBody(2)), http.StatusForbidden, "upgrade_required", "")
	require.Equal(t, "portals", apitest.At(e, "details", "feature"))
	unknown := draftBody(3)
	unknown["templateKey"] = "zoo"
	apitest.RequireError(t, w.CallAs(t, "createPortal", "", w.Acme.New, unknown), http.StatusBadRequest, "invalid_request", "body.templateKey")
	require.Contains(t, string(w.Get(w.Acme.New, "/portals/templates?language=de").Raw), "Leeres Portal")
}

// A logo that cannot be fetched is told of, and keeps nothing from going live.
func TestThePicturesOfAPortal(t *testing.T) {
	elsewhere := apitest.ServePictures(t)
	w := apitest.NewWorld(t, elsewhere.Trusted)
	own := w.CallAs(t, "createPortal", "", w.Acme.New, draftBody(1)).Data(t)["id"].(string)
	check := func(path string) []any {
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"brand": map[string]any{"logoUrl": elsewhere.URL + path}}).Status)
		report := w.CallAs(t, "checkPortal", own, w.Acme.New, nil).Data(t)
		require.Equal(t, true, report["ready"])
		return slices.DeleteFunc(report["warnings"].([]any), func(f any) bool { return apitest.At(f, "field") != "brand.logoUrl" })
	}
	require.Empty(t, check("/portrait"))
	for path, why := range map[string]string{"/text": "no PNG, JPEG or WebP", "/nothing": "404", "/redirect": "redirect", "/large": "larger than 4 MB"} {
		found := check(path)
		require.Len(t, found, 1, path)
		require.Contains(t, apitest.At(found[0], "message"), why)
	}
	asked := elsewhere.Requests.Load()
	require.Equal(t, http.StatusOK, w.CallAs(t, "publishPortal", own, w.Acme.New, map[string]any{}).Status)
	require.Greater(t, elsewhere.Requests.Load(), asked, "publishing fetches anew")
}

// names are the TXT records of a DNS.
type names struct{ sync.Map }

// LookupTXT implements portal.Resolver.
func (n *names) LookupTXT(_ context.Context, name string) ([]string, error) {
	if found, ok := n.Load(name); ok {
		return []string{"v=spf1 -all", found.(string)}, nil
	}
	return nil, &net.DNSError{Name: name, IsNotFound: true}
}

// A host is held by whoever asks first, and had by who proves it.
func TestHostsAreProven(t *testing.T) {
	dns := &names{}
	w := apitest.NewWorld(t, func(o *apitest.Options) { o.Resolver = dns })
	const host = "learn.example.com"
	portalOf := func(org *apitest.Org, n int) string {
		return w.CallAs(t, "createPortal", "", org.New, draftBody(n)).Data(t)["id"].(string)
	}
	hosted := func(p string, key apikey.Secret) apitest.Answer {
		return w.CallAs(t, "updatePortal", p, key, map[string]any{"customDomain": host})
	}
	warned := func(p string, key apikey.Secret) []any {
		return slices.DeleteFunc(w.CallAs(t, "checkPortal", p, key, nil).Data(t)["warnings"].([]any), func(f any) bool { return apitest.At(f, "field") != "customDomain" })
	}
	squatter, owner := portalOf(w.Globex, 1), portalOf(w.Acme, 2)
	held := hosted(squatter, w.Globex.New).Data(t)
	require.Equal(t, []any{host, "unproven"}, []any{held["customDomain"], held["customDomainState"]})
	require.Contains(t, held["url"], "/p/", "nothing is at the host")
	require.Equal(t, []any{"_visavis." + host, "TXT"}, []any{apitest.At(held, "customDomainRecord", "name"), apitest.At(held, "customDomainRecord", "type")})
	require.Len(t, warned(squatter, w.Globex.New), 1)
	require.Contains(t, apitest.At(warned(squatter, w.Globex.New)[0], "message"), apitest.At(held, "customDomainRecord", "value"))
	refusal := apitest.RequireError(t, hosted(owner, w.Acme.New), http.StatusConflict, "conflict", "body.customDomain")
	record := apitest.At(refusal, "details", "record")
	require.NotEqual(t, apitest.At(held, "customDomainRecord", "value"), apitest.At(record, "value"), "a record proves it for one portal")

	dns.Store("_visavis."+host+".", apitest.At(held, "customDomainRecord", "value").(string)+"x")
	require.Len(t, warned(squatter, w.Globex.New), 1)
	dns.Store("_visavis."+host+".", apitest.At(record, "value").(string))
	had := hosted(owner, w.Acme.New).Data(t)
	require.Equal(t, []any{"proven", nil, "https://" + host + "/"}, []any{had["customDomainState"], had["customDomainRecord"], had["url"]})
	require.Empty(t, warned(owner, w.Acme.New))
	org, leads, err := w.Directory.Portal(t.Context(), directory.Host, host)
	require.NoError(t, err)
	require.Equal(t, []string{w.Acme.ID.String(), owner}, []string{org.String(), leads.String()})

	// The newest proof counts: whoever had the host loses it at once, and is told.
	dns.Store("_visavis."+host+".", apitest.At(held, "customDomainRecord", "value").(string))
	require.Empty(t, warned(squatter, w.Globex.New))
	require.Equal(t, "proven", w.CallAs(t, "getPortal", squatter, w.Globex.New, nil).Data(t)["customDomainState"])
	lost := w.CallAs(t, "getPortal", owner, w.Acme.New, nil).Data(t)
	require.Equal(t, "unproven", lost["customDomainState"])
	require.NotEqual(t, apitest.At(record, "value"), apitest.At(lost, "customDomainRecord", "value"), "the record of before may still be there")
	told := warned(owner, w.Acme.New)
	require.Len(t, told, 2)
	require.Contains(t, apitest.At(told[0], "message"), "Another portal has proven")
	require.Contains(t, apitest.At(told[1], "message"), apitest.At(lost, "customDomainRecord", "value"))
	dns.Store("_visavis."+host+".", apitest.At(record, "value").(string))
	require.Len(t, warned(owner, w.Acme.New), 2)
	require.Equal(t, "proven", w.CallAs(t, "getPortal", squatter, w.Globex.New, nil).Data(t)["customDomainState"])

	// What is refused takes nothing away.
	dns.Store("_visavis."+host+".", apitest.At(lost, "customDomainRecord", "value").(string))
	apitest.RequireError(t, w.CallAs(t, "updatePortal", owner, w.Acme.New, map[string]any{"customDomain": host, "baseVersion": 99}), http.StatusConflict, "version_conflict", "body.baseVersion")
	require.Equal(t, "proven", w.CallAs(t, "getPortal", squatter, w.Globex.New, nil).Data(t)["customDomainState"])
	claimed, err := w.Directory.Claimed(t.Context(), directory.Address{Kind: directory.Host, Name: host})
	require.NoError(t, err)
	require.Equal(t, w.Globex.ID, claimed.Org, "the claim was given back")
	require.Equal(t, "proven", hosted(owner, w.Acme.New).Data(t)["customDomainState"])
	require.Equal(t, "unproven", w.CallAs(t, "getPortal", squatter, w.Globex.New, nil).Data(t)["customDomainState"])
}

// Visitors see what was published, so that is what their door is opened for: the draft
// neither opens it nor closes it.
func TestTheVisitorsDoorGoesByWhatIsPublished(t *testing.T) {
	w := apitest.NewWorld(t)
	body := draftBody(1)
	delete(body, "visitors")
	own := w.CallAs(t, "createPortal", "", w.Acme.New, body).Data(t)["id"].(string)
	told := func(address any) {
		t.Helper()
		require.Equal(t, http.StatusOK, w.CallAs(t, "updatePortal", own, w.Acme.New, map[string]any{"privacy": map[string]any{"privacyUrl": address}}).Status)
	}
	publish := func() apitest.Answer { return w.CallAs(t, "publishPortal", own, w.Acme.New, map[string]any{}) }
	set := func(open bool) apitest.Answer {
		return w.CallAs(t, "setVisitorsDoor", own, w.Acme.New, map[string]any{"open": open})
	}
	refusal := apitest.RequireError(t, publish(), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, "doors", apitest.At(apitest.At(refusal, "details", "problems").([]any)[0], "field"), "nobody could come in")
	told(nil)
	refusal = apitest.RequireError(t, set(true), http.StatusUnprocessableEntity, "go_live_refused", "")
	require.Equal(t, "privacy.privacyUrl", apitest.At(apitest.At(refusal, "details", "problems").([]any)[0], "field"), "what would be published links to none")

	told("https://example.com/privacy")
	require.Equal(t, http.StatusOK, set(true).Status)
	require.Equal(t, http.StatusOK, publish().Status)
	told(nil)
	require.Equal(t, http.StatusOK, set(false).Status)
	require.Equal(t, http.StatusOK, set(true).Status, "what is published links to one")
	apitest.RequireError(t, publish(), http.StatusUnprocessableEntity, "go_live_refused", "")
}
