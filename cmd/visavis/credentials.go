package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"visavis.dev/pkg/base/contract"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/usage"
	"visavis.dev/pkg/store/apikey"
	"visavis.dev/pkg/store/directory"
	"visavis.dev/pkg/store/organization"
)

// credentials is what dev writes for its user: two organizations and their keys.
type credentials struct {
	BaseURL       string            `json:"baseUrl"`
	Organizations []devOrganization `json:"organizations"`
	// Sample says that the sample portal was made.
	Sample bool `json:"sample,omitempty"`
}

type devOrganization struct {
	ID    id.Org  `json:"id"`
	Name  string  `json:"name"`
	Shard string  `json:"shard"`
	Keys  devKeys `json:"keys"`
}

type devKeys struct {
	New     apikey.Secret `json:"2026-10-01"`
	Old     apikey.Secret `json:"2026-07-08"`
	Limited apikey.Secret `json:"limited"`
	// Test starts sandbox sessions, which cost no minutes.
	Test apikey.Secret `json:"test"`
}

const (
	// credentialsFile is in the data directory.
	credentialsFile = "credentials.json"

	devPlan    = "business"
	devMinutes = 1000
)

// credentials reads or makes the credentials, and sees to it that the
// databases know them. The file is written first: a start that breaks off in
// between is completed by the next one with the same secrets.
func (d *devSettings) credentials(ctx context.Context, p *process) (*credentials, error) {
	path := d.credentialsPath()
	c, err := readCredentials(path)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = d.newCredentials()
	}
	c.addTestKeys()
	c.BaseURL = d.publicURL + "/v1"
	if err := c.write(path); err != nil {
		return nil, err
	}
	for _, o := range c.Organizations {
		if err := o.ensure(ctx, p); err != nil {
			return nil, fmt.Errorf("organization %s: %w", o.Name, err)
		}
	}
	return c, nil
}

func (d *devSettings) credentialsPath() string { return filepath.Join(d.dataDir, credentialsFile) }

func readCredentials(path string) (*credentials, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var c credentials
	if err := json.Unmarshal(text, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &c, nil
}

func (d *devSettings) newCredentials() *credentials {
	var c credentials
	for i, name := range []string{"Acme Academy", "Globex Support"} {
		c.Organizations = append(c.Organizations, devOrganization{
			ID: id.NewOrg(), Name: name, Shard: shardName(i%d.shards + 1),
			Keys: devKeys{New: apikey.NewSecret(apikey.Live), Old: apikey.NewSecret(apikey.Live), Limited: apikey.NewSecret(apikey.Live)},
		})
	}
	return &c
}

// addTestKeys makes the keys that an earlier version's file lacks.
func (c *credentials) addTestKeys() {
	for i := range c.Organizations {
		if k := &c.Organizations[i].Keys; k.Test == "" {
			k.Test = apikey.NewSecret(apikey.Test)
		}
	}
}

func (c *credentials) write(path string) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	return writePrivate(path, append(text, '\n'))
}

// ensure makes the organization and its keys where they are missing.
func (o devOrganization) ensure(ctx context.Context, p *process) error {
	now := time.Now().UTC().Truncate(time.Microsecond)
	if err := organization.Create(ctx, p.parts.backend.Directory, p.parts.backend.Tenants, directory.Organization{
		ID: o.ID, Name: o.Name, Slug: organization.Slug(o.Name), Region: "eu", Timezone: "UTC", Shard: o.Shard,
		Epoch: 1, Plan: devPlan, CreatedAt: now,
	}); err != nil {
		return err
	}
	for _, k := range o.keys(now) {
		hash := k.secret.Hash()
		if err := p.parts.backend.Keys.Insert(ctx, k.key, hash); err != nil {
			return err
		}
	}
	// The grant follows from the organization, so that it is given once.
	return usage.GrantMinutes(ctx, p.parts.backend.Tenants, o.ID, uuid.UUID(o.ID), devMinutes, now, nil)
}

type devKey struct {
	key    apikey.Key
	secret apikey.Secret
}

// keys are the four keys. Those with full access may manage keys besides, as
// an owner would allow for trying things out.
func (o devOrganization) keys(now time.Time) []devKey {
	entry := func(name string, s apikey.Secret, v contract.Version, full bool, scopes ...scope.Scope) devKey {
		return devKey{apikey.Key{
			// The id follows from the secret, so that making it again finds it.
			ID: id.NamedKey(string(s)), Org: o.ID, Name: name, Last4: s.Last4(), Scopes: scopes, FullAccess: full,
			Contract: v, Environment: apikey.Live, CreatedBy: "visavis dev", CreatedAt: now, UpdatedAt: now,
		}, s}
	}
	trial := entry("For trying out", o.Keys.Test, contract.V20261001, true, scope.KeysManage)
	trial.key.Environment = apikey.Test
	return []devKey{
		trial,
		entry("Full access", o.Keys.New, contract.V20261001, true, scope.KeysManage),
		entry("Full access, older contract", o.Keys.Old, contract.V20260708, true, scope.KeysManage),
		entry("Reads avatars", o.Keys.Limited, contract.V20261001, false, scope.AvatarsRead),
	}
}

// greet tells a newcomer where everything is and what to try; talks says that there is a sample
// portal.
func (c *credentials) greet(w io.Writer, dataDir, admin string, talks bool) {
	key := c.Organizations[0].Keys.New
	elsewhere := ""
	if dataDir != defaultDataDir {
		elsewhere = fmt.Sprintf(" --data-dir %q", dataDir)
	}
	site := c.BaseURL[:len(c.BaseURL)-len("/v1")]
	talk := ""
	if talks {
		talk = fmt.Sprintf("  Talk         %s/p/%s   (in a browser: an avatar that knows a museum)\n", site, sampleSlug)
	}
	fmt.Fprintf(w, `
Visavis is ready.

%[11]s  API          %[1]s
  Docs         %[2]s/docs
  Operations   http://%[3]s/metrics, /readyz
  Key          %[4]s   (%[5]s)
  Test key     %[10]s   (sandbox sessions: no minutes)
  More keys    %[6]s
  In a shell   eval "$(%[8]s dev env%[9]s)"   # sets VISAVIS_API and VISAVIS_KEY

Try:
  curl -H 'Authorization: Bearer %[4]s' %[1]s/me
  curl -H 'Authorization: Bearer %[4]s' '%[1]s/avatars?heritage=thai&limit=2'
  curl -o amara.png %[1]s/avatars/%[7]s/preview

`, c.BaseURL, site, admin, key, c.Organizations[0].Name,
		filepath.Join(dataDir, credentialsFile), id.NamedAvatar("amara"), os.Args[0], elsewhere, c.Organizations[0].Keys.Test, talk)
}
