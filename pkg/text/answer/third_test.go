package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfThird(t *testing.T) {
	for language, said := range map[string][2][]string{
		"en": {{"can she swim alone?", "and what does he pay?"}, {"what does a locker cost?", "can I swim here?", "where is there a shop"}},
		"de": {{"darf sie allein schwimmen?", "was zahlt er?"}, {"können sie mir sagen, was das kostet?", "Können Sie mir helfen?", "was kostet ein Schließfach?", "habt ihr einen Parkplatz?"}},
		"fr": {{"peut-elle nager seule ?", "combien paie-t-il ?", "il paie combien ?"}, {"il y a un parking ?", "combien coûte un casier ?"}},
		"es": {{"¿puede nadar sola?", "¿y qué paga?"}, {"¿se puede nadar?", "¿qué cuesta una taquilla?", "¿puede ayudarme?"}},
		"it": {{"può nuotare da sola?", "e quanto paga?"}, {"si può nuotare?", "quanto costa un armadietto?", "dove sono gli armadietti?", "lei può aiutarmi?", "quanto si può restare?"}},
		"pt": {{"pode nadar sozinha?", "e quanto paga?"}, {"quanto custa um cacifo?", "pode-se nadar?"}},
		"nl": {{"mag hij alleen zwemmen?", "wat betaalt ze?"}, {"wat kost een kluisje?"}},
		"pl": {{"czy może pływać sama?", "ile płaci?"}, {"ile kosztuje szafka?", "czy może pan pomóc?"}},
		"tr": {{"o ne kadar öder?", "ona ne kadar?"}, {"dolap ne kadar?", "burada yüzülebilir mi?", "bilet gerek mi?"}},
		"zh": {{"她可以自己游泳吗？", "他要付多少钱？"}, {"储物柜多少钱？", "其他人要付多少钱？", "有吉他课吗？"}},
		"ja": {{"その子は一人で泳げますか？", "彼はいくら払いますか？"}, {"ロッカーはいくらですか？", "カードで払えますか？"}},
		"ar": {{"هل يمكنها السباحة وحدها؟", "كم يدفع؟"}, {"كم سعر الخزانة؟"}},
	} {
		for _, text := range said[0] {
			assert.True(t, OfThird(language, text), text)
		}
		for _, text := range said[1] {
			assert.False(t, OfThird(language, text), text)
		}
	}
	assert.False(t, OfThird("xx", "he"))
}
