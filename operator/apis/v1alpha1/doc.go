// Package v1alpha1 is the custom resources by which those who run the platform
// declare it: Shard, Organisation, Webhook and Portal.
//
// A resource flows one way. What its spec says becomes rows of the platform's
// databases, and what those say becomes its status. What was made through the API
// never becomes a resource.
//
// +kubebuilder:object:generate=true
// +groupName=visavis.dev
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the group and version of the resources.
var GroupVersion = schema.GroupVersion{Group: "visavis.dev", Version: "v1alpha1"}

// AddToScheme makes the resources known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion,
		&Shard{}, &ShardList{}, &Organisation{}, &OrganisationList{}, &Webhook{}, &WebhookList{}, &Portal{}, &PortalList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
