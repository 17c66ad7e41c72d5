package connection

import (
	"maps"
	"reflect"
	"slices"
	"time"
)

// Change is what to change of a connection; nil fields stay as they are.
type Change struct {
	Name      *string
	Config    *Config
	TimeoutMs *int64
	Fallback  *string
	// Enabled switches it off, or on again.
	Enabled *bool
	// Secret replaces the secret at once; Rotate lets the old one live on.
	Secret *Secret
}

// Apply answers the connection as a change makes it, and what became different,
// fit to be written down. The error is ErrSecretNeeded: a secret that was
// given for one address is not shown to another, whoever asks for it.
func (c Connection) Apply(ch Change, at time.Time) (Connection, map[string]any, error) {
	after, changes := c, map[string]any{}
	replace(&after.Name, ch.Name, "name", changes)
	replace(&after.TimeoutMs, ch.TimeoutMs, "timeoutMs", changes)
	replace(&after.Fallback, ch.Fallback, "fallback", changes)
	untested := false
	if ch.Config != nil {
		if names := c.Config.differences(*ch.Config); len(names) > 0 {
			after.Config, untested = *ch.Config, true
			if c.Config.BaseURL(c.Provider) != after.Config.BaseURL(c.Provider) {
				after.Discovered = nil // they are another server's
			}
			changes["config"] = names // the values can hold more than may be written down
		}
	}
	if ch.Secret != nil {
		after.SecretSet, after.SecretLast4, untested = true, ch.Secret.last4(), true
		changes["secret"] = "replaced"
	} else if c.SecretSet && !maps.Equal(c.secretGoesTo(), after.secretGoesTo()) {
		return c, nil, ErrSecretNeeded
	}
	if ch.Enabled != nil && *ch.Enabled == (c.State == Disabled) {
		changes["enabled"] = *ch.Enabled
		after.State, untested = Disabled, true
		if *ch.Enabled {
			after.State = Unverified
		}
	}
	if untested {
		after = after.reset(at)
	}
	if len(changes) > 0 {
		after.UpdatedAt = at
	}
	return after, changes, nil
}

// reset is the connection as one of which nothing is known yet.
func (c Connection) reset(at time.Time) Connection {
	c.SettledAt = at
	c.Health.ErrorCode, c.Health.Failures = "", 0
	if c.State != Disabled {
		c.State = Unverified
	}
	return c
}

func replace[T comparable](value, by *T, name string, changes map[string]any) {
	if by != nil && *by != *value {
		*value, changes[name] = *by, *by
	}
}

// differences are the names of the values that another config has otherwise.
func (c Config) differences(other Config) []string {
	all := maps.Clone(c)
	if all == nil {
		all = Config{}
	}
	maps.Copy(all, other)
	maps.DeleteFunc(all, func(name string, _ any) bool { return reflect.DeepEqual(c[name], other[name]) })
	return slices.Sorted(maps.Keys(all))
}
