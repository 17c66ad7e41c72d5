package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFollows(t *testing.T) {
	for language, text := range map[string]string{
		"en": "what happens after I cancel", "de": "was passiert nach der Kündigung", "fr": "que se passe-t-il après la résiliation", "es": "qué pasa después de cancelar",
		"it": "cosa accade dopo la disdetta", "pt": "o que acontece depois de cancelar", "nl": "wat gebeurt er na het opzeggen", "pl": "co się dzieje po rezygnacji",
		"tr": "iptalden sonra ne olur", "zh": "取消以后会怎么样", "ja": "解約後はどうなりますか", "ar": "ماذا يحدث بعد الإلغاء",
	} {
		assert.True(t, Follows(language, text), text)
	}
	assert.False(t, Follows("de", "Der Nachmittag ist frei."))
	assert.False(t, Follows("xx", "after"))
}
