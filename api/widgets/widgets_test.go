package widgets_test

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
	w := apitest.NewWorld(t)
	made := w.CallAs(t, "createWidget", "", w.Acme.New, map[string]any{"name": "Site", "personaId": w.Shown(t, w.Acme)})
	require.Equal(t, `"1"`, made.Header.Get("ETag"), "%s", made.Raw)
	own := made.Data(t)["id"].(string)
	require.Equal(t, []any{true, true, "bubble"}, []any{apitest.At(made.Data(t), "enabled"), apitest.At(made.Data(t), "aiNotice"), apitest.At(made.Data(t), "mode")})
	require.Empty(t, apitest.At(made.Data(t), "allowedOrigins"))

	change := map[string]any{"theme": map[string]any{"accent": "#abcdef"}, "allowedOrigins": []any{"HTTPS://Example.com:443/"}, "texts": map[string]any{"Deutsch": map[string]any{"title": "Fragen"}}}
	changed := w.CallAs(t, "updateWidget", own, w.Acme.New, change).Data(t)
	require.Equal(t, 2.0, changed["version"])
	require.Equal(t, []any{"https://example.com"}, changed["allowedOrigins"])
	require.Equal(t, "Fragen", apitest.At(changed, "texts", "de", "title"))
	require.Equal(t, "#ffffff", apitest.At(changed, "theme", "background"))
	require.Equal(t, changed, w.CallAs(t, "updateWidget", own, w.Acme.New, change).Data(t), "again changes nothing")
	rotated := w.CallAs(t, "rotateWidgetKey", own, w.Acme.New, nil).Data(t)
	require.NotEqual(t, changed["publicKey"], rotated["publicKey"])
	e := apitest.RequireError(t, w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"name": "x", "baseVersion": 2}), http.StatusConflict, "version_conflict", "body.baseVersion")
	require.Equal(t, map[string]any{"currentVersion": 3.0}, e["details"])

	events := w.Get(w.Acme.New, "/events?type=widget.updated&order=asc").JSON(t)["data"].([]any)
	require.Len(t, events, 2, "one for each change, none for the creation or for a change of nothing")
	require.Equal(t, []any{"allowedOrigins", "texts", "theme"}, apitest.At(events[0], "data", "changedFields"))
	require.Equal(t, own, apitest.At(events[0], "data", "widgetId"))
	require.Nil(t, apitest.At(events[0], "data", "portalId"))
	require.Equal(t, []any{"publicKey"}, apitest.At(events[1], "data", "changedFields"))
	require.Equal(t, "widget.key_rotated", w.Last(t)["action"])
}

func TestBadWidgets(t *testing.T) {
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	foreign := w.Shown(t, w.Globex)
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
			apitest.RequireError(t, w.CallAs(t, "updateWidget", own, w.Acme.New, c.change), http.StatusBadRequest, "invalid_request", c.param)
		})
	}
}

func TestWidgetConfig(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Widget(t, w.Acme)
	own, key := made["id"].(string), made["publicKey"].(string)
	o := w.Operation(t, "getWidgetConfig")
	visit := func(path, origin, match string) apitest.Answer {
		return w.Call(t, o, apitest.Request{Path: path, Header: map[string]string{"Origin": origin, "If-None-Match": match}})
	}
	path := "/widgets/" + own + "/config?key="
	for _, origin := range []string{apitest.WidgetOrigin, "https://a.b.example.org", "http://localhost:3000"} {
		answer := visit(path+key, origin, "")
		require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
		require.Equal(t, origin, answer.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, answer.Header.Values("Vary"), "Origin")
		config := answer.Data(t)
		require.Equal(t, made["theme"], config["theme"])
		require.NotEmpty(t, apitest.At(config, "persona", "disclosure", "text"))
		require.NotContains(t, config, "allowedOrigins")
		again := w.Do(apitest.Request{Method: http.MethodGet, Path: path + key, Header: map[string]string{"Origin": origin, "If-None-Match": answer.Header.Get("ETag")}})
		require.Equal(t, http.StatusNotModified, again.Status)
		require.Empty(t, again.Raw)
		require.Equal(t, origin, again.Header.Get("Access-Control-Allow-Origin"))
	}
	require.NotNil(t, w.CallAs(t, "getWidget", own, w.Acme.New, nil).Data(t)["lastSeenAt"])
	// What a browser keeps of a config of another shape is no more current.
	edition, rest, _ := strings.Cut(strings.Trim(visit(path+key, apitest.WidgetOrigin, "").Header.Get("ETag"), `"`), ".")
	require.Regexp(t, `^\d+$`, edition)
	for _, older := range []string{rest, "1." + rest} {
		require.Equal(t, http.StatusOK, visit(path+key, apitest.WidgetOrigin, `"`+older+`"`).Status, older)
	}

	other := w.Widget(t, w.Globex)
	wrong := map[string]apitest.Answer{
		"no key":                visit("/widgets/"+own+"/config?key=", apitest.WidgetOrigin, ""),
		"nonsense":              visit(path+"wpk_x", apitest.WidgetOrigin, ""),
		"no such organization":  visit(path+"wpk_"+id.NewOrg().Bare()+"x", apitest.WidgetOrigin, ""),
		"another widget's":      visit(path+other["publicKey"].(string), apitest.WidgetOrigin, ""),
		"no origin":             visit(path+key, "", ""),
		"another origin":        visit(path+key, "https://example.com", ""),
		"the apex of a pattern": visit(path+key, "https://example.org", ""),
		"no such widget":        visit("/widgets/"+id.NewWidget().String()+"/config?key="+key, apitest.WidgetOrigin, ""),
	}
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false})
	wrong["disabled"] = visit(path+key, apitest.WidgetOrigin, "")
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": true})
	require.Equal(t, http.StatusOK, visit(path+key, apitest.WidgetOrigin, "").Status)
	w.CallAs(t, "rotateWidgetKey", own, w.Acme.New, nil)
	wrong["the old key"] = visit(path+key, apitest.WidgetOrigin, "")
	for name, answer := range wrong {
		apitest.RequireError(t, answer, http.StatusNotFound, "not_found", "path.id")
		require.Empty(t, answer.Header.Get("Access-Control-Allow-Origin"), name)
		require.Equal(t, wrong["nonsense"].Error(t), answer.Error(t), "nothing tells one from another")
	}
}

// A widget of a duo shows both hosts, whose names are theirs of now, and the own face of each.
func TestWidgetOfADuo(t *testing.T) {
	w := apitest.NewWorld(t)
	require.Empty(t, config(t, w, w.Widget(t, w.Acme))["persona"].(map[string]any)["hosts"], "one alone speaks")
	body := apitest.DuoBody(1)
	own := w.Make(t, w.Acme, "createAvatar")["id"].(string)
	body["hosts"].([]any)[1].(map[string]any)["avatarId"] = own
	duo := w.CallAs(t, "createDuo", "", w.Acme.New, body).Data(t)
	made := w.CallAs(t, "createWidget", "", w.Acme.New, apitest.WidgetBody(1, duo["personaId"].(string))).Data(t)
	hosts := func() (names []string, pictures []any) {
		for _, h := range config(t, w, made)["persona"].(map[string]any)["hosts"].([]any) {
			names = append(names, apitest.At(h, "seat").(string)+" "+apitest.At(h, "role").(string)+" "+apitest.At(h, "name").(string))
			pictures = append(pictures, apitest.At(h, "pictureUrl"))
		}
		return names, pictures
	}
	names, pictures := hosts()
	require.Equal(t, []string{"left lead Ada", "right partner Ben"}, names)
	_, query, found := strings.Cut(pictures[1].(string), "/widgets/"+made["id"].(string)+"/picture?")
	require.True(t, found, pictures[1])
	require.Contains(t, query, own)
	o := w.Operation(t, "getWidgetPicture")
	answer := w.Call(t, o, apitest.Request{Path: "/widgets/" + made["id"].(string) + "/picture?" + query})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	strange := w.Call(t, o, apitest.Request{Path: "/widgets/" + made["id"].(string) + "/picture?" + strings.Replace(query, own, id.NewAvatar().String(), 1)})
	require.Equal(t, http.StatusNotFound, strange.Status)

	body["hosts"].([]any)[1].(map[string]any)["name"] = "Benedict"
	w.CallAs(t, "updateDuo", duo["id"].(string), w.Acme.New, map[string]any{"hosts": body["hosts"]})
	names, _ = hosts()
	require.Equal(t, "right partner Benedict", names[1])
}

// config is what a page is told of a widget, which is another than it was told before.
func config(t *testing.T, w *apitest.World, made map[string]any) map[string]any {
	t.Helper()
	path := "/widgets/" + made["id"].(string) + "/config?key=" + made["publicKey"].(string)
	tag := kept[made["id"].(string)]
	answer := w.Call(t, w.Operation(t, "getWidgetConfig"), apitest.Request{Path: path, Header: map[string]string{"Origin": apitest.WidgetOrigin, "If-None-Match": tag}})
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	kept[made["id"].(string)] = answer.Header.Get("ETag")
	return answer.Data(t)
}

// kept are the configurations that a browser has, by their widgets.
var kept = map[string]string{}

// A page shows the picture of a face of the organization's own without its key.
func TestWidgetPicture(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Widget(t, w.Acme)
	own, key := made["id"].(string), made["publicKey"].(string)
	pictureURL := func() any {
		return apitest.At(w.Call(t, w.Operation(t, "getWidgetConfig"), apitest.Request{
			Path: "/widgets/" + own + "/config?key=" + key, Header: map[string]string{"Origin": apitest.WidgetOrigin},
		}).Data(t), "persona", "pictureUrl")
	}
	o := w.Operation(t, "getWidgetPicture")
	get := func(query string) apitest.Answer {
		return w.Call(t, o, apitest.Request{Path: "/widgets/" + own + "/picture?" + query})
	}
	_, path, _ := strings.Cut(pictureURL().(string), "/v1")
	drawn := w.Do(apitest.Request{Method: http.MethodGet, Path: path})
	require.Equal(t, []any{http.StatusOK, "image/png"}, []any{drawn.Status, drawn.Header.Get("Content-Type")}, "a library face")

	face := w.Make(t, w.Acme, "createAvatar")
	require.Equal(t, http.StatusOK, w.CallAs(t, "updatePersona", made["personaId"].(string), w.Acme.New, map[string]any{"avatarId": face["id"]}).Status)
	_, query, _ := strings.Cut(pictureURL().(string), "/widgets/"+own+"/picture?")
	answer := get(query)
	require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
	require.Equal(t, []string{"image/png", "public, max-age=3600", "cross-origin"}, []string{
		answer.Header.Get("Content-Type"), answer.Header.Get("Cache-Control"), answer.Header.Get("Cross-Origin-Resource-Policy"),
	})
	size, err := png.DecodeConfig(bytes.NewReader(answer.Raw))
	require.NoError(t, err)
	require.Equal(t, 256, max(size.Width, size.Height))

	// A page moves the picture by where its eyes, mouth and chin are, once it is prepared.
	for _, kind := range []string{"png", "json"} {
		apitest.RequireError(t, get(query+"&size=512&kind="+kind), http.StatusNotFound, "not_found", "query.face")
	}
	w.PrepareFaces(t)
	moved, rig := get(query+"&size=512"), get(query+"&size=512&kind=json")
	require.Equal(t, []string{"image/png", "*", "cross-origin"}, []string{
		moved.Header.Get("Content-Type"), moved.Header.Get("Access-Control-Allow-Origin"), moved.Header.Get("Cross-Origin-Resource-Policy"),
	})
	require.Contains(t, string(rig.Raw), `"mesh":true`)
	for kind, tag := range map[string]string{"png": moved.Header.Get("ETag"), "json": rig.Header.Get("ETag")} {
		again := w.Do(apitest.Request{
			Method: http.MethodGet, Path: "/widgets/" + own + "/picture?" + query + "&size=512&kind=" + kind, Header: map[string]string{"If-None-Match": tag},
		})
		require.Equal(t, http.StatusNotModified, again.Status)
	}
	nobody := w.Create(t, w.Acme.New, func(a, _ map[string]any) { delete(a, "landmarks") }).Data(t)["id"].(string)
	w.CallAs(t, "updatePersona", made["personaId"].(string), w.Acme.New, map[string]any{"avatarId": nobody})
	w.PrepareFaces(t)
	apitest.RequireError(t, get("key="+key+"&face="+nobody+"&size=512"), http.StatusNotFound, "not_found", "query.face")
	w.CallAs(t, "updatePersona", made["personaId"].(string), w.Acme.New, map[string]any{"avatarId": face["id"]})

	named := "&face=" + face["id"].(string)
	apitest.RequireError(t, get("key=wpk_x"+named), http.StatusNotFound, "not_found", "path.id")
	apitest.RequireError(t, get("key="+w.Widget(t, w.Globex)["publicKey"].(string)+named), http.StatusNotFound, "not_found", "path.id")
	for _, other := range []string{"", "x", id.NewAvatar().String(), w.Make(t, w.Acme, "createAvatar")["id"].(string), apitest.LibraryFace} {
		apitest.RequireError(t, get("key="+key+"&face="+other), http.StatusNotFound, "not_found", "query.face")
	}
	w.CallAs(t, "withdrawAvatarConsent", face["id"].(string), w.Acme.New, nil)
	apitest.RequireError(t, get(query), http.StatusNotFound, "not_found", "query.face")
	w.CallAs(t, "updateWidget", own, w.Acme.New, map[string]any{"enabled": false})
	apitest.RequireError(t, get(query), http.StatusNotFound, "not_found", "path.id")
}

func TestWidgetEmbed(t *testing.T) {
	w := apitest.NewWorld(t)
	made := w.Widget(t, w.Acme)
	address := apitest.At(made, "embed", "script").(string)
	require.True(t, strings.HasSuffix(address, "/v1/widget.js"), address)
	require.Equal(t, `<script async src="`+address+`" data-widget="`+made["id"].(string)+`" data-key="`+made["publicKey"].(string)+`"></script>`, apitest.At(made, "embed", "html"))

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
	w := apitest.NewWorld(t)
	own := w.Widget(t, w.Acme)["id"].(string)
	require.Equal(t, true, w.CallAs(t, "deleteWidget", own, w.Acme.New, nil).Data(t)["deleted"])
	for _, operation := range []string{"getWidget", "updateWidget", "deleteWidget", "rotateWidgetKey"} {
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Acme.New, w.Body(t, w.Operation(t, operation))), http.StatusGone, "gone", "path.id")
		apitest.RequireError(t, w.CallAs(t, operation, own, w.Globex.New, w.Body(t, w.Operation(t, operation))), http.StatusNotFound, "not_found", "path.id")
	}
	require.NotContains(t, string(w.Get(w.Acme.New, "/widgets").Raw), own)
}
