package widgets

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	script "visavis.dev/web/widget"
)

const (
	scriptPath = "/widget.js"
	checkPath  = "/widget-check.js"
)

// fiveMinutes is how soon a release reaches the pages: the address of the
// script stands in them and never changes.
const fiveMinutes = "public, max-age=300, stale-while-revalidate=86400"

func registerScript(s *route.Service) {
	route.File(s, route.Operation{
		ID: "getWidgetScript", Method: http.MethodGet, Path: scriptPath, Group: "Widget", Auth: route.Open, Since: contract.V20261001,
		Produces: []string{script.ContentType},
		Summary:  "The script that shows widgets on pages",
		Description: "For a tag with the widget's id and public key: <script async src=\"…/v1/widget.js\" data-widget=\"wid_…\" data-key=\"wpk_…\"></script>. " +
			"It loads nothing but what the widget's configuration names, and " + checkPath + " where a visitor asks for that.",
	}, getScript)
	route.File(s, route.Operation{
		ID: "getWidgetCheckScript", Method: http.MethodGet, Path: checkPath, Group: "Widget", Auth: route.Open, Since: contract.V20261001,
		Produces:    []string{script.ContentType},
		Summary:     "The script by which visitors check microphone and sound",
		Description: "The widget loads it, as a module, once a visitor wants the check.",
	}, getCheckScript)
}

func getScript(_ context.Context, c *route.Call, _ *struct{}) (route.Blob, error) {
	return sendScript(c, script.Text, script.ETag), nil
}

func getCheckScript(_ context.Context, c *route.Call, _ *struct{}) (route.Blob, error) {
	return sendScript(c, script.Check, script.CheckETag), nil
}

func sendScript(c *route.Call, text []byte, etag string) route.Blob {
	// Pages that are isolated from other origins, or check the script's hash,
	// load it only so, and modules are loaded in no other way.
	c.SetHeader("Access-Control-Allow-Origin", "*")
	c.SetHeader("Cross-Origin-Resource-Policy", "cross-origin")
	return route.Blob{
		ContentType: script.ContentType, ETag: etag, CacheControl: fiveMinutes,
		Data: func(context.Context) ([]byte, error) { return text, nil },
	}
}
