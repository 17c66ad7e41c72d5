package api_test

import (
	"bytes"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"visavis.dev/api/apitest"
	"visavis.dev/pkg/base/id"
)

func TestWidgetChanges(t *testing.T) {
	w := newWorld(t)
	made := w.do(t, "createWidget", "", w.Acme.New, map[string]any{"name": "Site", "personaId": w.shown(t, w.Acme)})
	require.Equal(t, `"1"`, made.Header.Get("ETag"), "%s", made.Raw)
	own := made.Data(t)["id"].(string)
	require.Equal(t, []any{true, true, "bubble"}, []any{at(made.Data(t), "enabled"), at(made.Data(t), "aiNotice"), at(made.Data(t), "mode")})
	require.Empty(t, at(made.Data(t), "allowedOrigins"))

	change := map[string]any{"theme": map[string]any{"accent": "#abcdef"}, "allowedOrigins": []any{"HTTPS://Example.com:443/"}, "texts": map[string]any{"Deutsch": map[string]any{"title": "Fragen"}}}
	changed := w.do(t, "updateWidget", own, w.Acme.New, change).Data(t)
	require.Equal(t, 2.0, changed["version"])
	require.Equal(t, []any{"https://example.com"}, changed["allowedOrigins"])
	require.Equal(t, "Fragen", at(changed, "texts", "de", "title"))
	require.Equal(t, "#ffffff", at(changed, "theme", "background"))
	require.Equal(t, changed, w.do(t, "updateWidget", own, w.Acme.New, change).Data(t), "again changes nothing")
	rotated := w.do(t, "rotateWidgetKey", own, w.Acme.New, nil).Data(t)
	require.NotEqual(t, changed["publicKey"], rotated["publicKey"])
	e := requireError(t, w.do(t, "updateWidget", own, w.Acme.New, map[string]any{"name": "x", "baseVersion": 2}), http.StatusConflict, "version_conflict", "body.baseVersion")
	require.Equal(t, map[string]any{"currentVersion": 3.0}, e["details"])

	events := w.Get(w.Acme.New, "/events?type=widget.updated&order=asc").JSON(t)["data"].([]any)
	require.Len(t, events, 2, "one for each change, none for the creation or for a change of nothing")
	require.Equal(t, []any{"allowedOrigins", "texts", "theme"}, at(events[0], "data", "changedFields"))
	require.Equal(t, own, at(events[0], "data", "widgetId"))
	require.Nil(t, at(events[0], "data", "portalId"))
	require.Equal(t, []any{"publicKey"}, at(events[1], "data", "changedFields"))
	require.Equal(t, "widget.key_rotated", w.last(t)["action"])
}

func TestBadWidgets(t *testing.T) {
	w := newWorld(t)
	own := w.widget(t, w.Acme)["id"].(string)
	foreign := w.shown(t, w.Globex)
	for name, c := range map[string]struct {
		change map[string]any
		param  string
	}{
		"another's persona": {map[string]any{"personaId": foreign}, "body.personaId"},
		"no persona":        {map[string]any{"personaId": id.NewPersona().String()}, "body.personaId"},
		"a portal":          {map[string]any{"portalId": "portal_1"}, "body.portalId"},
		"a path":            {map[string]any{"allowedOrigins": []any{"https://example.com/a"}}, "body.allowedOrigins[0]"},
		"a colour's name":   {map[string]any{"theme": map[string]any{"accent": "red"}}, "body.theme.accent"},
		"another channel":   {map[string]any{"channels": []any{"chat"}, "defaultChannel": "video"}, "body.defaultChannel"},
		"no notice":         {map[string]any{"aiNotice": false}, "body.aiNotice"},
		"required unasked":  {map[string]any{"leadForm": map[string]any{"fields": []any{"name"}, "required": []any{"email"}}}, "body.leadForm.required[0]"},
		"a plain address":   {map[string]any{"termsUrl": "http://example.com"}, "body.termsUrl"},
		"no time zone":      {map[string]any{"hours": map[string]any{"timezone": "Mars/Base"}}, "body.hours.timezone"},
		"closed at opening": {map[string]any{"hours": map[string]any{"open": []any{map[string]any{"day": "monday", "from": "10:00", "to": "10:00"}}}}, "body.hours.open[0].to"},
		"a scale of three":  {map[string]any{"rating": map[string]any{"scale": 3}}, "body.rating.scale"},
	} {
		t.Run(name, func(t *testing.T) {
			requireError(t, w.do(t, "updateWidget", own, w.Acme.New, c.change), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
}

func TestWidgetConfig(t *testing.T) {
	w := newWorld(t)
	made := w.widget(t, w.Acme)
	own, key := made["id"].(string), made["publicKey"].(string)
	o := w.operation(t, "getWidgetConfig")
	visit := func(path, origin, match string) apitest.Answer {
		return w.call(t, o, apitest.Request{Path: path, Header: map[string]string{"Origin": origin, "If-None-Match": match}})
	}
	path := "/widgets/" + own + "/config?key="
	for _, origin := range []string{widgetOrigin, "https://a.b.example.org", "http://localhost:3000"} {
		answer := visit(path+key, origin, "")
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.Equal(t, origin, answer.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, answer.Header.Values("Vary"), "Origin")
		config := answer.Data(t)
		require.Equal(t, made["theme"], config["theme"])
		require.NotEmpty(t, at(config, "persona", "disclosure", "text"))
		require.NotContains(t, config, "allowedOrigins")
		again := w.Do(apitest.Request{Method: http.MethodGet, Path: path + key, Header: map[string]string{"Origin": origin, "If-None-Match": answer.Header.Get("ETag")}})
		require.Equal(t, http.StatusNotModified, again.Status)
		require.Empty(t, again.Raw)
		require.Equal(t, origin, again.Header.Get("Access-Control-Allow-Origin"))
	}
	require.NotNil(t, w.do(t, "getWidget", own, w.Acme.New, nil).Data(t)["lastSeenAt"])
	// What a browser keeps of a config of another shape is no more current.
	edition, rest, _ := strings.Cut(strings.Trim(visit(path+key, widgetOrigin, "").Header.Get("ETag"), `"`), ".")
	require.Regexp(t, `^\d+$`, edition)
	for _, older := range []string{rest, "1." + rest} {
		require.Equal(t, http.StatusOK, visit(path+key, widgetOrigin, `"`+older+`"`).Status, older)
	}

	other := w.widget(t, w.Globex)
	wrong := map[string]apitest.Answer{
		"no key":                visit("/widgets/"+own+"/config?key=", widgetOrigin, ""),
		"nonsense":              visit(path+"wpk_x", widgetOrigin, ""),
		"no such organization":  visit(path+"wpk_"+id.NewOrg().Bare()+"x", widgetOrigin, ""),
		"another widget's":      visit(path+other["publicKey"].(string), widgetOrigin, ""),
		"no origin":             visit(path+key, "", ""),
		"another origin":        visit(path+key, "https://example.com", ""),
		"the apex of a pattern": visit(path+key, "https://example.org", ""),
		"no such widget":        visit("/widgets/"+id.NewWidget().String()+"/config?key="+key, widgetOrigin, ""),
	}
	w.do(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false})
	wrong["disabled"] = visit(path+key, widgetOrigin, "")
	w.do(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": true})
	require.Equal(t, http.StatusOK, visit(path+key, widgetOrigin, "").Status)
	w.do(t, "rotateWidgetKey", own, w.Acme.New, nil)
	wrong["the old key"] = visit(path+key, widgetOrigin, "")
	for name, answer := range wrong {
		requireError(t, answer, http.StatusNotFound, "not_found", "path.id")
		require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), name)
		require.Equal(t, wrong["nonsense"].Error(t), answer.Error(t), "nothing tells one from another")
	}
}

// A page shows the picture of a face of the organization's own without its key.
func TestWidgetPicture(t *testing.T) {
	w := newWorld(t)
	made := w.widget(t, w.Acme)
	own, key := made["id"].(string), made["publicKey"].(string)
	pictureURL := func() any {
		return at(w.call(t, w.operation(t, "getWidgetConfig"), apitest.Request{
			Path: "/widgets/" + own + "/config?key=" + key, Header: map[string]string{"Origin": widgetOrigin},
		}).Data(t), "persona", "pictureUrl")
	}
	o := w.operation(t, "getWidgetPicture")
	get := func(query string) apitest.Answer {
		return w.call(t, o, apitest.Request{Path: "/widgets/" + own + "/picture?" + query})
	}
	_, path, _ := strings.Cut(pictureURL().(string), "/v1")
	drawn := w.Do(apitest.Request{Method: http.MethodGet, Path: path})
	require.Equal(t, []any{http.StatusOK, "image/png"}, []any{drawn.Status, drawn.Header.Get("Content-Type")}, "a library face")

	face := w.make(t, w.Acme, "createAvatar")
	require.Equal(t, http.StatusOK, w.do(t, "updatePersona", made["personaId"].(string), w.Acme.New, map[string]any{"avatarId": face["id"]}).Status)
	_, query, _ := strings.Cut(pictureURL().(string), "/widgets/"+own+"/picture?")
	answer := get(query)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, []string{"image/png", "public, max-age=3600", "cross-origin"}, []string{
		answer.Header.Get("Content-Type"), answer.Header.Get("Cache-Control"), answer.Header.Get("Cross-Origin-Resource-Policy"),
	})
	size, err := png.DecodeConfig(bytes.NewReader(answer.Raw))
	require.NoError(t, err)
	require.Equal(t, 256, max(size.Width, size.Height))

	named := "&face=" + face["id"].(string)
	requireError(t, get("key=wpk_x"+named), http.StatusNotFound, "not_found", "path.id")
	requireError(t, get("key="+w.widget(t, w.Globex)["publicKey"].(string)+named), http.StatusNotFound, "not_found", "path.id")
	for _, other := range []string{"", "x", id.NewAvatar().String(), w.make(t, w.Acme, "createAvatar")["id"].(string), libraryFace} {
		requireError(t, get("key="+key+"&face="+other), http.StatusNotFound, "not_found", "query.face")
	}
	w.do(t, "withdrawAvatarConsent", face["id"].(string), w.Acme.New, nil)
	requireError(t, get(query), http.StatusNotFound, "not_found", "query.face")
	w.do(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false})
	requireError(t, get(query), http.StatusNotFound, "not_found", "path.id")
}

func TestWidgetEmbed(t *testing.T) {
	w := newWorld(t)
	made := w.widget(t, w.Acme)
	address := at(made, "embed", "script").(string)
	require.True(t, strings.HasSuffix(address, "/v1/widget.js"), address)
	require.Equal(t, `<script async src="`+address+`" data-widget="`+made["id"].(string)+`" data-key="`+made["publicKey"].(string)+`"></script>`, at(made, "embed", "html"))

	script := w.Do(apitest.Request{Method: http.MethodGet, Path: "/widget.js"})
	require.Equal(t, http.StatusOK, script.Status)
	require.NotEmpty(t, script.Raw)
	for name, want := range map[string]string{
		"Content-Type": "text/javascript", "X-Content-Type-Options": "nosniff", "Access-Control-Allow-Origin": "*",
		"Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "public, max-age=300, stale-while-revalidate=86400",
	} {
		require.Equal(t, want, script.Header.Get(name), name)
	}
	again := w.Do(apitest.Request{Method: http.MethodGet, Path: "/widget.js", Header: map[string]string{"If-None-Match": script.Header.Get("ETag")}})
	require.Equal(t, http.StatusNotModified, again.Status)
	require.Empty(t, again.Raw)
}

func TestDeletedWidgets(t *testing.T) {
	w := newWorld(t)
	own := w.widget(t, w.Acme)["id"].(string)
	require.Equal(t, true, w.do(t, "deleteWidget", own, w.Acme.New, nil).Data(t)["deleted"])
	for _, operation := range []string{"getWidget", "updateWidget", "deleteWidget", "rotateWidgetKey"} {
		requireError(t, w.do(t, operation, own, w.Acme.New, w.body(t, w.operation(t, operation))), http.StatusGone, "gone", "path.id")
		requireError(t, w.do(t, operation, own, w.Globex.New, w.body(t, w.operation(t, operation))), http.StatusNotFound, "not_found", "path.id")
	}
	require.NotContains(t, string(w.Get(w.Acme.New, "/widgets").Raw), own)
}
