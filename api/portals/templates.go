package portals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/language"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/portals/portal/template"
)

func (a *API) registerTemplates(s *route.Service, read route.Operation) {
	list := read
	list.ID, list.Method, list.Path = "listPortalTemplates", http.MethodGet, "/portals/templates"
	list.Summary = "The templates that portals are built from"
	route.List(s, list, a.templates)

	route.File(s, route.Operation{
		ID: "getPortalTemplateThumbnail", Method: http.MethodGet, Path: "/portals/templates/{id}/thumbnail", Group: group, Auth: route.Open,
		Produces: []string{"image/svg+xml"}, Summary: "A template's picture",
	}, a.thumbnail)
}

// TemplateQuery says which language the gallery is read in.
type TemplateQuery struct {
	Language string `query:"language" maxLength:"40" doc:"Of the texts, by code or name; what is not there in it is in English."`
}

// Template is one template.
type Template struct {
	Key          string             `json:"key" doc:"The value to send as templateKey."`
	Name         string             `json:"name" doc:"What the template is called, for people."`
	Kind         string             `json:"kind" enum:"learning,support,sales,hiring,reception,custom" doc:"What its portals are for."`
	Description  string             `json:"description" doc:"What a portal of the template is good for."`
	ThumbnailURL string             `json:"thumbnailUrl" format:"uri" doc:"A public picture, in SVG."`
	Languages    []string           `json:"languages" doc:"Those that its texts are in, the default one first."`
	Includes     []string           `json:"includes" doc:"What comes with it."`
	PlanFeature  *string            `json:"planFeature" doc:"What the plan must include besides portals; null for nothing."`
	Questions    []TemplateQuestion `json:"questions" doc:"What to know before building."`
}

// TemplateQuestion is something to know about a portal that is built.
type TemplateQuestion struct {
	Key      string `json:"key" doc:"The name of the answer in answers."`
	Label    string `json:"label" doc:"The question, for people."`
	Type     string `json:"type" enum:"text,long_text,url,number,choice,boolean" doc:"What form the answer has."`
	Required bool   `json:"required" doc:"Whether a portal can be built without an answer."`
}

func (a *API) templates(_ context.Context, c *route.Call, q *TemplateQuery) (route.Page[Template], error) {
	code := "en"
	if q.Language != "" {
		found, ok := language.Lookup(q.Language)
		if !ok {
			return route.Page[Template]{}, problem.Invalid("query.language", "There is no language %q; GET /languages lists them.", q.Language)
		}
		code = found.Code
	}
	return route.Map(route.Page[template.Template]{Items: a.Gallery.Templates()}, func(t template.Template) Template {
		return showTemplate(c, t, code)
	}), nil
}

func showTemplate(c *route.Call, t template.Template, code string) Template {
	in := func(w language.Words) string {
		if text := w.In(code, "en"); text != "" {
			return text
		}
		return w[t.Languages[0]]
	}
	shown := Template{
		Key: t.Key, Name: in(t.Name), Kind: string(t.Kind), Description: in(t.Description), PlanFeature: t.PlanFeature,
		ThumbnailURL: c.URL("/portals/templates/" + t.Key + "/thumbnail"), Languages: t.Languages,
		Includes: []string{}, Questions: []TemplateQuestion{},
	}
	for _, w := range t.Includes {
		shown.Includes = append(shown.Includes, in(w))
	}
	for _, q := range t.Questions {
		shown.Questions = append(shown.Questions, TemplateQuestion{q.Key, in(q.Label), q.Type, q.Required})
	}
	return shown
}

// TemplatePath names a template.
type TemplatePath struct {
	ID string `path:"id" maxLength:"40" doc:"The template's key."`
}

func (a *API) thumbnail(_ context.Context, _ *route.Call, p *TemplatePath) (route.Blob, error) {
	picture, ok := a.Gallery.Picture(p.ID)
	if !ok {
		return route.Blob{}, problem.New(problem.NotFound, "There is no such template.").WithParam("path.id")
	}
	sum := sha256.Sum256(picture)
	return route.Blob{
		ContentType: "image/svg+xml", ETag: `"` + hex.EncodeToString(sum[:12]) + `"`, CacheControl: "public, max-age=86400",
		Data: func(context.Context) ([]byte, error) { return picture, nil },
	}, nil
}
