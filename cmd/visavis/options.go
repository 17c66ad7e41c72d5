package main

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"

	"visavis.dev/api/server"
	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/process/backend"
	"visavis.dev/pkg/process/front"
	"visavis.dev/pkg/process/worker"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/visits/rtc"
)

// options are those of everything that a role may be composed of.
type options struct {
	backend backend.Options
	front   front.Options
	api     server.Options
	worker  worker.Options
	rtc     rtc.Options
}

// options reads the settings.
func (s *settings) options(log *slog.Logger) (o options, err error) {
	if s.pods < 1 || s.addressLimit < 1 {
		return o, errors.New("pods and address-limit must be at least 1")
	}
	if s.bodyBytes < 0 {
		return o, errors.New("body-bytes must not be negative")
	}
	o.front = front.Options{PerAddress: s.addressLimit, Pods: s.pods}
	o.api = server.Options{BodyBytes: s.bodyBytes, TemporaryFolder: s.temporaryDir, Version: version()}
	o.worker = worker.Options{DeliveryLease: s.deliveryLease, MoveRows: s.moveRows, MoveKeep: s.moveKeep, TemporaryFolder: s.temporaryDir}
	if o.worker.Tasks, err = s.chosen(); err != nil {
		return o, err
	}
	if o.worker.DeliveryLane, err = lane(s.dedicated); err != nil {
		return o, err
	}
	if o.front.TrustedProxies, err = prefixes("trusted-proxy", s.trustedProxies); err != nil {
		return o, err
	}
	if o.backend, err = s.backendOptions(log); err != nil {
		return o, err
	}
	o.rtc, err = s.rtcOptions(o.backend)
	return o, err
}

// rtcOptions reads the settings of WebRTC; without an address there is none.
func (s *settings) rtcOptions(b backend.Options) (rtc.Options, error) {
	o := rtc.Options{Addr: s.rtcAddr, Relays: rtc.Relays{URLs: s.iceServers}, Clock: b.Clock, Metrics: b.Metrics}
	for _, text := range s.rtcPublic {
		at, err := netip.ParseAddrPort(text)
		if err != nil {
			ip, err := netip.ParseAddr(text)
			if err != nil {
				return o, fmt.Errorf("rtc-public-address: %q is no IP address, with a port or without", text)
			}
			at = netip.AddrPortFrom(ip, 0)
		}
		o.Public = append(o.Public, at)
	}
	if s.turnSecret != "" {
		secret, err := os.ReadFile(s.turnSecret)
		if err != nil {
			return o, fmt.Errorf("turn-secret: %w", err)
		}
		o.Relays.Secret = bytes.TrimSpace(secret)
	}
	return o, o.Relays.Check()
}

// backendOptions reads the settings that every role has.
func (s *settings) backendOptions(log *slog.Logger) (backend.Options, error) {
	o := backend.Options{
		DirectoryURL: s.database, FilesURL: s.files, PlansText: config.Plans, PublicURL: s.publicURL, LiveURL: s.liveURL, PortalURL: s.portalURL,
		MaxConns: s.maxConns, Shards: s.shards, Tracing: s.otlpEndpoint != "", Clock: clock.RealClock{}, Log: log, Metrics: prometheus.NewRegistry(),
	}
	o.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	o.HintAddr, o.HintTargets = s.hintAddr, s.hintTargets
	if err := hint.CheckTargets(s.hintTargets); err != nil {
		return o, fmt.Errorf("hint-target: %w", err)
	}
	switch s.dnsProof {
	case "on":
		o.Resolver = net.DefaultResolver
	case "off", "": // roles that answer no callers prove nothing
	default:
		return o, fmt.Errorf("dns-proof: want on or off, not %q", s.dnsProof)
	}
	var err error
	if s.plans != "" {
		if o.PlansText, err = os.ReadFile(s.plans); err != nil {
			return o, fmt.Errorf("plans: %w", err)
		}
	}
	if o.SearchMemory, err = searchMemory(s.searchMemory); err != nil {
		return o, err
	}
	if o.Rates, err = rate.ParseRates(s.rates); err != nil {
		return o, err
	}
	if o.AllowAddresses, err = prefixes("allow-address", s.allowAddresses); err != nil {
		return o, err
	}
	if o.MasterKeys, err = masterKeys(s.masterKeys); err != nil {
		return o, err
	}
	if o.RootCAs, err = roots(s.trustCA); err != nil {
		return o, err
	}
	if o.InboundDomain, o.InboundSecret, err = s.inbound(); err != nil {
		return o, err
	}
	o.Mail, err = s.sender(o.RootCAs)
	return o, err
}

// domainName is one that mail goes to.
var domainName = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// leastSecret is how long the secret of a mail gateway is at least, in bytes.
const leastSecret = 16

// inbound is where visitors' answers come to, and the secret of who hands them over.
func (s *settings) inbound() (domain string, secret []byte, err error) {
	domain = strings.ToLower(strings.TrimSuffix(s.inboundDomain, "."))
	switch {
	case (domain == "") != (s.inboundSecret == ""):
		return "", nil, errors.New("inbound-domain and inbound-secret go together")
	case domain == "":
		return "", nil, nil
	case s.mailURL == "":
		return "", nil, errors.New("inbound-domain: nobody answers where no mail is sent, so mail-url is needed too")
	case len(domain) > 190 || !domainName.MatchString(domain):
		return "", nil, fmt.Errorf("inbound-domain: %q is no domain", s.inboundDomain)
	}
	text, err := os.ReadFile(s.inboundSecret)
	if err != nil {
		return "", nil, fmt.Errorf("inbound-secret: %w", err)
	}
	if secret = bytes.TrimSpace(text); len(secret) < leastSecret {
		return "", nil, fmt.Errorf("inbound-secret: it has fewer than %d characters", leastSecret)
	}
	return domain, secret, nil
}

// sender sends the deployment's mail; nil where it sends none.
func (s *settings) sender(roots *x509.CertPool) (mail.Sender, error) {
	if s.mailURL == "" {
		return nil, nil //nolint:nilnil // the deployment sends no mail
	}
	if s.portalURL == "" && s.publicURL == "" {
		return nil, fmt.Errorf("mail-url: mails have links to portals, so portal-url is needed too")
	}
	sender, err := mail.Open(s.mailURL, roots)
	if err != nil {
		return nil, fmt.Errorf("mail-url: %w", err)
	}
	return sender, nil
}

// searchMemory is a size in bytes; zero for the default.
func searchMemory(size string) (int64, error) {
	if size == "" {
		return 0, nil
	}
	q, err := resource.ParseQuantity(size)
	if err != nil || q.Value() < knowledge.MinSearchMemory {
		return 0, fmt.Errorf("search-memory: want a size such as 512Mi, of %dMi at least, not %q", knowledge.MinSearchMemory>>20, size)
	}
	return q.Value(), nil
}

// lane is the lane of deliveries of a webhook or an organization; zero for nobody's.
func lane(holder string) (int64, error) {
	if holder == "" {
		return 0, nil
	}
	if w, err := id.ParseWebhook(holder); err == nil && strings.HasPrefix(holder, "wh_") {
		return delivery.WebhookLane(w), nil
	}
	if org, err := id.ParseOrg(holder); err == nil && strings.HasPrefix(holder, "org_") {
		return delivery.OrganizationLane(org), nil
	}
	return 0, fmt.Errorf("dedicated: %q is the id of no webhook (wh_…) and no organization (org_…)", holder)
}

// masterKeys reads the keys of a file; nil without one.
func masterKeys(path string) ([][]byte, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("master-keys: %w", err)
	}
	keys, err := vault.ParseKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("master-keys: %w", err)
	}
	return keys, nil
}

func prefixes(setting string, texts []string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q is not a range such as 10.0.0.0/8", setting, text)
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// roots are the system's certificates and those of a file; nil without one.
func roots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("trust-ca: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("trust-ca: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("trust-ca: no certificate in %s", path)
	}
	return pool, nil
}

// folderURL is the bucket URL of a folder, which is made when it is missing.
func folderURL(folder string) (string, error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	return "file://" + filepath.ToSlash(abs) + "?create_dir=true&no_tmp_dir=true&metadata=skip", nil
}
