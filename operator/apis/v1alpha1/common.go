package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Annotations that a person sets.
const (
	// AdoptAnnotation names, by its id, what exists already and is managed through
	// the API. The resource takes it over in place of making another.
	AdoptAnnotation = "visavis.dev/adopt"
	// ReleaseAnnotation, set to "true", gives what the resource manages back to the
	// API. From then on the resource changes nothing, nor does deleting it.
	ReleaseAnnotation = "visavis.dev/release"
	// ResumeAnnotation, set to a value it did not have, such as the time of day,
	// resumes a Webhook that was paused after failing for three days.
	ResumeAnnotation = "visavis.dev/resume"
)

// Finalizer keeps a resource until what its deletion asks for is done.
const Finalizer = "visavis.dev/operator"

// DeletionPolicy is what becomes of what a resource manages when it is deleted.
// +kubebuilder:validation:Enum=Delete;Orphan
type DeletionPolicy string

// The policies: it is deleted too, or it stays and is managed through the API.
const (
	DeletePolicy DeletionPolicy = "Delete"
	OrphanPolicy DeletionPolicy = "Orphan"
)

// Types of conditions.
const (
	// Ready says whether everything is as the spec has it.
	Ready = "Ready"
	// Moving says whether an Organisation is on its way to another shard. It is ready all
	// the while.
	Moving = "Moving"
	// Published says of a portal whether people can open its page.
	Published = "Published"
	// Delivering says of a webhook whether its deliveries arrive.
	Delivering = "Delivering"
	// Dedicated says of a webhook that is to have a worker of its own whether that
	// one carries its deliveries out.
	Dedicated = "Dedicated"
	// Migrated says of a shard whether its database has the current schema.
	Migrated = "Migrated"
)

// Reasons of conditions that several kinds have. They are part of the interface.
const (
	// ReasonMoving, ReasonMoved, ReasonNotMoved: it is on its way, it came, or it could not
	// go. Other reasons of why it cannot are package move's.
	ReasonMoving   = "Moving"
	ReasonMoved    = "Moved"
	ReasonNotMoved = "NotMoved"
	// ReasonReady: everything is as the spec has it.
	ReasonReady = "Ready"
	// ReasonReleased: the resource manages nothing any more.
	ReasonReleased = "Released"
	// ReasonConflict: an older resource, or the API, has what this one claims.
	ReasonConflict = "Conflict"
	// ReasonInvalid: the spec asks for what cannot be; nothing happens until it changes.
	ReasonInvalid = "Invalid"
	// ReasonPending: what it depends on is not there yet.
	ReasonPending = "Pending"
	// ReasonDeleting: it is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonLimitReached: the organization's plan allows no more.
	ReasonLimitReached = "LimitReached"
	// ReasonNotReady: it cannot go live yet; the status says what keeps it.
	ReasonNotReady = "NotReady"
	// ReasonNamespaceNotServed: the operator is not set to serve the resource's namespace,
	// and has no rights there. Nothing is done to it.
	ReasonNamespaceNotServed = "NamespaceNotServed"
	// ReasonUnavailable: a database or the API server does not answer; it is tried again.
	ReasonUnavailable = "Unavailable"
)

// Reasons of the condition Delivering.
const (
	// ReasonDelivering: the last delivery arrived.
	ReasonDelivering = "Delivering"
	// ReasonNothingDelivered: none arrived yet, and none failed.
	ReasonNothingDelivered = "NothingDelivered"
	// ReasonFailing: deliveries fail.
	ReasonFailing = "Failing"
	// ReasonPaused: they failed for three days, and none is sent.
	ReasonPaused = "Paused"
	// ReasonSuspended: none is sent since the spec says so.
	ReasonSuspended = "Suspended"
)

// Reasons of the condition Dedicated.
const (
	// ReasonOwnWorker: its own worker delivers.
	ReasonOwnWorker = "OwnWorker"
	// ReasonSharedWorkers: the shard's workers deliver until its own is there.
	ReasonSharedWorkers = "SharedWorkers"
)

// Status is what the status of every kind begins with.
type Status struct {
	// The generation of the resource that this status is of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// What holds of it and why: Ready of every kind, and those that are its kind's own.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// OrganisationReference names an Organisation of the same namespace.
type OrganisationReference struct {
	// Name of the Organisation.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// SecretKey names one entry of a Secret.
type SecretKey struct {
	// Name of the Secret.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	SecretName string `json:"secretName"`
	// Key of the entry.
	// +kubebuilder:default=url
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Key string `json:"key,omitempty"`
}
