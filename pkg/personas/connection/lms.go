package connection

import (
	"slices"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/lti"
	"visavis.dev/pkg/provider/xapi"
)

// Platform is the learning platform of a connection of that provider.
func (o Opened) Platform() lti.Platform {
	c := o.Config
	return lti.Platform{
		Issuer: c.Text("issuer"), ClientID: c.Text("clientId"), Deployments: c.Texts("deploymentIds"),
		AuthorizationURL: c.Text("authorizationUrl"), TokenURL: c.Text("tokenUrl"), TokenAudience: c.Text("tokenAudience"), KeysURL: c.Text("jwksUrl"),
	}
}

// maxRecordStore bounds the answer of a record store, in bytes.
const maxRecordStore = 1 << 20

// RecordStore is the learning record store of a connection of provider xapi.
func (o Opened) RecordStore(g *egress.Guard, secret string) xapi.Store {
	version := o.Config.Text("version")
	if version == "" {
		version = xapi.V1
	}
	return xapi.Store{
		HTTP: o.Kind.Guard(g).ClientWithin(o.Timeout(), maxRecordStore), Endpoint: o.Config.BaseURL(o.Provider), Version: version, Key: secret,
	}
}

// FrameOrigins are of the pages that may show the portal of a learning platform in a frame: those
// that are named, or else the platform's own. Those of a service that many schools share are not
// for all of its pages to use where the school names its own.
func (o Opened) FrameOrigins() []string {
	all := o.Config.Texts("frameOrigins")
	if len(all) == 0 {
		p := o.Platform()
		all = p.Origins()
	}
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// Portal is where the people of a learning platform land; false for none.
func (c Config) Portal() (id.Portal, bool) {
	p, err := id.ParsePortal(c.Text("portalId"))
	return p, err == nil
}
