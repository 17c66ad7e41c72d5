package main

import (
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/clock"

	"visavis.dev/api/server"
	"visavis.dev/config"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/mail"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/telemetry"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/delivery"
	"visavis.dev/pkg/personas/knowledge"
)

// settings are what the roles that serve have in common.
type settings struct {
	addr, adminAddr string
	database        string
	publicURL       string
	liveURL         string
	portalURL       string
	dnsProof        string
	mailURL         string
	advertise       string
	files           string
	plans           string
	rates           string
	addressLimit    int64
	pods            int64
	trustedProxies  []string
	allowAddresses  []string
	trustCA         string
	masterKeys      string
	deliveryLease   time.Duration
	moveRows        int
	moveKeep        time.Duration
	dedicated       string
	tasks           []string
	shards          []string
	maxConns        int32
	bodyBytes       int64
	temporaryDir    string
	searchMemory    string
	// front listens already, where an address was taken before anything else was done.
	front        net.Listener
	drain        time.Duration
	logFormat    string
	logLevel     string
	otlpEndpoint string
}

const preferredAdminAddr = "127.0.0.1:8081"

func (s *settings) directoryFlag(f *pflag.FlagSet) {
	f.StringVar(&s.database, "database", "", "`URL` of the directory database (postgres://…)")
}

func (s *settings) logging(f *pflag.FlagSet, format string) {
	f.StringVar(&s.logFormat, "log-format", format, "json or text")
	f.StringVar(&s.logLevel, "log-level", "info", "debug, info, warn or error")
}

// serving defines the settings of every role that serves.
func (s *settings) serving(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", "127.0.0.1:8080", "`ADDRESS` the API listens on")
	s.urls(f)
	f.StringVar(&s.rates, "rates", "", "requests a minute as `CLASS=PER_KEY/PER_ORGANIZATION,…` where they differ from the defaults")
	f.Int64Var(&s.addressLimit, "address-limit", rate.SpecPerAddress, "requests a minute from one address, whatever the key")
	f.Int64Var(&s.pods, "pods", 4, "about how many API processes share the limits")
	f.Int64Var(&s.bodyBytes, "body-bytes", 0, "bytes that the bodies of requests under way may take together, past which the API answers 503 (a quarter of the memory limit unless given)")
	f.StringVar(&s.temporaryDir, "temporary-dir", "", "`FOLDER` for large bodies of requests under way (the system's unless given)")
	f.StringSliceVar(&s.trustedProxies, "trusted-proxy", nil, "range (`CIDR`) whose X-Forwarded-For is believed; repeatable")
	s.running(f)
}

// urls defines where callers, clients and people reach the platform.
func (s *settings) urls(f *pflag.FlagSet) {
	f.StringVar(&s.publicURL, "public-url", "", "`URL` that callers reach the API at, without a path (http:// and addr unless given)")
	f.StringVar(&s.dnsProof, "dns-proof", "on", "on, or off to believe everybody whose a portal's host is, in a deployment of one's own")
	f.StringVar(&s.liveURL, "live-url", "", "`URL` that clients reach the sockets of live conversations at, ws:// or wss:// without a path (as public-url unless given)")
}

// talking defines the settings of every role that holds live conversations.
func (s *settings) talking(f *pflag.FlagSet) {
	f.StringVar(&s.advertise, "advertise", "", "`HOST:PORT` where other processes reach this one's sockets (addr unless given)")
}

// running defines the settings of every role that runs until it is told to stop.
func (s *settings) running(f *pflag.FlagSet) {
	f.StringSliceVar(&s.allowAddresses, "allow-address", nil, "range (`CIDR`) that outgoing requests may reach although it is not public, those to models over http:// too; repeatable")
	f.StringVar(&s.trustCA, "trust-ca", "", "PEM `FILE` of certificates that outgoing requests trust beside the system's")
	f.StringVar(&s.portalURL, "portal-url", "", "`URL` that the portals' pages are at, without a path (as public-url unless given)")
	f.StringVar(&s.mailURL, "mail-url", "", "`URL` of the mail server: smtp://user:password@host:587?from=name@example.com, or smtps://; STARTTLS is required unless it says &tls=off (no mail is sent unless given)")
	f.StringVar(&s.masterKeys, "master-keys", "", "`FILE` of the keys that seal stored secrets, 32 bytes in base64 a line: the first seals, all open (a key in the directory unless given)")
	f.StringVar(&s.adminAddr, "admin-addr", "", "`ADDRESS` for metrics, profiles, /livez and /readyz ("+preferredAdminAddr+", or a free port where that is taken)")
	f.StringVar(&s.plans, "plans", "", "YAML `FILE` of the plans (built-in plans unless given)")
	f.Int32Var(&s.maxConns, "max-conns", 16, "connections to each database at most")
	f.StringVar(&s.searchMemory, "search-memory", "", "`SIZE`, such as 512Mi, of what the knowledge packs in memory take together (a quarter of the process's memory limit, or 256Mi, unless given)")
	f.DurationVar(&s.drain, "drain", 20*time.Second, "how long requests under way may take after SIGTERM")
	f.StringVar(&s.otlpEndpoint, "otlp-endpoint", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "`URL` of an OpenTelemetry collector to send traces to")
}

// working defines the settings of every role that delivers.
func (s *settings) working(f *pflag.FlagSet) {
	f.DurationVar(&s.deliveryLease, "delivery-lease", 10*time.Second, "how long a worker's deliveries stay its own after it fell silent")
	f.IntVar(&s.moveRows, "move-rows", 5000, "rows a second that moving an organization to another shard reads at most")
	f.DurationVar(&s.moveKeep, "move-keep", 6*time.Hour, "how long what an organization left on its old shard is kept")
}

func (s *settings) bucket(f *pflag.FlagSet) {
	f.StringVar(&s.files, "files", "", "`URL` of the bucket for files: file:///folder, s3://…, gs://…, azblob://…")
}

// everySetting defines every setting of every role.
func everySetting() *pflag.FlagSet {
	f := pflag.NewFlagSet("visavis", pflag.ContinueOnError)
	f.String(configFlag, "", "YAML FILE with settings, named as the flags are")
	var d devSettings
	d.define(f)
	d.bucket(f)
	new(operatorSettings).define(f)
	return f
}

// taskNames are the worker's tasks.
var taskNames = []string{"deliver", "jobs", "read"}

// chosen are the tasks that the setting names; all of them where it names none.
func (s *settings) chosen() (server.Tasks, error) {
	if len(s.tasks) == 0 {
		return server.EveryTask(), nil
	}
	var t server.Tasks
	for _, name := range s.tasks {
		switch name {
		case "deliver":
			t.Deliver = true
		case "jobs":
			t.Jobs = true
		case "read":
			t.Read = true
		default:
			return t, fmt.Errorf("tasks: %q is none of %s", name, strings.Join(taskNames, ", "))
		}
	}
	return t, nil
}

// logger writes to standard error; flush writes the last lines.
func (s *settings) logger() (log *slog.Logger, flush func(), err error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(s.logLevel)); err != nil {
		return nil, nil, fmt.Errorf("log-level %q: want debug, info, warn or error", s.logLevel)
	}
	lines := telemetry.NewBuffer(os.Stderr)
	log, err = telemetry.NewLogger(lines, s.logFormat, level)
	return log, func() { _ = lines.Flush() }, err
}

// options are the server's.
func (s *settings) options(log *slog.Logger) (server.Options, error) {
	o := server.Options{
		DirectoryURL: s.database, FilesURL: s.files, PlansText: config.Plans, PerAddress: s.addressLimit,
		Pods: s.pods, PublicURL: s.publicURL, LiveURL: s.liveURL, PortalURL: s.portalURL, MaxConns: s.maxConns, BodyBytes: s.bodyBytes, TemporaryFolder: s.temporaryDir, DeliveryLease: s.deliveryLease, MoveRows: s.moveRows, MoveKeep: s.moveKeep, Shards: s.shards, Tracing: s.otlpEndpoint != "", Version: version(),
		Clock: clock.RealClock{}, Log: log, Metrics: prometheus.NewRegistry(),
	}
	o.Metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if s.pods < 1 || s.addressLimit < 1 {
		return o, fmt.Errorf("pods and address-limit must be at least 1")
	}
	if s.bodyBytes < 0 {
		return o, fmt.Errorf("body-bytes must not be negative")
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
	if o.DeliveryLane, err = lane(s.dedicated); err != nil {
		return o, err
	}
	if o.Rates, err = rate.ParseRates(s.rates); err != nil {
		return o, err
	}
	if o.TrustedProxies, err = prefixes("trusted-proxy", s.trustedProxies); err != nil {
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
	o.Mail, err = s.sender(o.RootCAs)
	return o, err
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
