package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Webhook is an address that is told what happens in an organization.
//
// One that failed every delivery for three days is paused, and stays so until its
// address, events or another field of what it is sent changes, or until the value of
// the annotation visavis.dev/resume does.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=vhook,categories=visavis
// +kubebuilder:printcolumn:name="Organisation",type=string,JSONPath=`.spec.organisation.name`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.spec.url`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Delivering",type=string,JSONPath=`.status.conditions[?(@.type=="Delivering")].status`
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,priority=1
// +kubebuilder:printcolumn:name="Secret",type=string,JSONPath=`.status.secretName`,priority=1
// +kubebuilder:printcolumn:name="Dedicated",type=string,JSONPath=`.status.conditions[?(@.type=="Dedicated")].status`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Webhook struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WebhookSpec `json:"spec"`
	// +optional
	Status WebhookStatus `json:"status,omitempty"`
}

// WebhookSpec is what a webhook is to be.
// +kubebuilder:validation:XValidation:rule="self.organisation == oldSelf.organisation",message="organisation cannot be changed: make another Webhook"
type WebhookSpec struct {
	// The Organisation of this namespace that it is told of.
	Organisation OrganisationReference `json:"organisation"`
	// Where events are posted.
	// +kubebuilder:validation:MaxLength=2000
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https' && url(self).getHostname() != ''",message="url must be an address such as https://example.com/hooks"
	URL string `json:"url"`
	// What it is for.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Description string `json:"description,omitempty"`
	// Types of events such as session.ended, or "*" alone for all.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=60
	// +kubebuilder:validation:XValidation:rule="!self.exists(e, e == '*') || size(self) == 1",message="\"*\" stands alone"
	// +listType=set
	Events []string `json:"events"`
	// Whether it is sent what was said.
	// +optional
	IncludeConversation bool `json:"includeConversation,omitempty"`
	// The contract that events are written in.
	// +kubebuilder:validation:Enum="2026-07-08";"2026-10-01"
	// +kubebuilder:default="2026-10-01"
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
	// It is sent nothing while this is set.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
	// The Secret that its signing secret is written to, under "secret";
	// <name>-signing unless given. Deleting the Secret writes it again; removing its
	// entry rotates the signing secret, and the old one signs too for a day.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`
	// Whether its deliveries have a worker of their own (Dedicated). Should that
	// fall silent for a minute, the shard's workers deliver until it is back.
	// +kubebuilder:default=Shared
	// +optional
	Delivery Delivery `json:"delivery,omitempty"`
	// What becomes of the webhook when this resource is deleted.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// WebhookStatus is how a webhook is.
type WebhookStatus struct {
	Status `json:",inline"`
	// Its id, wh_….
	// +optional
	ID string `json:"id,omitempty"`
	// The id of its organization, org_….
	// +optional
	OrganisationID string `json:"organisationId,omitempty"`
	// The Secret that holds its signing secret.
	// +optional
	SecretName string `json:"secretName,omitempty"`
	// Since when every delivery has failed.
	// +optional
	FailingSince *metav1.Time `json:"failingSince,omitempty"`
	// When it was paused for that.
	// +optional
	PausedAt *metav1.Time `json:"pausedAt,omitempty"`
	// The value of the annotation visavis.dev/resume that was obeyed last.
	// +optional
	Resumed string `json:"resumed,omitempty"`
}

// WebhookList is a list of webhooks.
// +kubebuilder:object:root=true
type WebhookList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Webhook `json:"items"`
}

// State is the status that every kind has.
func (w *Webhook) State() *Status { return &w.Status.Status }

// Deletion is the policy of its deletion.
func (w *Webhook) Deletion() DeletionPolicy { return w.Spec.DeletionPolicy }
