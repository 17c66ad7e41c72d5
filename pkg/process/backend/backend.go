// Package backend is what every process opens once, whatever its role: the directory and
// the shards, secrets, files, plans, and the way out to other servers.
package backend

import (
	"context"
	"fmt"
	"maps"
	"sync"

	"github.com/exaring/otelpgx"
	"github.com/prometheus/client_golang/prometheus"
	"gocloud.dev/blob"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/base/rate"
	"visavis.dev/pkg/base/vault"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/hiring/candidate"
	"visavis.dev/pkg/hiring/screening"
	"visavis.dev/pkg/learning/certificate"
	"visavis.dev/pkg/learning/mastery"
	"visavis.dev/pkg/learning/report"
	"visavis.dev/pkg/learning/result"
	"visavis.dev/pkg/operations/health"
	"visavis.dev/pkg/operations/move"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/personas/knowledge"
	"visavis.dev/pkg/portals/mailer"
	"visavis.dev/pkg/portals/portal"
	"visavis.dev/pkg/portals/portal/template"
	"visavis.dev/pkg/sessions/caselink"
	"visavis.dev/pkg/sessions/inbox"
	"visavis.dev/pkg/sessions/session"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/database"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/hint"
	"visavis.dev/pkg/store/organization"
	"visavis.dev/pkg/store/pershard"
	"visavis.dev/pkg/store/tenant"
)

// Backend is what a process opened.
type Backend struct {
	// Options are what it was opened with.
	Options   Options
	Directory *directory.Directory
	Tenants   *tenant.Tenants
	// Organizations remembers what organizations may have.
	Organizations *organization.Cache
	Keys          *apikey.Store
	Changes       *apikey.Changes
	Plans         *plan.Catalogue
	Files         *file.Store
	Health        *health.Checker
	Vault         *vault.Vault
	// Answers make the addresses that visitors answer to by mail; nil where the deployment takes none.
	Answers  *mailer.Answers
	Renderer *event.Renderer
	Egress   *egress.Guard
	// Hints tell workers of what is committed for them.
	Hints *hint.Hub
	// Registry finds certificates by their numbers.
	Registry *certificate.Registry
	// Addresses hands out the portals' addresses.
	Addresses *portal.Addresses
	// Library is the avatars that everybody has, and Gallery the portals' templates.
	Library *avatar.Library
	Gallery *template.Gallery

	// shards are all that there are, which everything that runs for each of them shares.
	shards *pershard.List
	bucket *blob.Bucket
	// sender and listener carry hints between processes; nil where nobody is told, or heard.
	sender   *hint.Sender
	listener *hint.Listener
}

// Open opens a backend. The directory must be there and at the current schema. After an
// error Open can be tried again with the same options.
func Open(ctx context.Context, o Options) (*Backend, error) {
	if o.Metrics == nil {
		o.Metrics = prometheus.NewRegistry()
	}
	o.Clock = kept{o.Clock}
	b := &Backend{Options: o, Library: avatar.NewLibrary()}
	if err := b.open(ctx); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *Backend) open(ctx context.Context) (err error) {
	o := b.Options
	if b.Plans, err = plan.Parse(o.PlansText, rate.SpecRates().With(o.Rates)); err != nil {
		return err
	}
	if b.Gallery, err = template.Load(); err != nil {
		return fmt.Errorf("the portals' templates: %w", err)
	}
	if err = b.openDatabases(); err != nil {
		return err
	}
	if b.bucket, err = blob.OpenBucket(ctx, o.FilesURL); err != nil {
		return fmt.Errorf("files at %s: %w", o.FilesURL, err)
	}
	b.Files = file.New(b.bucket, b.Tenants, o.Clock)
	b.Egress = egress.New(egress.Options{Allow: o.AllowAddresses, RootCAs: o.RootCAs})
	b.Renderer = &event.Renderer{Tenants: b.Tenants, Sources: session.Sources(b.Tenants)}
	maps.Copy(b.Renderer.Sources, inbox.Sources(b.Tenants, session.SpokenOf(b.Tenants)))
	maps.Copy(b.Renderer.Sources, result.Sources(b.Tenants))
	maps.Copy(b.Renderer.Sources, report.Sources(b.Tenants))
	maps.Copy(b.Renderer.Sources, mastery.Sources(b.Tenants, b.Options.Clock.Now))
	maps.Copy(b.Renderer.Sources, certificate.Sources(b.Tenants, o.Links()))
	maps.Copy(b.Renderer.Sources, candidate.Sources(b.Tenants, screening.Results(b.Tenants)))
	b.Renderer.Sources[event.CaseLinkOpened] = caselink.Summaries(b.Tenants)
	b.Renderer.Sources[event.KnowledgeGap] = knowledge.Questions(b.Tenants)
	if err = b.openVault(ctx); err != nil {
		return err
	}
	if err = b.openAnswers(ctx); err != nil {
		return err
	}
	if err = b.openAddresses(ctx); err != nil {
		return err
	}
	if err = b.openHints(ctx); err != nil {
		return err
	}
	// Last: a backend that does not come to be is opened again, with the same registry.
	o.Metrics.MustRegister(database.NewCollector(b.pools), health.NewCollector(b.Health), move.NewCollector(b.Directory, o.Clock))
	return nil
}

// openDatabases makes the pools. They connect when they are first used.
func (b *Backend) openDatabases() error {
	o := b.Options
	pool := database.PoolOptions{MaxConns: o.MaxConns, CheckAfter: o.CheckAfter}
	if o.Tracing {
		pool.Tracer = otelpgx.NewTracer()
	}
	db, err := database.Open(o.DirectoryURL, pool)
	if err != nil {
		return err
	}
	b.Directory = directory.New(db, directory.Options{Clock: o.Clock})
	b.shards = pershard.NewList(b.Directory.ShardNames, o.Clock)
	b.Tenants = tenant.New(b.Directory, pool)
	b.Organizations = organization.NewCache(b.Directory, b.Plans, o.Clock)
	b.Registry = &certificate.Registry{Directory: b.Directory, Tenants: b.Tenants, Name: b.name, Clock: o.Clock, Links: o.Links()}
	b.Keys = &apikey.Store{DB: db}
	b.Changes = &apikey.Changes{Store: b.Keys, Tenants: b.Tenants}
	b.Health = health.New(b.Directory, b.Tenants)
	return nil
}

// name is what an organization is called.
func (b *Backend) name(ctx context.Context, org id.Org) (string, error) {
	o, _, err := b.Organizations.Get(ctx, org)
	return o.Name, err
}

// openAnswers makes the addresses that visitors answer to, where the deployment takes mail.
func (b *Backend) openAnswers(ctx context.Context) error {
	if b.Options.InboundDomain == "" {
		return nil
	}
	key, err := b.Secret(ctx, "answers", vault.NewKey)
	if err == nil {
		b.Answers = &mailer.Answers{Domain: b.Options.InboundDomain, Key: key}
	}
	return err
}

// openVault makes the vault of the operator's keys or of the directory's own.
func (b *Backend) openVault(ctx context.Context) (err error) {
	keys := b.Options.MasterKeys
	if len(keys) == 0 {
		key, err := b.Secret(ctx, "vault", vault.NewKey)
		if err != nil {
			return err
		}
		keys = [][]byte{key}
	}
	b.Vault, err = vault.New(keys...)
	b.Registry.Vault = b.Vault
	return err
}

// openAddresses makes what hands out the portals' addresses.
func (b *Backend) openAddresses(ctx context.Context) error {
	o := b.Options
	b.Addresses = &portal.Addresses{Directory: b.Directory, Tenants: b.Tenants, Clock: o.Clock}
	if o.Resolver == nil {
		return nil
	}
	secret, err := b.Secret(ctx, "hosts", vault.NewKey)
	if err != nil {
		return err
	}
	b.Addresses.Proof = &portal.Prover{Secret: secret, Resolver: o.Resolver}
	return nil
}

// Secret is a secret of the deployment that all its processes share, which the first that
// asks for it makes.
func (b *Backend) Secret(ctx context.Context, name string, fresh func() []byte) ([]byte, error) {
	secret, err := b.Directory.Secret(ctx, name, fresh)
	if err != nil {
		return nil, fmt.Errorf("the directory's secrets: %w", err)
	}
	return secret, nil
}

// Close closes what Open opened, as far as it got.
func (b *Backend) Close() {
	b.closeHints()
	if b.Tenants != nil {
		var group sync.WaitGroup
		group.Go(b.Tenants.Close)
		group.Go(b.Directory.DB.Close)
		group.Wait()
	}
	if b.bucket != nil {
		_ = b.bucket.Close()
	}
}

// pools are the databases that have been used so far: the directory and shards.
func (b *Backend) pools() map[string]*database.DB {
	opened := b.Tenants.Opened()
	opened["directory"] = b.Directory.DB
	return opened
}

// ShardNames lists the shards that the process serves.
func (b *Backend) ShardNames(ctx context.Context) ([]string, error) {
	if len(b.Options.Shards) > 0 {
		return b.Options.Shards, nil
	}
	return b.shards.Names(ctx)
}
