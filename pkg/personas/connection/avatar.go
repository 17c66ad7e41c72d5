package connection

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/beyondpresence"
)

// Face is a face as a connection of kind Avatar may name it.
type Face struct {
	// ID is the avatar's, Key a library face's name in lower case, and Gender female or male.
	ID, Key, Gender string
	// Own says that it is nobody's of the library: it is rendered only where it is named itself, lest somebody else's face stand
	// for it.
	Own bool
}

// AvatarOf is the name at the service of a face; empty where none is rendered for it.
func (c Config) AvatarOf(f Face) string {
	names, _ := c["avatarMap"].(map[string]any)
	if f.Own {
		name, _ := names[f.ID].(string)
		return name
	}
	for _, of := range []string{f.ID, f.Key, f.Gender} {
		if name, _ := names[of].(string); name != "" {
			return name
		}
	}
	return c.Text("avatar")
}

// avatars are the names at the service that the config has, each once.
func (c Config) avatars() []string {
	names, _ := c["avatarMap"].(map[string]any)
	var all []string
	for _, name := range append(slices.Collect(maps.Values(names)), c["avatar"]) {
		if text, is := name.(string); is && text != "" {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Render has a face of a connection of kind Avatar rendered in a room of a media server, into which a token lets it. It
// is not repeated. The error is an upstream.Error or context.Canceled.
func (o Opened) Render(ctx context.Context, g *egress.Guard, avatar, server, token string) error {
	client := g.ClientWithin(o.Timeout(), maxAvatar)
	return o.WithSecret(func(secret string) error {
		_, err := beyondpresence.Client{HTTP: client, BaseURL: o.Config.BaseURL(o.Provider), Key: secret}.Start(ctx, avatar, server, token)
		return err
	})
}

// maxAvatar bounds an answer of a service that renders, in bytes.
const maxAvatar = 64 << 10

// triedAvatars is how many avatars of a config are asked for when it is tested: somebody waits for it.
const triedAvatars = 10

// tryAvatars asks for the avatars of the config. It renders none, which would cost.
func (o Opened) tryAvatars(ctx context.Context, client *http.Client, secret string) error {
	service := beyondpresence.Client{HTTP: client, BaseURL: o.Config.BaseURL(o.Provider), Key: secret}
	all := o.Config.avatars()
	for _, name := range all[:min(len(all), triedAvatars)] {
		if err := service.Check(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// checkAvatars says whether a config names an avatar at all.
func (c Config) checkAvatars() error {
	if len(c.avatars()) == 0 {
		return &ConfigError{"avatar", "is missing, and so is avatarMap: one of them says what is rendered"}
	}
	return nil
}
