package voices

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"visavis.dev/api/route"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/problem"
	"visavis.dev/pkg/personas/voice"
	"visavis.dev/pkg/speech/sound"
	"visavis.dev/pkg/speech/speaker"
)

// PreviewQuery chooses what a preview says.
type PreviewQuery struct {
	Path
	Text     string `query:"text" maxLength:"200" doc:"What to say, which takes a key; a greeting unless given."`
	Language string `query:"language" maxLength:"100" doc:"By code or name, one of the voice's languages; its primary language unless given, or English where nothing here speaks that."`
}

const (
	// publicDay: a studio voice's greeting changes with a release at most.
	publicDay = "public, max-age=86400, stale-while-revalidate=604800"
	// privateAsk: what an own voice says is for its organization, and can change.
	privateAsk = "private, no-cache"
	// neverKept: what a service says may sound otherwise the next time.
	neverKept = "no-store"
	// previewsEdition counts the ways in which previews have sounded, so that none is
	// taken for a newer one.
	previewsEdition = "1"
)

// preview lets anybody hear a studio voice's greeting, and an organization its own voices
// or any text.
func (a *API) preview(ctx context.Context, c *route.Call, q *PreviewQuery) (route.Blob, error) {
	v, err := a.audible(ctx, c, q.Path)
	if err != nil {
		return route.Blob{}, err
	}
	if q.Text != "" && c.Principal == nil {
		return route.Blob{}, problem.Invalid("query.text", "query.text takes a key of the scope voices:read.")
	}
	const param = "query.language"
	code, err := a.languageOf(v, param, q.Language)
	if err != nil {
		return route.Blob{}, err
	}
	// A studio voice's greeting is everybody's, and sounds as what is built in.
	shared := q.Text == "" && v.Kind == voice.Builtin
	by, err := a.previewer(ctx, c, v, shared)
	if err != nil {
		return route.Blob{}, err
	}
	if by != nil && q.Language == "" && !by.Speaks(code) {
		code = "en"
	}
	text, keep := q.Text, privateAsk
	if text == "" {
		text = voice.Greeting(code, v.Name)
	}
	if shared {
		keep = publicDay
	}
	digest := sha256.Sum256([]byte(strings.Join([]string{previewsEdition, v.ID.String(), v.UpdatedAt.String(), code, text}, "\n")))
	etag := `"` + hex.EncodeToString(digest[:12]) + `"`
	say := func(ctx context.Context) ([]byte, error) {
		said, _, err := a.say(ctx, by, v, text, code, v.SpeedDefault)
		if err != nil {
			return nil, err
		}
		if len(said.Samples) == 0 {
			return nil, problem.Invalid("query.text", "query.text has nothing in it that can be said.")
		}
		return sound.WAV(speaker.SampleRate, said.Samples), nil
	}
	if _, ok := by.(*asked); ok {
		etag, keep = "", neverKept // whether the service speaks is known once it has
	}
	return route.Blob{
		ContentType: asWAV, ETag: etag, CacheControl: keep,
		Data: func(ctx context.Context) (wav []byte, err error) {
			if shared {
				wav, err = a.greetings.sound(ctx, etag, say)
			} else {
				wav, err = say(ctx)
			}
			return wav, asSpeechProblem(err, param)
		},
	}, nil
}

// previewer is what a preview is heard from.
func (a *API) previewer(ctx context.Context, c *route.Call, v voice.Voice, shared bool) (speaker.Speaker, error) {
	if shared || c.Principal == nil {
		return a.builtin(), nil
	}
	return a.speakerOf(ctx, c.Org(), v)
}

// audible is a voice that the caller may hear: a studio voice anybody, an own one its
// organization. To everybody else there is none.
func (a *API) audible(ctx context.Context, c *route.Call, p Path) (voice.Voice, error) {
	which, err := p.voice()
	if err != nil {
		return voice.Voice{}, err
	}
	if v, ok := voice.FindStudio(which); ok {
		return v, nil
	}
	if c.Principal == nil {
		return voice.Voice{}, problem.Missing("voice").WithParam("path.id")
	}
	return a.ready(ctx, c.Org(), which)
}

// ready is an own voice that can be heard.
func (a *API) ready(ctx context.Context, org id.Org, which id.Voice) (voice.Voice, error) {
	v, err := voice.Get(ctx, a.Tenants, org, which)
	if errdefs.IsGone(err, voice.Noun) {
		err = voice.Noun.NotFound(which)
	}
	if err != nil {
		return voice.Voice{}, err
	}
	return v, mustBeReady(v)
}
