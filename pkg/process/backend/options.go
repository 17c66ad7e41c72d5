package backend

import (
	"cmp"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/portals/portal"
)

// Options are the settings that every process has.
type Options struct {
	// DirectoryURL is the directory database's.
	DirectoryURL string
	// FilesURL is the bucket's, such as file:///var/lib/visavis/files.
	FilesURL string
	// PlansText is the plan catalogue in YAML.
	PlansText []byte
	// Rates replace the spec's numbers for this deployment.
	Rates rate.Rates
	// AllowAddresses are ranges that outgoing requests may reach although
	// they are not public; RootCAs are trusted by outgoing requests.
	AllowAddresses []netip.Prefix
	RootCAs        *x509.CertPool
	// MasterKeys seal stored secrets, the one to seal with first; without any,
	// one that the directory keeps.
	MasterKeys [][]byte
	// Shards are those that the process serves; every one that the directory has
	// unless given.
	Shards []string
	// SearchMemory is what the knowledge packs in memory take together, in bytes;
	// zero means a quarter of what the process may use.
	SearchMemory int64
	// Mail sends the letters; nil where the deployment sends none.
	Mail mail.Sender
	// InboundDomain is that of the addresses which visitors answer to, and InboundSecret proves the mail gateway that hands
	// what comes there over; empty where answers go to the sender.
	InboundDomain string
	InboundSecret []byte
	// PublicURL is where callers reach the API, without a path.
	PublicURL string
	// LiveURL is where clients reach the sockets of live conversations, without
	// a path; PublicURL, as ws or wss, unless given.
	LiveURL string
	// PortalURL is where the portals' pages are, without a path; PublicURL unless given.
	PortalURL string
	// MaxConns bounds the connections to each database.
	MaxConns int32
	Tracing  bool
	// HintAddr is where the process hears of what others committed for workers, HOST:PORT
	// (UDP), and HintTargets are who hears of what it commits. Alone says that there are no
	// other processes.
	HintAddr    string
	HintTargets []string
	Alone       bool
	// CheckAfter is database.PoolOptions.CheckAfter, for a process in which nobody waits for an
	// answer: what fails on a connection that is gone is done again.
	CheckAfter time.Duration

	Clock clock.WithTickerAndDelayedExecution
	Log   *slog.Logger
	// Resolver looks up what proves whose the portals' hosts are; nil believes
	// everybody, for deployments that are their operator's own.
	Resolver portal.Resolver
	// Metrics is where the figures are registered; nil keeps them to itself.
	Metrics *prometheus.Registry
}

// PageURL is where the portals' pages are.
func (o *Options) PageURL() string { return cmp.Or(o.PortalURL, o.PublicURL) }

// Links are where certificates can be seen.
func (o *Options) Links() certificate.Links {
	return certificate.Links{Pages: o.PageURL(), API: o.PublicURL}
}

// SocketURL is where clients reach the sockets of live conversations.
func (o *Options) SocketURL() string {
	if o.LiveURL != "" {
		return strings.TrimSuffix(o.LiveURL, "/")
	}
	return "ws" + strings.TrimPrefix(o.PublicURL, "http")
}
