package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Reasons of the condition Published, besides ReasonNotReady.
const (
	// ReasonPublished: people can open its page.
	ReasonPublished = "Published"
	// ReasonUnpublished: the spec has it closed.
	ReasonUnpublished = "Unpublished"
)

// Portal is a page where people talk with an organization's avatar.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=vportal,categories=visavis
// +kubebuilder:printcolumn:name="Organisation",type=string,JSONPath=`.spec.organisation.name`
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.url`
// +kubebuilder:printcolumn:name="Published",type=string,JSONPath=`.status.conditions[?(@.type=="Published")].status`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Version",type=integer,JSONPath=`.status.publishedVersion`,priority=1
// +kubebuilder:printcolumn:name="ID",type=string,JSONPath=`.status.id`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Portal struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PortalSpec `json:"spec"`
	// +optional
	Status PortalStatus `json:"status,omitempty"`
}

// PortalSpec is what a portal is to be.
// +kubebuilder:validation:XValidation:rule="self.organisation == oldSelf.organisation",message="organisation cannot be changed: make another Portal"
// +kubebuilder:validation:XValidation:rule="self.template == oldSelf.template",message="template cannot be changed: make another Portal"
type PortalSpec struct {
	// The Organisation of this namespace that opens it.
	Organisation OrganisationReference `json:"organisation"`
	// What people call it.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=120
	Name string `json:"name"`
	// The template it is built from, such as museum_guide.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Template string `json:"template"`
	// Answers to the template's questions; they are written into its texts when it is
	// built.
	// +kubebuilder:validation:MaxProperties=40
	// +optional
	Answers map[string]string `json:"answers,omitempty"`
	// Who speaks there.
	Speaker PortalSpeaker `json:"speaker"`
	// Its languages, the default one first; the template's unless given.
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=20
	// +optional
	// +listType=set
	Languages []string `json:"languages,omitempty"`
	// Its name in the page's address; made of the name unless given.
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]{1,61}[a-z0-9])$`
	// +optional
	Slug string `json:"slug,omitempty"`
	// A host of its own. An Ingress is made for it.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$`
	// +optional
	Host string `json:"host,omitempty"`
	// The Ingress for its host.
	// +optional
	Ingress *PortalIngress `json:"ingress,omitempty"`
	// What people are told about their data.
	// +optional
	Privacy PortalPrivacy `json:"privacy,omitempty"`
	// The door for anybody who comes by; closed unless given.
	// +optional
	Visitors *VisitorsDoor `json:"visitors,omitempty"`
	// Whether people can open it. It is published as soon as it can go live, and the
	// drafts of its subjects with it.
	// +kubebuilder:default=true
	// +optional
	Published *bool `json:"published,omitempty"`
	// What becomes of the portal when this resource is deleted: it is archived, or it
	// stays.
	// +kubebuilder:default=Delete
	// +optional
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// PortalSpeaker is who speaks: a persona that is there, or one to be made of a face
// and a voice.
// +kubebuilder:validation:XValidation:rule="has(self.personaId) ? (!has(self.avatarId) && !has(self.voiceId)) : (has(self.avatarId) && has(self.voiceId))",message="give either personaId, or avatarId and voiceId"
type PortalSpeaker struct {
	// A persona, pa_….
	// +kubebuilder:validation:Pattern=`^pa_[0-9A-Za-z]{20,24}$`
	// +optional
	PersonaID string `json:"personaId,omitempty"`
	// A face, av_….
	// +kubebuilder:validation:Pattern=`^av_[0-9A-Za-z]{20,24}$`
	// +optional
	AvatarID string `json:"avatarId,omitempty"`
	// A voice, vo_….
	// +kubebuilder:validation:Pattern=`^vo_[0-9A-Za-z]{20,24}$`
	// +optional
	VoiceID string `json:"voiceId,omitempty"`
}

// PortalIngress shapes the Ingress of a portal's host.
type PortalIngress struct {
	// Its class; the platform's unless given.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	ClassName string `json:"className,omitempty"`
	// The Secret with its certificate, in the operator's namespace, where the Ingress
	// is; without one it has no TLS of its own.
	// +kubebuilder:validation:MaxLength=253
	// +optional
	TLSSecretName string `json:"tlsSecretName,omitempty"`
	// Annotations, such as one that asks for a certificate.
	// +kubebuilder:validation:MaxProperties=50
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PortalPrivacy is what people are told about their data.
type PortalPrivacy struct {
	// Where the privacy notice is.
	// +kubebuilder:validation:MaxLength=2000
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https'",message="privacyUrl must be an https:// address"
	// +optional
	PrivacyURL string `json:"privacyUrl,omitempty"`
	// Where the terms are.
	// +kubebuilder:validation:MaxLength=2000
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getScheme() == 'https'",message="termsUrl must be an https:// address"
	// +optional
	TermsURL string `json:"termsUrl,omitempty"`
}

// VisitorsDoor is the door for anybody who comes by.
type VisitorsDoor struct {
	// Whether it is open.
	// +kubebuilder:default=true
	// +optional
	Open *bool `json:"open,omitempty"`
	// What people give before they come in.
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:items:Enum=name;email;consent;age_check
	// +optional
	// +listType=set
	Requires []string `json:"requires,omitempty"`
}

// PortalStatus is how a portal is.
type PortalStatus struct {
	Status `json:",inline"`
	// Its id, portal_….
	// +optional
	ID string `json:"id,omitempty"`
	// The id of its organization, org_….
	// +optional
	OrganisationID string `json:"organisationId,omitempty"`
	// The name in its page's address.
	// +optional
	Slug string `json:"slug,omitempty"`
	// Where its page is.
	// +optional
	URL string `json:"url,omitempty"`
	// The version that people see.
	// +optional
	PublishedVersion *int64 `json:"publishedVersion,omitempty"`
	// What keeps it from going live, the first ones.
	// +kubebuilder:validation:MaxItems=20
	// +optional
	// +listType=atomic
	Problems []PortalProblem `json:"problems,omitempty"`
}

// PortalProblem is something that keeps a portal from going live.
type PortalProblem struct {
	// What to mend, as the API names it.
	Field string `json:"field"`
	// Why.
	Message string `json:"message"`
}

// PortalList is a list of portals.
// +kubebuilder:object:root=true
type PortalList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Portal `json:"items"`
}

// State is the status that every kind has.
func (p *Portal) State() *Status { return &p.Status.Status }

// Deletion is the policy of its deletion.
func (p *Portal) Deletion() DeletionPolicy { return p.Spec.DeletionPolicy }
