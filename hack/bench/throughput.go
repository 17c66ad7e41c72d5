package main

import (
	"context"
	"fmt"
	"time"

	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/plan"
	"visavis.dev/pkg/personas/avatar"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/consent"
	"visavis.dev/pkg/store/tenant"
)

const (
	rounds = 5
	span   = 3 * time.Second
)

// throughput measures GET /avatars/{id}, with key, limits and fence, against
// a bare handler that runs one SELECT. The two take turns, so that a noisy
// machine disturbs both.
func throughput(ctx context.Context, f *fixture) error {
	org, key, err := f.newOrg(ctx, "Throughput")
	if err != nil {
		return err
	}
	face, err := f.newAvatar(ctx, org)
	if err != nil {
		return err
	}
	api, err := f.startAPI(append(unlimited, "--rates=read=100000000/100000000")...)
	if err != nil {
		return err
	}
	bare, err := f.startBare()
	if err != nil {
		return err
	}
	subjects := []struct{ name, url string }{
		{"bare", fmt.Sprintf("%s/%s/%s", bare.url, org, face)},
		{"api", fmt.Sprintf("%s/v1/avatars/%s", api.url, face)},
	}
	for _, s := range subjects { // what is cached is cached before
		if _, _, err := load(s.url, string(key), time.Second); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for range rounds {
		var rate, p99 [2]float64
		for i, s := range subjects {
			took, all, err := load(s.url, string(key), span)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			rate[i] = float64(len(took)) / all.Seconds()
			p99[i] = took[len(took)*99/100].Seconds() * 1000
			report("GetAvatar/"+s.name, len(took), figure{rate[i], "req/s"},
				figure{took[len(took)/2].Seconds() * 1000, "p50-ms"}, figure{p99[i], "p99-ms"})
		}
		report("GetAvatar/ratio", 1, figure{rate[1] / rate[0], "throughput-x"}, figure{p99[1] / p99[0], "p99-x"})
	}
	if err := api.stop(); err != nil {
		return err
	}
	return bare.cmd.Process.Kill()
}

func (f *fixture) startBare() (*process, error) { return startSelf(bareRole, f.shardURL, "/health") }

// newAvatar enters a face as POST /avatars does.
func (f *fixture) newAvatar(ctx context.Context, org id.Org) (id.Avatar, error) {
	now := time.Now().UTC().Truncate(time.Microsecond)
	a := avatar.Avatar{
		ID: id.NewAvatar(), Name: "Kim", Width: 512, Height: 512, Metadata: map[string]string{}, CreatedAt: now,
		Picture: id.NewFile(), Thumbnail: id.NewFile(),
	}
	k := consent.Consent{
		ID: id.NewConsent(), Kind: consent.Likeness, State: consent.Given, Avatar: a.ID, Statement: "synthetic",
		PolicyVersion: consent.PolicyVersion, PersonName: "Kim", SignedAt: now, RecordedAt: now, RecordedBy: "bench",
	}
	return a.ID, f.backend.Tenants.InTx(ctx, org, func(ctx context.Context, tx *tenant.Tx) error {
		_, err := avatar.Create(ctx, tx, a, k, plan.Terms{}, activity.Actor{By: "bench", At: now}.Unlogged())
		return err
	})
}
