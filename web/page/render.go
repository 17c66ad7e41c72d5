package page

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/portals/portal/published"
	"visavis.dev/pkg/visits/agent"
	"visavis.dev/web/packed"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are the pages, each with the frame around it, by name.
var templates = sync.OnceValue(func() map[string]*template.Template {
	shared := []string{"templates/frame.html", "templates/parts.html", "templates/call.html"}
	frame := template.Must(template.ParseFS(templateFiles, shared...))
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		if !slices.Contains(shared, file) {
			pages[strings.TrimSuffix(path.Base(file), ".html")] = template.Must(template.Must(frame.Clone()).ParseFS(templateFiles, file))
		}
	}
	return pages
})

// renderKey tells pages apart that are the same for everybody.
type renderKey struct {
	portal         id.Portal
	stamp          published.Stamp
	base, language string
	page           string
}

// page shows a page. What is for nobody in particular is written once for each
// state of the site.
func (v *view) page(path, name string, build func() *sheet) error {
	v.describe()
	if v.visit != nil {
		return v.show(http.StatusOK, name, build())
	}
	key := renderKey{v.site.Portal, v.site.Stamp, v.base, v.language, path}
	d, ok := v.h.rendered.Get(key)
	if !ok {
		body, err := write(name, build())
		if err != nil {
			return err
		}
		d = packed.New(body, htmlType)
		v.h.rendered.Add(key, d)
	}
	header := v.w.Header()
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Language, Cookie")
	d.Serve(v.w, v.r, http.StatusOK)
	return nil
}

const htmlType = "text/html; charset=utf-8"

// describe says what the page may load, and who may frame it.
func (v *view) describe() {
	ancestors := ancestorsOf(v.origins)
	if v.framed {
		ancestors = "*"
	}
	v.w.Header().Set("Content-Security-Policy", v.h.policy(ancestors, v.formsTo, v.rooms, v.blobs, v.media, v.offersAgent()))
	v.w.Header().Set("Content-Language", v.language)
}

// offersAgent says whether a browser's assistant may ask the portal's agent from the page: not where somebody is signed in, since it asks
// what everybody may ask.
func (v *view) offersAgent() bool {
	return v.visit == nil && v.h.PublicURL != "" && agent.Asked(v.site)
}

// show shows a page that is for one person, or for one moment.
func (v *view) show(status int, name string, s *sheet) error {
	v.describe()
	body, err := write(name, s)
	if err != nil {
		v.h.Log.ErrorContext(v.r.Context(), "a page cannot be written", "page", name, "error", err)
		http.Error(v.w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return nil
	}
	header := v.w.Header()
	header.Set("Cache-Control", keptByNone)
	header.Set("Content-Type", htmlType)
	v.w.WriteHeader(status)
	if v.r.Method != http.MethodHead {
		_, _ = v.w.Write(body) // the caller went away
	}
	return nil
}

// write makes the HTML of a page.
func write(name string, s *sheet) ([]byte, error) {
	var out bytes.Buffer
	err := templates()[name].ExecuteTemplate(&out, "frame", s)
	return out.Bytes(), err
}

func (v *view) themePath() string { return themeName(v.css()) }

func (v *view) css() string { return stylesheet(v.site.Definition.Brand) }

// theme sends the portal's colours.
func (v *view) theme() error {
	v.w.Header().Set("Cache-Control", forEver)
	packed.New([]byte(v.css()), "text/css; charset=utf-8").Serve(v.w, v.r, http.StatusOK)
	return nil
}

// portraitPrefix is under what the pictures of a duo's hosts are, by their seats.
const portraitPrefix = "/portrait/"

// hostPortrait sends the picture of a host of a duo, by their seat.
func (v *view) hostPortrait(seat string) error {
	if err := v.sit(seat); err != nil {
		return err
	}
	return v.portrait()
}

// portrait sends the picture of who speaks: for everybody who sees the page.
func (v *view) portrait() error {
	data, contentType, err := v.h.Portraits.Portrait(v.r.Context(), v.site)
	if err != nil {
		return err
	}
	v.w.Header().Set("Cache-Control", v.kept())
	packed.New(data, contentType).Serve(v.w, v.r, http.StatusOK)
	return nil
}
