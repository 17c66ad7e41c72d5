package portal_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"visavis.dev/operator/apis/v1alpha1"
	"visavis.dev/operator/operatortest"
	"visavis.dev/pkg/base/id"
)

func TestTheAPIServerRefuses(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, namespace := operatortest.Client(t, scheme), operatortest.Namespace(t)
	portal := func() *v1alpha1.Portal {
		return &v1alpha1.Portal{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "museum"},
			Spec: v1alpha1.PortalSpec{
				Organisation: v1alpha1.OrganisationReference{Name: "acme"}, Name: "The museum", Template: "museum_guide",
				Speaker: v1alpha1.PortalSpeaker{AvatarID: id.NamedAvatar("amara").String(), VoiceID: id.NamedVoice("nora").String()},
			},
		}
	}
	for name, refused := range map[string]struct {
		change  func(*v1alpha1.PortalSpec)
		message string
	}{
		"two speakers": {func(s *v1alpha1.PortalSpec) { s.Speaker.PersonaID = id.NewPersona().String() }, "give either personaId, or avatarId and voiceId"},
		"no voice":     {func(s *v1alpha1.PortalSpec) { s.Speaker.VoiceID = "" }, "give either personaId, or avatarId and voiceId"},
		"privacy":      {func(s *v1alpha1.PortalSpec) { s.Privacy.PrivacyURL = "http://example.com" }, "privacyUrl must be an https:// address"},
		"slug":         {func(s *v1alpha1.PortalSpec) { s.Slug = "-" }, "spec.slug"},
		"host":         {func(s *v1alpha1.PortalSpec) { s.Host = "localhost" }, "spec.host"},
	} {
		o := portal()
		refused.change(&o.Spec)
		require.ErrorContains(t, c.Create(t.Context(), o), refused.message, name)
	}
	made := portal()
	require.NoError(t, c.Create(t.Context(), made))
	require.True(t, *made.Spec.Published)
	require.Equal(t, v1alpha1.DeletePolicy, made.Spec.DeletionPolicy)
	other := made.DeepCopy()
	other.Spec.Template = "course"
	require.ErrorContains(t, c.Update(t.Context(), other), "template cannot be changed: make another Portal")
	other = made.DeepCopy()
	other.Spec.Organisation.Name = "globex"
	require.ErrorContains(t, c.Update(t.Context(), other), "organisation cannot be changed: make another Portal")
}
