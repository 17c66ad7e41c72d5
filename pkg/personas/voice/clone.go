package voice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/utils/clock"

	"visavis.dev/pkg/base/egress"
	"visavis.dev/pkg/base/errdefs"
	"visavis.dev/pkg/base/id"
	"visavis.dev/pkg/base/scope"
	"visavis.dev/pkg/eventing/event"
	"visavis.dev/pkg/eventing/job"
	"visavis.dev/pkg/personas/connection"
	"visavis.dev/pkg/provider/elevenlabs"
	"visavis.dev/pkg/provider/upstream"
	"visavis.dev/pkg/store/activity"
	"visavis.dev/pkg/store/file"
	"visavis.dev/pkg/store/tenant"
)

const (
	// uploadTimeout bounds the upload of all samples.
	uploadTimeout = 3 * time.Minute
	maxAnswer     = 4 << 20
)

// Why a voice could not be made, besides upstream's codes.
const (
	reasonConsent    = "consent_withdrawn"
	reasonConnection = "no_connection"
)

// cloning is a job's input.
type cloning struct {
	// Name is the voice's at the service, by which a repeated step finds what an
	// earlier one made.
	Name string `json:"name"`
	// Voice is the one to remove.
	Voice      string        `json:"voice,omitempty"`
	Connection id.Connection `json:"connection"`
}

// propose queues the making of a voice.
func propose(ctx context.Context, tx *tenant.Tx, v Voice, who activity.Actor) (job.Job, error) {
	return job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.VoiceClone, ResourceKind: "voice", ResourceID: v.ID.String(), Scope: scope.VoicesRead,
		CreatedBy: who.By, CreatedAt: who.At,
	}, cloning{Name: fmt.Sprintf("%s (%s)", v.Name, v.ID), Connection: v.Connection})
}

// proposeRemoval queues the removal of a deleted voice from its service, as far
// as that can still be reached.
func proposeRemoval(ctx context.Context, tx *tenant.Tx, v Voice, who activity.Actor) error {
	if v.ServiceVoice == "" {
		return nil
	}
	_, err := job.Insert(ctx, tx, job.Job{
		ID: id.NewJob(), Kind: job.VoiceRemove, ResourceKind: "voice", ResourceID: v.ID.String(), Scope: scope.VoicesRead,
		CreatedBy: who.By, CreatedAt: who.At,
	}, cloning{Voice: v.ServiceVoice, Connection: v.Connection})
	return err
}

// Cloner makes voices at the services that organizations connected.
type Cloner struct {
	Tenants *tenant.Tenants
	Files   *file.Store
	Opener  *connection.Opener
	Report  *connection.Reporter
	Egress  *egress.Guard
	Clock   clock.PassiveClock
}

// Works are what the jobs of voices do.
func (c *Cloner) Works() map[job.Kind]job.Work {
	return map[job.Kind]job.Work{
		job.VoiceClone:  {Prepare: c.prepare, GiveUp: c.giveUp},
		job.VoiceRemove: {Prepare: c.prepareRemoval},
	}
}

// prepare uploads the samples and answers the step that notes what came of it.
// What can pass is an error, and is tried again.
func (c *Cloner) prepare(ctx context.Context, j job.Job) (job.Step, error) {
	v, in, err := c.read(ctx, j)
	switch {
	case errdefs.IsAbsent(err, Noun):
		return abandoned, nil
	case err != nil:
		return nil, err
	case v.Status() == Withdrawn:
		return c.failed(reasonConsent), nil
	}
	opened, err := c.Opener.Open(ctx, j.Org, in.Connection)
	if errdefs.IsAbsent(err, connection.Noun) || errors.Is(err, connection.ErrDisabled) {
		return c.failed(reasonConnection), nil
	}
	if err != nil {
		return nil, err
	}
	samples, err := c.samples(ctx, j.Org, v)
	if err != nil {
		return nil, err
	}
	var made string
	err = c.call(opened, "voice.add", func(service elevenlabs.Client) (err error) {
		if j.Attempts > 1 {
			if made, err = service.FindVoice(ctx, in.Name); made != "" || err != nil {
				return err
			}
		}
		made, err = service.AddVoice(ctx, in.Name, v.Description, samples)
		return err
	})
	switch code := upstream.CodeOf(err); code {
	case upstream.Refused, upstream.Rejected, upstream.Malformed, upstream.AddressRefused:
		return c.failed(string(code)), nil
	}
	if err != nil {
		return nil, err
	}
	return c.succeeded(made), nil
}

// read is the voice a job is about, and its input.
func (c *Cloner) read(ctx context.Context, j job.Job) (Voice, cloning, error) {
	var in cloning
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return Voice{}, in, err
	}
	which, err := id.ParseVoice(j.ResourceID)
	if err != nil {
		return Voice{}, in, err
	}
	v, err := Get(ctx, c.Tenants, j.Org, which)
	return v, in, err
}

func (c *Cloner) samples(ctx context.Context, org id.Org, v Voice) ([]elevenlabs.Sample, error) {
	samples := make([]elevenlabs.Sample, len(v.Samples))
	for i, f := range v.Samples {
		data, err := c.Files.Read(ctx, org, f)
		if err != nil {
			return nil, err
		}
		contentType, _ := SampleType(data)
		samples[i] = elevenlabs.Sample{Name: "sample-" + strconv.Itoa(i+1) + endings[contentType], ContentType: contentType, Data: data}
	}
	return samples, nil
}

// call asks a service and reports how that went.
func (c *Cloner) call(o connection.Opened, name string, do func(elevenlabs.Client) error) error {
	began := c.Clock.Now()
	err := o.WithSecret(func(secret string) error {
		return do(elevenlabs.Client{
			HTTP: c.Egress.ClientWithin(uploadTimeout, maxAnswer), BaseURL: o.Config.BaseURL(o.Provider), Key: secret,
		})
	})
	if err == nil || upstream.CodeOf(err) != "" {
		c.Report.Report(o.Org, o.ID, connection.OutcomeOf(name, began, c.Clock.Now(), err))
	}
	return err
}

// abandoned ends a job whose voice was deleted.
func abandoned(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
	j.State = job.Cancelled
	return 0, nil
}

// succeeded is the step that notes a voice as made. One that was deleted
// meanwhile is removed from the service again.
func (c *Cloner) succeeded(made string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		v, err := c.find(ctx, tx, j)
		if errdefs.IsAbsent(err, Noun) {
			j.State = job.Cancelled
			v.ServiceVoice = made
			return 0, proposeRemoval(ctx, tx, v, activity.Actor{By: j.CreatedBy, At: now})
		}
		if err != nil {
			return 0, err
		}
		v.ServiceVoice = made
		j.State, j.Done, j.Total = job.Succeeded, 1, 1
		return 0, c.end(ctx, tx, j, v, Ready, "", now)
	}
}

// failed is the step that notes a voice as not made.
func (c *Cloner) failed(reason string) job.Step {
	return func(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) (time.Duration, error) {
		v, err := c.find(ctx, tx, j)
		if errdefs.IsAbsent(err, Noun) {
			return abandoned(ctx, tx, j, now)
		}
		if err != nil {
			return 0, err
		}
		j.State, j.ErrorCode = job.Failed, reason
		return 0, c.end(ctx, tx, j, v, Failed, reason, now)
	}
}

// giveUp fails a voice whose service could not be reached in several tries.
func (c *Cloner) giveUp(ctx context.Context, tx *tenant.Tx, j *job.Job, now time.Time) error {
	_, err := c.failed(string(upstream.Unavailable))(ctx, tx, j, now)
	return err
}

func (c *Cloner) find(ctx context.Context, tx *tenant.Tx, j *job.Job) (Voice, error) {
	which, err := id.ParseVoice(j.ResourceID)
	if err != nil {
		return Voice{}, err
	}
	return Find(ctx, tx, which)
}

// end notes what became of a voice and tells of it. The samples have served;
// recordings of a person are not kept longer than they are needed.
func (c *Cloner) end(ctx context.Context, tx *tenant.Tx, j *job.Job, v Voice, made Status, reason string, now time.Time) error {
	samples := v.Samples
	v.Made, v.Reason, v.Samples, v.UpdatedAt = made, reason, []id.File{}, now
	if err := update(ctx, tx, v); err != nil {
		return err
	}
	if err := c.Files.Discard(ctx, tx, samples...); err != nil {
		return err
	}
	fields := map[string]any{
		"voiceId": v.ID, "jobId": j.ID, "status": made, "engine": v.Engine, "languages": v.Languages,
	}
	if reason != "" {
		fields["errorCode"] = reason
	}
	event.Emit(tx, event.Draft{Type: event.VoiceCloneCompleted, At: now, Fields: fields})
	return nil
}

// prepareRemoval removes a voice from its service. A service that is no longer
// connected, or refuses, keeps it: there is no way to it.
func (c *Cloner) prepareRemoval(ctx context.Context, j job.Job) (job.Step, error) {
	var in cloning
	if err := json.Unmarshal(j.Input, &in); err != nil {
		return nil, err
	}
	opened, err := c.Opener.Open(ctx, j.Org, in.Connection)
	if err == nil {
		err = c.call(opened, "voice.delete", func(service elevenlabs.Client) error { return service.DeleteVoice(ctx, in.Voice) })
	}
	code := string(upstream.CodeOf(err))
	switch {
	case err == nil:
	case errdefs.IsAbsent(err, connection.Noun), errors.Is(err, connection.ErrDisabled):
		code = reasonConnection
	case code == "", errors.Is(err, upstream.ErrTimeout), errors.Is(err, upstream.ErrUnavailable), errors.Is(err, upstream.ErrRateLimited):
		return nil, err
	}
	return func(_ context.Context, _ *tenant.Tx, j *job.Job, _ time.Time) (time.Duration, error) {
		j.State, j.Done, j.Total = job.Succeeded, 1, 1
		if code != "" {
			j.State, j.Done, j.ErrorCode = job.Failed, 0, code
		}
		return 0, nil
	}, nil
}
