package main

import (
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/telemetry"
	"visavis.dev/pkg/process/worker"
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
	inboundDomain   string
	inboundSecret   string
	advertise       string
	rtcAddr         string
	rtcPublic       []string
	iceServers      []string
	turnSecret      string
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
	hintAddr        string
	hintTargets     []string
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
	f.StringVar(&s.rtcAddr, "rtc-addr", "", "`HOST:PORT` (UDP) where browsers connect over WebRTC; all conversations share it (no WebRTC unless given)")
	f.StringSliceVar(&s.rtcPublic, "rtc-public-address", nil, "`IP` or IP:PORT at which browsers reach rtc-addr, where that is behind NAT or a service; repeatable (the addresses of the machine unless given)")
	f.StringSliceVar(&s.iceServers, "ice-server", nil, "`URL` of a STUN or TURN server that browsers are told of: stun:, turn: or turns:HOST:PORT; those of TURN need --turn-secret; repeatable")
	f.StringVar(&s.turnSecret, "turn-secret", "", "`FILE` of the secret that TURN servers share with us, by which browsers get credentials for an hour (none unless given)")
}

// running defines the settings of every role that runs until it is told to stop.
func (s *settings) running(f *pflag.FlagSet) {
	f.StringSliceVar(&s.allowAddresses, "allow-address", nil, "range (`CIDR`) that outgoing requests may reach although it is not public, those to models over http:// too; repeatable")
	f.StringVar(&s.trustCA, "trust-ca", "", "PEM `FILE` of certificates that outgoing requests trust beside the system's")
	f.StringVar(&s.portalURL, "portal-url", "", "`URL` that the portals' pages are at, without a path (as public-url unless given)")
	f.StringVar(&s.mailURL, "mail-url", "", "`URL` of the mail server: smtp://user:password@host:587?from=name@example.com, or smtps://; STARTTLS is required unless it says &tls=off (no mail is sent unless given)")
	f.StringVar(&s.inboundDomain, "inbound-domain", "", "`DOMAIN` whose mail your gateway hands over, so that visitors' answers come back to the inbox (they go to the sender unless given)")
	f.StringVar(&s.inboundSecret, "inbound-secret", "", "`FILE` of the secret by which the mail gateway proves who it is, of 16 characters at least; goes with inbound-domain")
	f.StringVar(&s.masterKeys, "master-keys", "", "`FILE` of the keys that seal stored secrets, 32 bytes in base64 a line: the first seals, all open (a key in the directory unless given)")
	f.StringVar(&s.adminAddr, "admin-addr", "", "`ADDRESS` for metrics, profiles, /livez and /readyz ("+preferredAdminAddr+", or a free port where that is taken)")
	f.StringVar(&s.plans, "plans", "", "YAML `FILE` of the plans (built-in plans unless given)")
	f.StringVar(&s.temporaryDir, "temporary-dir", "", "`FOLDER` for large bodies of requests under way, and recordings that are joined (the system's unless given)")
	f.Int32Var(&s.maxConns, "max-conns", 16, "connections to each database at most")
	f.StringVar(&s.searchMemory, "search-memory", "", "`SIZE`, such as 512Mi, of what the knowledge packs in memory take together (a quarter of the process's memory limit, or 256Mi, unless given)")
	f.StringSliceVar(&s.hintTargets, "hint-target", nil, "`HOST:PORT` (UDP) where workers hear of what this process commits for them, on every address of the host; repeatable (they look for it unless given)")
	f.DurationVar(&s.drain, "drain", 20*time.Second, "how long requests under way may take after SIGTERM")
	f.StringVar(&s.otlpEndpoint, "otlp-endpoint", os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), "`URL` of an OpenTelemetry collector to send traces to")
}

// working defines the settings of every role that delivers.
func (s *settings) working(f *pflag.FlagSet) {
	f.DurationVar(&s.deliveryLease, "delivery-lease", 10*time.Second, "how long a worker's deliveries stay its own after it fell silent")
	f.StringVar(&s.hintAddr, "hint-addr", "", "`ADDRESS` (UDP) to hear on what other processes commit for workers, all of which must name it as a hint-target: the worker then looks rarely by itself (it looks all the time unless given)")
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
func (s *settings) chosen() (worker.Tasks, error) {
	if len(s.tasks) == 0 {
		return worker.EveryTask(), nil
	}
	var t worker.Tasks
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
