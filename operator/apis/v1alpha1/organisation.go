package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Organisation is a customer of the platform.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=vorg,categories=visavis
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`
// +kubebuilder:printcolumn:name="Plan",type=string,JSONPath=`.spec.plan`
// +kubebuilder:printcolumn:name="Shard",type=string,JSONPath=`.status.shard`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Moving",type=string,JSONPath=`.status.conditions[?(@.type=="Moving")].message`,priority=1
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`,priority=1
// +kubebuilder:printcolumn:name="Key",type=string,JSONPath=`.status.apiKey.secretName`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Organisation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec OrganisationSpec `json:"spec"`
	// +optional
	Status OrganisationStatus `json:"status,omitempty"`
}

// OrganisationSpec is what an organization is to be.
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.shard) || has(self.shard)",message="shard cannot be left out any more: name the one that it is to live on"
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.slug) || (has(self.slug) && self.slug == oldSelf.slug)",message="slug cannot be changed"
// +kubebuilder:validation:XValidation:rule="self.region == oldSelf.region",message="region cannot be changed"
type OrganisationSpec struct {
	// What people call it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=120
	Name string `json:"name"`
	// Its name in addresses, unlike any other organization's; made of the name unless
	// given.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`
	// +optional
	Slug string `json:"slug,omitempty"`
	// Whose rules hold for it. Where its data are kept is its shard's matter.
	// +kubebuilder:validation:Enum=eu;us
	// +kubebuilder:default=eu
	// +optional
	Region string `json:"region,omitempty"`
	// Its time zone, such as Europe/Zurich.
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=60
	// +optional
	Timezone string `json:"timezone,omitempty"`
	// Its plan, one of the platform's.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Plan string `json:"plan"`
	// The Shard it lives on; the Shared one with the fewest organizations unless given.
	// Another one moves it there, while it is in use.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +optional
	Shard string `json:"shard,omitempty"`
	// What it has instead of its plan's limits, by their names: a number, "unlimited",
	// or for a rate class (read, write, live, heavy, search)
	// "PER_KEY/PER_ORGANIZATION".
	// +kubebuilder:validation:MaxProperties=50
	// +optional
	Limits map[string]string `json:"limits,omitempty"`
	// It starts no sessions while this is set.
	// +optional
	Paused bool `json:"paused,omitempty"`
	// A key for the API, kept in a Secret; none is made unless given.
	// +optional
	APIKey *OrganisationKey `json:"apiKey,omitempty"`
	// Whether its deliveries have workers of their own (Dedicated). Those of a Webhook
	// that is Dedicated itself have theirs; its jobs are the shard's workers' as ever.
	// +kubebuilder:default=Shared
	// +optional
	Delivery Delivery `json:"delivery,omitempty"`
	// What becomes of the organization, with everything it owns, when this resource
	// is deleted.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// OrganisationKey is a key to be made for an organization.
// +kubebuilder:validation:XValidation:rule="has(self.scopes) != (has(self.fullAccess) && self.fullAccess)",message="give either scopes or fullAccess: true"
type OrganisationKey struct {
	// The Secret that the key is written to, under "key"; <name>-api-key unless given.
	// Deleting the Secret makes another key and revokes the old one.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	SecretName string `json:"secretName,omitempty"`
	// What it may do, such as webhooks:manage.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=60
	// +optional
	// +listType=set
	Scopes []string `json:"scopes,omitempty"`
	// It may do everything that full access gives.
	// +optional
	FullAccess bool `json:"fullAccess,omitempty"`
	// The contract it is pinned to.
	// +kubebuilder:validation:Enum="2026-07-08";"2026-10-01"
	// +kubebuilder:default="2026-10-01"
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`
}

// Delivery is whose workers deliver.
// +kubebuilder:validation:Enum=Shared;Dedicated
type Delivery string

// The shard's workers deliver, or workers of its own.
const (
	SharedDelivery    Delivery = "Shared"
	DedicatedDelivery Delivery = "Dedicated"
)

// OrganisationStatus is how an organization is.
type OrganisationStatus struct {
	Status `json:",inline"`
	// Its id, org_….
	// +optional
	ID string `json:"id,omitempty"`
	// Its name in addresses.
	// +optional
	Slug string `json:"slug,omitempty"`
	// The shard it lives on.
	// +optional
	Shard string `json:"shard,omitempty"`
	// Its key for the API.
	// +optional
	APIKey *KeyStatus `json:"apiKey,omitempty"`
}

// KeyStatus is a key that was made.
type KeyStatus struct {
	// The key's id, key_….
	ID string `json:"id"`
	// The Secret that holds it.
	SecretName string `json:"secretName"`
	// Its last characters.
	Last4 string `json:"last4"`
}

// OrganisationList is a list of organizations.
// +kubebuilder:object:root=true
type OrganisationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Organisation `json:"items"`
}

// State is the status that every kind has.
func (o *Organisation) State() *Status { return &o.Status.Status }

// Deletion is the policy of its deletion.
func (o *Organisation) Deletion() DeletionPolicy { return o.Spec.DeletionPolicy }
