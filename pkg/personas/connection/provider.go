package connection

import (
	"bytes"
	_ "embed" // the providers' forms
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/provider/ashby"
	"visavis.dev/pkg/provider/beyondpresence"
	"visavis.dev/pkg/provider/deepgram"
	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/googlecalendar"
	"visavis.dev/pkg/provider/greenhouse"
	"visavis.dev/pkg/provider/hubspot"
)

// Provider is who offers a service, or the protocol it speaks.
type Provider string

// The providers.
const (
	OpenAICompatible Provider = "openai_compatible"
	ElevenLabs       Provider = "elevenlabs"
	Deepgram         Provider = "deepgram"
	BeyondPresence   Provider = "beyond_presence"
	LiveKit          Provider = "livekit"
	OIDC             Provider = "oidc"
	// HTTPAPI is any system that takes requests with JSON.
	HTTPAPI Provider = "http"
	HubSpot Provider = "hubspot"
	// Greenhouse and Ashby are spoken to as their assessment partner.
	Greenhouse Provider = "greenhouse"
	Ashby      Provider = "ashby"
	// LTI is any learning platform that launches tools by LTI 1.3.
	LTI Provider = "lti"
	// XAPI is any learning record store.
	XAPI Provider = "xapi"
	// Slack and Teams are posted to by incoming webhooks.
	Slack   Provider = "slack"
	Teams   Provider = "teams"
	Zendesk Provider = "zendesk"
	// MCPServer is any server of the Model Context Protocol.
	MCPServer Provider = "mcp"
	// CalDAV is any calendar server, and GoogleCalendar Google's.
	CalDAV         Provider = "caldav"
	GoogleCalendar Provider = "google_calendar"
)

// Offer is what can be connected: a provider for a kind.
type Offer struct {
	Kind     Kind     `json:"kind"`
	Provider Provider `json:"provider"`
	Name     string   `json:"name"`
	// Secret says what the secret is; SecretRequired that there must be one.
	Secret         string `json:"secret"`
	SecretRequired bool   `json:"secretRequired"`
	// Clones says that voices can be made with it.
	Clones bool `json:"clones"`
	// Schema is the JSON Schema of the config.
	Schema json.RawMessage `json:"schema"`

	compiled *jsonschema.Schema
}

//go:embed offers.json
var offersJSON []byte

// offers panics where the program's own file is wrong. They are read when they are first asked for.
var offers = sync.OnceValue(func() []Offer {
	var all []Offer
	if err := json.Unmarshal(offersJSON, &all); err != nil {
		panic(err)
	}
	for i := range all {
		o := &all[i]
		schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(o.Schema))
		if err != nil {
			panic(err)
		}
		name := fmt.Sprintf("%s-%s.json", o.Provider, o.Kind)
		c := jsonschema.NewCompiler()
		if err := c.AddResource(name, schema); err != nil {
			panic(err)
		}
		o.compiled = c.MustCompile(name)
	}
	return all
})

// Offers lists what can be connected.
func Offers() []Offer { return slices.Clone(offers()) }

// FindOffer finds what a provider offers for a kind.
func FindOffer(k Kind, p Provider) (Offer, bool) {
	all := offers()
	i := slices.IndexFunc(all, func(o Offer) bool { return o.Kind == k && o.Provider == p })
	if i < 0 {
		return Offer{}, false
	}
	return all[i], true
}

// Config is what a provider needs to know besides the secret.
type Config map[string]any

// Text is a value that is a text; empty when it is missing.
func (c Config) Text(name string) string {
	text, _ := c[name].(string)
	return text
}

// Texts is a value that is a list of texts.
func (c Config) Texts(name string) []string {
	list, _ := c[name].([]any)
	var texts []string
	for _, each := range list {
		if text, ok := each.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// Number is a whole number; 0 when it is missing.
func (c Config) Number(name string) int {
	number, _ := c[name].(float64)
	return int(number)
}

// On is a value that is yes or no.
func (c Config) On(name string) bool {
	on, _ := c[name].(bool)
	return on
}

// BaseURL is where a provider's service is asked over HTTP.
func (c Config) BaseURL(p Provider) string {
	if base := c.Text("baseUrl"); base != "" {
		return strings.TrimSuffix(base, "/")
	}
	switch p {
	case ElevenLabs:
		return elevenlabs.DefaultURL
	case Deepgram:
		return deepgram.DefaultURL
	case BeyondPresence:
		return beyondpresence.DefaultURL
	case HubSpot:
		return hubspot.DefaultURL
	case Greenhouse:
		return greenhouse.DefaultURL
	case Ashby:
		return ashby.DefaultURL
	case GoogleCalendar:
		return googlecalendar.DefaultURL
	case OIDC:
		return c.Text("issuer")
	case LTI:
		return c.Text("jwksUrl")
	case LiveKit:
		return strings.Replace(strings.TrimSuffix(c.Text("url"), "/"), "wss://", "https://", 1)
	}
	return ""
}

// Guard is the guard by which a connection of a kind is reached: a model's server, and what
// speaks, recognizes speech or embeds, may stand beside this one, without TLS, where the operator
// allows its address.
func (k Kind) Guard(g *egress.Guard) *egress.Guard {
	if k == Model || k == Speech || k == Recognition || k == Embedding {
		return g.Beside()
	}
	return g
}

// AddressField is the name of the value that holds the address.
func (p Provider) AddressField() string {
	switch p {
	case LiveKit:
		return "url"
	case OIDC:
		return "issuer"
	case LTI:
		return "jwksUrl"
	}
	return "baseUrl"
}

// Addresses are what of a config is asked over HTTP, by the names of the values.
func (c Config) Addresses(p Provider) map[string]string {
	if p == Slack || p == Teams {
		return nil // their secret is the address
	}
	all := map[string]string{p.AddressField(): c.BaseURL(p)}
	switch p {
	case LTI:
		all["tokenUrl"] = c.Text("tokenUrl")
	case GoogleCalendar:
		all["tokenUrl"] = c.tokenURL()
	}
	return all
}

// ConfigError says which value of a config is wrong.
type ConfigError struct {
	// Path is the value's place, such as baseUrl; empty for the config itself.
	Path string
	// Message is a clause about it.
	Message string
}

func (e *ConfigError) Error() string { return e.Path + ": " + e.Message }

// Check says whether a config is of the offer's form. The error is a
// ConfigError.
func (o Offer) Check(c Config) error {
	err := o.compiled.Validate(map[string]any(c))
	if err == nil {
		return o.checkTools(c)
	}
	e, ok := err.(*jsonschema.ValidationError) //nolint:errorlint // the library wraps nothing
	if !ok {
		return err
	}
	for len(e.Causes) > 0 {
		e = e.Causes[0]
	}
	path := slices.Clone(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		return &ConfigError{strings.Join(append(path, k.Missing[0]), "."), "is missing"}
	case *kind.AdditionalProperties:
		return &ConfigError{strings.Join(append(path, k.Properties[0]), "."), "is not known to this provider"}
	}
	return &ConfigError{strings.Join(path, "."), e.ErrorKind.LocalizedString(english)}
}

// checkTools says whether the tools of a config can be offered to a model. A request with one
// of these headers would be made again where a connection breaks.
func (o Offer) checkTools(c Config) (err error) {
	switch http.CanonicalHeaderKey(c.Text("secretHeader")) {
	case "Idempotency-Key", "X-Idempotency-Key":
		return &ConfigError{"secretHeader", "is the header of a request's key, and no place for a secret"}
	}
	switch o.Kind {
	case HTTP:
		_, err = c.HTTPTools()
	case MCP:
		_, err = c.MCPTools()
	case CRM:
		if err = c.checkProperties(); err == nil {
			err = c.checkValues()
		}
	case ATS:
		err = c.checkApplicants()
	case Chat, Helpdesk:
		err = c.checkItems()
	case Calendar:
		err = c.checkCalendar(o.Provider)
	case Avatar:
		err = c.checkAvatars()
	}
	return err
}

// checkProperties says whether each field of a CRM's contact is written to a property of its own,
// which is not the address that the contact is found by.
func (c Config) checkProperties() error {
	mapping, _ := c["properties"].(map[string]any)
	taken := map[any]bool{"email": true}
	for _, field := range slices.Sorted(maps.Keys(mapping)) {
		if taken[mapping[field]] {
			return &ConfigError{"properties." + field, fmt.Sprintf("is written to %v, which is written already", mapping[field])}
		}
		taken[mapping[field]] = true
	}
	return nil
}

// checkValues says whether the values of a field are of one that is written, and each stands for one of the item's.
func (c Config) checkValues() error {
	mapping, _ := c["properties"].(map[string]any)
	all, _ := c["values"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(all)) {
		if mapping[field] == nil {
			return &ConfigError{"values." + field, "is of a field that properties does not name"}
		}
		of, _ := all[field].(map[string]any)
		taken := map[string]bool{}
		for _, value := range slices.Sorted(maps.Keys(of)) {
			for _, theirs := range Config(of).Texts(value) {
				if taken[theirs] {
					return &ConfigError{"values." + field + "." + value, fmt.Sprintf("names %s, which stands for another value already", theirs)}
				}
				taken[theirs] = true
			}
		}
	}
	return nil
}

var english = message.NewPrinter(language.English)
