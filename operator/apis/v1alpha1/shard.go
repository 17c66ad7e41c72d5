package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Shard is a database that organizations live on, with the workers and portals that
// serve it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=vshard,categories=visavis
// +kubebuilder:printcolumn:name="Tier",type=string,JSONPath=`.spec.tier`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Organisations",type=integer,JSONPath=`.status.organisations`
// +kubebuilder:printcolumn:name="Workers",type=string,JSONPath=`.status.workers.summary`
// +kubebuilder:printcolumn:name="Portals",type=string,JSONPath=`.status.portals.summary`
// +kubebuilder:printcolumn:name="Schema",type=integer,JSONPath=`.status.schemaVersion`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="a shard's name has at most 40 lower-case letters, digits and hyphens, and begins with a letter"
type Shard struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec ShardSpec `json:"spec"`
	// +optional
	Status ShardStatus `json:"status,omitempty"`
}

// ShardTier is which organizations a shard takes.
// +kubebuilder:validation:Enum=Shared;Dedicated
type ShardTier string

// The tiers: any organization may be placed there, or only those that name it.
const (
	SharedTier    ShardTier = "Shared"
	DedicatedTier ShardTier = "Dedicated"
)

// ShardSpec is what a shard is to be.
type ShardSpec struct {
	// Which organizations it takes: any that names no shard (Shared), or only those
	// that name it (Dedicated).
	// +kubebuilder:default=Shared
	// +optional
	Tier ShardTier `json:"tier,omitempty"`
	// The entry of a Secret in the operator's namespace with the URL of the
	// database, postgres://….
	Database SecretKey `json:"database"`
	// The processes that deliver webhooks and run jobs.
	// +kubebuilder:default={}
	// +optional
	Workers ShardWorkers `json:"workers,omitempty"`
	// The processes that show the portals' pages and hold conversations.
	// +kubebuilder:default={}
	// +optional
	Portals ShardPortals `json:"portals,omitempty"`
	// Where the pods of both run.
	// +optional
	Pods ShardPods `json:"pods,omitempty"`
	// What becomes of the shard's entry in the directory when this resource is
	// deleted. An entry that organizations live on is never deleted, and the database
	// itself is never touched.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// Replicas bounds a number of pods.
// +kubebuilder:validation:XValidation:rule="!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",message="minReplicas is more than maxReplicas"
type Replicas struct {
	// The fewest pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	// +optional
	MinReplicas int32 `json:"minReplicas,omitempty"`
	// The most pods.
	// +kubebuilder:default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	// +optional
	MaxReplicas int32 `json:"maxReplicas,omitempty"`
	// How long there must be less to do before a pod is taken away, each time.
	// +kubebuilder:default=300
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	// +optional
	ScaleDownSeconds int32 `json:"scaleDownSeconds,omitempty"`
	// Who sets the number of pods: the operator, or something else such as a
	// HorizontalPodAutoscaler; then the operator leaves it alone.
	// +kubebuilder:default=Operator
	// +kubebuilder:validation:Enum=Operator;External
	// +optional
	Scaling string `json:"scaling,omitempty"`
	// What each pod asks for; the platform's values unless given.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
}

// ShardWorkers sizes the workers by the age of what waits longest.
type ShardWorkers struct {
	Replicas `json:",inline"`
	// How long a due delivery or job may wait before more pods are started.
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3600
	// +optional
	TargetBacklogSeconds int32 `json:"targetBacklogSeconds,omitempty"`
}

// ShardPortals sizes the portals by their live conversations.
type ShardPortals struct {
	Replicas `json:",inline"`
	// How many live conversations a pod is to hold.
	// +kubebuilder:default=250
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	SessionsPerPod int32 `json:"sessionsPerPod,omitempty"`
}

// ShardPods is where pods run.
type ShardPods struct {
	// Labels of the nodes to run on.
	// +optional
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Taints of nodes to run on all the same.
	// +optional
	// +listType=atomic
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Which pods go first where there is no room for all; the platform's values unless
	// given.
	// +optional
	PriorityClassName string `json:"priorityClassName,omitempty"`
}

// ShardStatus is how a shard is.
type ShardStatus struct {
	Status `json:",inline"`
	// How many organizations live there.
	// +optional
	Organisations int64 `json:"organisations,omitempty"`
	// The version of the database's schema.
	// +optional
	SchemaVersion int64 `json:"schemaVersion,omitempty"`
	// Its workers.
	// +optional
	Workers RoleStatus `json:"workers,omitempty"`
	// Its portals.
	// +optional
	Portals RoleStatus `json:"portals,omitempty"`
}

// RoleStatus is how many pods of a role there are.
type RoleStatus struct {
	// How many there should be.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`
	// How many of them are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Both, as ready/wanted.
	// +optional
	Summary string `json:"summary,omitempty"`
}

// ShardList is a list of shards.
// +kubebuilder:object:root=true
type ShardList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Shard `json:"items"`
}

// State is the status that every kind has.
func (s *Shard) State() *Status { return &s.Status.Status }

// Deletion is the policy of its deletion.
func (s *Shard) Deletion() DeletionPolicy { return s.Spec.DeletionPolicy }
