package connection

import (
	"slices"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/provider/lti"
)

// Platform is the learning platform of a connection of that provider.
func (o Opened) Platform() lti.Platform {
	c := o.Config
	return lti.Platform{
		Issuer: c.Text("issuer"), ClientID: c.Text("clientId"), Deployments: c.Texts("deploymentIds"),
		AuthorizationURL: c.Text("authorizationUrl"), TokenURL: c.Text("tokenUrl"), TokenAudience: c.Text("tokenAudience"), KeysURL: c.Text("jwksUrl"),
	}
}

// FrameOrigins are of the pages that may show the portal of a learning platform in a frame.
func (o Opened) FrameOrigins() []string {
	p := o.Platform()
	all := slices.Concat(p.Origins(), o.Config.Texts("frameOrigins"))
	slices.Sort(all)
	return slices.Compact(all)
}

// Portal is where the people of a learning platform land; false for none.
func (c Config) Portal() (id.Portal, bool) {
	p, err := id.ParsePortal(c.Text("portalId"))
	return p, err == nil
}
