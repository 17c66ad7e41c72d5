package shard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/child"
	"visavis.dev/operator/pods"
	"visavis.dev/operator/resource"
	"visavis.dev/pkg/database"
)

// Reasons of the conditions Migrated and Ready.
const (
	ReasonMigrated        = "Migrated"
	ReasonMigrating       = "Migrating"
	ReasonMigrationFailed = "MigrationFailed"
)

// databaseEnv is the setting of visavis migrate that names one shard's database.
const databaseEnv = "VISAVIS_SHARD_DATABASE"

// migrate sees to it that the pods' own version of the program has migrated the
// database. It is a Job, named for the template of its pod and for the database, so
// that another version or another database gets another one; whoever deletes a Job
// asks for it again.
func (r *Rules) migrate(ctx context.Context, s *v1alpha1.Shard, config *pods.Config, print string) error {
	job, err := r.job(s, config, print)
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
	case ended(job, batchv1.JobComplete):
		migrated.Status, migrated.Reason = metav1.ConditionTrue, ReasonMigrated
	case ended(job, batchv1.JobFailed):
		migrated.Reason = ReasonMigrationFailed
		refusal := &resource.Refusal{Reason: ReasonMigrationFailed}
		refusal.Message = "The Job " + job.Namespace + "/" + job.Name + " failed to migrate its database; the log of its pod says why. Delete the Job to try again."
		migrated.Message, verdict = refusal.Message, refusal
	default:
		verdict = resource.Pending(0, "The Job %s/%s migrates its database.", job.Namespace, job.Name)
		migrated.Message = verdict.Error()
	}
	meta.SetStatusCondition(&s.Status.Conditions, migrated)
	if verdict != nil {
		return verdict
	}
	return r.tidy(ctx, s, job)
}

func ended(job *batchv1.Job, how batchv1.JobConditionType) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == how && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// job is the migration of a database to what the pods expect.
func (r *Rules) job(s *v1alpha1.Shard, config *pods.Config, print string) (*batchv1.Job, error) {
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
	text, err := json.Marshal([]any{t, print})
	if err != nil {
		return nil, err
	}
	hash := sha256.Sum256(text)
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: r.Namespace, Name: s.Name + "-migrate-" + hex.EncodeToString(hash[:5]), Labels: config.Labels(pods.Migrate, s.Name),
		},
		Spec: batchv1.JobSpec{BackoffLimit: new(int32(3)), Template: t},
	}, nil
}

// tidy deletes the Jobs of earlier versions.
func (r *Rules) tidy(ctx context.Context, s *v1alpha1.Shard, current *batchv1.Job) error {
	var jobs batchv1.JobList
	if err := r.Client.List(ctx, &jobs, client.InNamespace(r.Namespace), client.MatchingLabels{
		child.ManagedByLabel: child.Manager, pods.ShardLabel: s.Name, pods.ComponentLabel: pods.Migrate,
	}); err != nil {
		return err
	}
	for i := range jobs.Items {
		if old := &jobs.Items[i]; old.Name != current.Name {
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
