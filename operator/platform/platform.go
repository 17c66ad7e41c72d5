// Package platform is what the rules of every kind of resource work with: the
// platform's databases, what opens their secrets, and what the deployment is set to.
// The command that runs the operator fills it in; a package of rules takes from it the
// fields it needs.
package platform

import (
	"log/slog"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

// Platform is one deployment, as the operator sees it.
type Platform struct {
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	Keys      *apikey.Store
	Changes   *apikey.Changes
	Catalogue *plan.Catalogue
	Vault     *vault.Vault
	Egress    *egress.Guard
	Files     *file.Store
	Library   *avatar.Library
	Gallery   *template.Gallery
	Addresses *portal.Addresses

	Clock clock.WithTickerAndDelayedExecution
	Log   *slog.Logger

	// Namespace is the operator's own: pods and the Secrets of shards are there.
	Namespace string
	// Serves are further namespaces whose resources are brought about, beside its own, or
	// resource.EveryNamespace. The operator reads and writes Secrets in no others.
	Serves []string
	// Instance is the name of the deployment, the label app.kubernetes.io/instance of
	// everything that belongs to it.
	Instance string
	// PodConfig is the name of the ConfigMap with the templates of pods.
	PodConfig string
	// IngressClass is the class of the Ingresses that are made; empty for the cluster's default.
	IngressClass string
	// PublicURL is where callers reach the API, PortalURL where the portals' pages are,
	// and LiveURL where the sockets are; each without a path.
	PublicURL, PortalURL, LiveURL string
}
