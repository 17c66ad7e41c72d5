package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/store/database"
)

// Reasons of the conditions Migrated and Ready.
const (
	ReasonMigrated        = "Migrated"
	ReasonMigrating       = "Migrating"
	ReasonMigrationFailed = "MigrationFailed"
)

// databaseEnv is the setting of visavis migrate that names one shard's database.
const databaseEnv = "VISAVIS_SHARD_DATABASE"

// migrateAgain is how long after a failure a migration is tried again.
const migrateAgain = 10 * time.Minute

// migrate sees to it that the pods' own version of the program has migrated the
// database. It is a Job, named for the template of its pod and for the database, so
// that another version or another database gets another one. One that failed is made
// again after a while, or when somebody deletes it.
func (r *Rules) migrate(ctx context.Context, s *v1alpha1.Shard, config *pods.Config, mark string) error {
	job, err := r.job(s, config, mark)
	if err != nil {
		return err
	}
	if err := r.writer().Create(ctx, s, job); err != nil {
		return err
	}
	migrated := metav1.Condition{
		Type: v1alpha1.Migrated, Status: metav1.ConditionFalse, Reason: ReasonMigrating, LastTransitionTime: metav1.NewTime(r.Clock.Now()),
	}
	var verdict error
	switch {
	case ended(job, batchv1.JobComplete) != nil:
		migrated.Status, migrated.Reason = metav1.ConditionTrue, ReasonMigrated
	case ended(job, batchv1.JobFailed) != nil:
		if verdict, err = r.failed(ctx, s, job); err != nil {
			return err
		}
		migrated.Reason, migrated.Message = ReasonMigrationFailed, verdict.Error()
	default:
		verdict = resource.Pending(0, "The Job %s/%s migrates its database.", job.Namespace, job.Name)
		migrated.Message = verdict.Error()
	}
	meta.SetStatusCondition(&s.Status.Conditions, migrated)
	if verdict != nil {
		return verdict
	}
	return r.deleteOldJobs(ctx, s, job)
}

// ended is since when a Job has ended so; nil where it has not.
func ended(job *batchv1.Job, how batchv1.JobConditionType) *metav1.Time {
	for _, c := range job.Status.Conditions {
		if c.Type == how && c.Status == corev1.ConditionTrue {
			return &c.LastTransitionTime
		}
	}
	return nil
}

// failed says of a Job that it failed, and deletes it once that is a while ago.
func (r *Rules) failed(ctx context.Context, s *v1alpha1.Shard, job *batchv1.Job) (*resource.Refusal, error) {
	refusal := &resource.Refusal{Reason: ReasonMigrationFailed, Message: fmt.Sprintf(
		"The Job %s/%s failed to migrate its database; the log of its pod says why. It is made again after %v, or when it is deleted.",
		job.Namespace, job.Name, migrateAgain)}
	refusal.After = migrateAgain - r.Clock.Since(ended(job, batchv1.JobFailed).Time)
	if refusal.After > 0 {
		return refusal, nil
	}
	refusal.After = time.Second
	return refusal, r.writer().Remove(ctx, s, job)
}

// job is the migration of a database to what the pods expect.
func (r *Rules) job(s *v1alpha1.Shard, config *pods.Config, mark string) (*batchv1.Job, error) {
	t := config.Template(pods.Migrate, s, "migrate")
	if t.Spec.RestartPolicy == "" {
		t.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	container := &t.Spec.Containers[0]
	container.Env = append(container.Env, corev1.EnvVar{Name: databaseEnv, ValueFrom: &corev1.EnvVarSource{
		SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: s.Spec.Database.SecretName}, Key: s.Spec.Database.Key,
		},
	}})
	text, err := json.Marshal([]any{t, mark})
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: s.Name + "-migrate-" + hex.EncodeToString(hash[:5]), Labels: config.Labels(pods.Migrate, s.Name),
		},
		Spec: batchv1.JobSpec{BackoffLimit: new(int32(3)), PodFailurePolicy: undisturbed(t.Spec.RestartPolicy), Template: t},
	}, nil
}

// undisturbed counts no pod that had to go with its node. The API server takes such a
// policy only where pods are not restarted in place.
func undisturbed(restarts corev1.RestartPolicy) *batchv1.PodFailurePolicy {
	if restarts != corev1.RestartPolicyNever {
		return nil
	}
	return &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          batchv1.PodFailurePolicyActionIgnore,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

// jobs are the migrations of a shard, of every version.
func (r *Rules) jobs(ctx context.Context, s *v1alpha1.Shard) ([]batchv1.Job, error) {
	var jobs batchv1.JobList
	err := r.Client.List(ctx, &jobs, client.InNamespace(r.Namespace), client.MatchingLabels{
		child.ManagedByLabel: child.Manager, pods.ShardLabel: s.Name, pods.ComponentLabel: pods.Migrate,
	})
	return jobs.Items, err
}

// deleteOldJobs deletes the Jobs of earlier versions.
func (r *Rules) deleteOldJobs(ctx context.Context, s *v1alpha1.Shard, current *batchv1.Job) error {
	jobs, err := r.jobs(ctx, s)
	if err != nil {
		return err
	}
	for i := range jobs {
		if old := &jobs[i]; old.Name != current.Name {
			if err := r.writer().Remove(ctx, s, old); err != nil {
				return err
			}
		}
	}
	return nil
}

// note notes the version of the schema.
func (r *Rules) note(ctx context.Context, s *v1alpha1.Shard, db *database.DB) error {
	have, _, err := db.Version(ctx, database.Shard)
	s.Status.SchemaVersion = have
	return err
}
