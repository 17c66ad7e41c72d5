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
