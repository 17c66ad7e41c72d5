package route

import (
	"bytes"
	"context"
	"mime"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Either is an answer in one of two forms.
type Either[O any] struct {
	// Data is the answer as JSON.
	Data O
	// File is the answer as bytes where it is not nil; Data is then not looked at.
	File *Blob
}

// HandleOrFile declares an operation that answers JSON, or a file of one of the types
// that it produces where the caller's Accept header prefers that: Call.Prefers says so to
// the handler. Its files are made for one request; nobody keeps them.
func HandleOrFile[I, O any](s *Service, o Operation, h func(context.Context, *Call, *I) (Either[O], error)) {
	declared := s.declare(o)
	content := map[string]*huma.MediaType{
		asJSON: {Schema: s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Envelope[O]](), true, "")},
	}
	for _, ct := range o.Produces {
		content[ct] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	declared.Responses = map[string]*huma.Response{
		strconv.Itoa(o.status()): {Description: "What was asked for, in the form that Accept prefers.", Content: content},
	}
	huma.Register(s.api, declared, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		c := callOf(ctx)
		answer, err := h(ctx, c, in)
		if err != nil {
			return nil, c.failure(err)
		}
		blob := Blob{ContentType: asJSON}
		var data []byte
		if answer.File == nil {
			data = c.render(Envelope[O]{Data: answer.Data, RequestID: c.RequestID.String()})
		} else {
			blob = *answer.File
			if data, err = blob.Data(ctx); err != nil {
				return nil, c.failure(err)
			}
		}
		c.SetHeader("Vary", "Accept")
		return &huma.StreamResponse{Body: func(huma.Context) { c.serve(blob, false, bytes.NewReader(data), int64(len(data))) }}, nil
	})
}

const asJSON = "application/json"

// Prefers is which content type of the operation the caller's Accept header asks for
// first, JSON being preferred where it likes several as much (RFC 9110, 12.5.1). Who
// accepts none of them gets JSON, as everywhere in the API.
func (c *Call) Prefers() string {
	offers := append([]string{asJSON}, c.Op.Produces...)
	best, most := asJSON, 0.0
	for _, offer := range offers {
		if q := quality(c.request.Header.Values("Accept"), offer); q > most {
			best, most = offer, q
		}
	}
	return best
}

// quality is how much an Accept header likes a content type, by its closest range.
func quality(accept []string, offer string) float64 {
	family, _, _ := strings.Cut(offer, "/")
	ranges := []string{"*/*", family + "/*", offer} // the later ones are closer
	closest, liked := -1, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, parameters, err := mime.ParseMediaType(part)
		near := slices.Index(ranges, name)
		if err != nil || near < 0 || near < closest {
			continue
		}
		q := 1.0
		if text, ok := parameters["q"]; ok {
			if q, err = strconv.ParseFloat(text, 64); err != nil {
				continue
			}
		}
		closest, liked = near, q
	}
	return liked
}
