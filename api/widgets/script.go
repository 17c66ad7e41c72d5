package widgets

import (
	"context"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/contract"
	script "visavis.dev/web/widget"
)

const scriptPath = "/widget.js"

// fiveMinutes is how soon a release reaches the pages: the address of the
// script stands in them and never changes.
const fiveMinutes = "public, max-age=300, stale-while-revalidate=86400"

func registerScript(s *route.Service) {
	route.File(s, route.Operation{
		ID: "getWidgetScript", Method: http.MethodGet, Path: scriptPath, Group: "Widget", Auth: route.Open, Since: contract.V20261001,
		Produces: []string{script.ContentType},
		Summary:  "The script that shows widgets on pages",
		Description: "For a tag with the widget's id and public key: <script async src=\"…/v1/widget.js\" data-widget=\"wid_…\" data-key=\"wpk_…\"></script>. " +
			"It loads nothing but what the widget's configuration names.",
	}, getScript)
}

func getScript(_ context.Context, c *route.Call, _ *struct{}) (route.Blob, error) {
	// Pages that are isolated from other origins, or check the script's hash,
	// load it only so.
	c.SetHeader("Access-Control-Allow-Origin", "*")
	c.SetHeader("Cross-Origin-Resource-Policy", "cross-origin")
	return route.Blob{
		ContentType: script.ContentType, ETag: script.ETag, CacheControl: fiveMinutes,
		Data: func(context.Context) ([]byte, error) { return script.Text, nil },
	}, nil
}
