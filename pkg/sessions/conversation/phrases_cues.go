package conversation

// cues are the words by which people take turns in a language. Lists are separated by bars.
type cues struct {
	// fillers show that somebody listens and say nothing; assents do too, while somebody
	// else speaks, and are an answer otherwise.
	fillers, assents string
	// stops make a speaker stop, alone or at the beginning of what is said.
	stops string
	// hanging are words that no thought ends with: conjunctions, prepositions, articles.
	hanging string
}

// cuesOf are the languages that are known. The words of scripts without blanks are those
// of wordsOf: two characters in a row.
var cuesOf = map[string]cues{
	"en": {
		fillers: "mhm|mm|mmm|mm hmm|hmm|hm|uh huh|uhuh|uh|um|ah|aha|oh|er",
		assents: "yeah|yes|yep|yup|ok|okay|right|sure|i see|got it|exactly|of course|good|great|nice|cool|alright|all right|really|wow|indeed|true|interesting|makes sense|fine",
		stops:   "stop|wait|hold on|hang on|pause|enough|be quiet|quiet|shut up|shush|hush|one moment|just a moment|one second|just a second|hold it|excuse me|stop it|stop talking",
		hanging: "and|but|or|so|because|if|when|while|than|with|without|for|from|to|of|at|by|in|on|into|about|between|the|a|an|my|your|his|her|our|their|is|are|was|were|do|does|can|could|would|will|i|we|um|uh|er|which|whose",
	},
	"de": {
		fillers: "mhm|mm|hm|hmm|aha|ah|oh|äh|ähm|öh|ach|ach so|achso",
		assents: "ja|jaja|ja ja|jo|jep|okay|ok|genau|gut|klar|richtig|stimmt|verstehe|alles klar|super|schön|echt|wirklich|natürlich|sicher|interessant|prima|na gut|ah ja|ach ja",
		stops:   "stopp|stop|halt|warte|warten sie|wart mal|warte mal|moment|moment mal|einen moment|sekunde|ruhe|still|sei still|seien sie still|genug|das reicht|aufhören|hör auf|hören sie auf|entschuldigung|pause",
		hanging: "und|aber|oder|weil|dass|denn|wenn|als|ob|damit|obwohl|sondern|mit|ohne|für|von|zu|zum|zur|bei|in|im|an|am|auf|aus|nach|über|unter|vor|zwischen|der|die|das|den|dem|des|ein|eine|einen|einem|einer|mein|meine|meinen|ihr|ihre|ist|sind|war|ich|wir|äh|ähm|also|wie|wo|was|wann|wer|welche|welcher",
	},
	"fr": {
		fillers: "hm|hmm|mm|mhm|euh|heu|ah|oh|ben|bah",
		assents: "oui|ouais|ok|okay|d'accord|bien|bien sûr|exactement|voilà|je vois|très bien|super|c'est ça|ah bon|ah oui|vraiment|parfait|entendu|bon",
		stops:   "stop|attendez|attends|arrêtez|arrête|un instant|un moment|une seconde|pause|silence|taisez vous|tais toi|ça suffit|assez|excusez moi|pardon",
		hanging: "et|mais|ou|donc|car|parce|que|qui|si|quand|comme|avec|sans|pour|de|du|des|à|au|aux|dans|en|sur|par|chez|entre|le|la|les|l|un|une|mon|ma|mes|votre|vos|est|sont|je|nous|euh|alors|où|quel|quelle|comment",
	},
	"es": {
		fillers: "mm|mhm|hm|eh|ah|ajá|oh|este|em",
		assents: "sí|si|vale|ok|okay|claro|bien|bueno|exacto|ya|ya veo|de acuerdo|entiendo|perfecto|muy bien|por supuesto|en serio|genial|correcto",
		stops:   "para|pare|basta|espera|espere|un momento|un segundo|alto|silencio|cállate|cállese|detente|deténgase|perdón|disculpe|stop|ya basta",
		hanging: "y|e|pero|o|porque|que|si|cuando|como|con|sin|para|por|de|del|a|al|en|sobre|entre|hasta|desde|el|la|los|las|un|una|mi|mis|su|sus|es|son|yo|eh|pues|donde|dónde|cuál|qué|cómo",
	},
	"it": {
		fillers: "mm|mhm|hm|eh|ah|oh|ehm",
		assents: "sì|si|ok|okay|va bene|certo|giusto|esatto|capisco|ho capito|bene|perfetto|d'accordo|davvero|ottimo|già",
		stops:   "stop|aspetta|aspetti|ferma|fermati|si fermi|basta|un momento|un attimo|un secondo|silenzio|zitto|pausa|scusi|scusa",
		hanging: "e|ma|o|perché|che|se|quando|come|con|senza|per|di|del|della|a|al|alla|in|nel|su|tra|fra|da|il|lo|la|i|gli|le|un|una|mio|mia|suo|sua|è|sono|io|ehm|allora|dove|quale",
	},
	"pt": {
		fillers: "mm|mhm|hm|ah|oh|hã|né|ãh",
		assents: "sim|tá|ok|okay|certo|claro|exato|entendi|bom|bem|pois|pois é|está bem|tudo bem|perfeito|com certeza|é|isso|sério",
		stops:   "pare|para|espera|espere|um momento|um segundo|um instante|chega|basta|silêncio|quieto|pausa|desculpe|stop|calma",
		hanging: "e|mas|ou|porque|que|se|quando|como|com|sem|para|por|de|do|da|dos|das|a|ao|à|em|no|na|sobre|entre|até|o|os|as|um|uma|meu|minha|seu|sua|é|são|eu|então|onde|qual|quem",
	},
	"nl": {
		fillers: "mm|mhm|hm|eh|ah|oh|uh|aha",
		assents: "ja|jawel|oké|ok|okay|precies|goed|juist|klopt|natuurlijk|ik snap het|ik begrijp het|prima|echt|mooi|duidelijk",
		stops:   "stop|wacht|wacht even|een moment|moment|momentje|ho|halt|stil|genoeg|hou op|pauze|sorry",
		hanging: "en|maar|of|omdat|dat|als|toen|want|met|zonder|voor|van|naar|bij|in|op|aan|uit|over|tussen|de|het|een|mijn|uw|is|zijn|was|ik|we|eh|dus|waar|wat|wie|welke|hoe",
	},
	"sv": {
		fillers: "mm|mhm|hm|eh|ah|oh|öh", assents: "ja|jo|okej|ok|precis|bra|just det|absolut|jag förstår|visst|verkligen|jaha",
		stops:   "stopp|stop|vänta|vänta lite|ett ögonblick|tyst|sluta|nog|paus|ursäkta",
		hanging: "och|men|eller|för|att|om|när|som|med|utan|av|till|från|i|på|vid|mellan|en|ett|den|det|de|min|mitt|din|är|var|jag|vi|eh|så|hur|vad|vilken",
	},
	"da": {
		fillers: "mm|mhm|hm|øh|ah|nå", assents: "ja|jo|okay|ok|præcis|godt|netop|klart|jeg forstår|selvfølgelig|virkelig",
		stops:   "stop|vent|vent lidt|et øjeblik|stille|hold op|nok|pause|undskyld",
		hanging: "og|men|eller|fordi|at|hvis|når|som|med|uden|af|til|fra|i|på|ved|mellem|en|et|den|det|de|min|mit|din|er|var|jeg|vi|øh|så|hvordan|hvad|hvilken",
	},
	"pl": {
		fillers: "mhm|mm|hm|yhm|aha|eee|ach", assents: "tak|no|okej|ok|dobrze|dobra|jasne|rozumiem|właśnie|racja|świetnie|naprawdę|oczywiście|no tak",
		stops:   "stop|stój|czekaj|poczekaj|proszę poczekać|chwila|chwileczkę|moment|momencik|cicho|cisza|dość|wystarczy|przestań|przepraszam|pauza",
		hanging: "i|a|ale|albo|lub|bo|ponieważ|że|jeśli|jeżeli|gdy|kiedy|z|ze|bez|dla|od|do|na|w|we|o|po|przy|przez|między|mój|moja|jest|są|ja|eee|więc|jak|gdzie|który|która",
	},
	"tr": {
		fillers: "hm|hmm|mm|mhm|hı hı|ıı|ah|ee", assents: "evet|tamam|peki|olur|anladım|doğru|tabii|tabi|elbette|güzel|gerçekten|aynen|iyi|ok",
		stops:   "dur|durun|bekle|bekleyin|bir dakika|bir saniye|bir an|sus|susun|yeter|kes|pardon|durdur",
		hanging: "ve|ama|fakat|veya|ya|çünkü|ki|eğer|ile|için|gibi|kadar|bir|bu|şu|o|benim|ıı|yani|nasıl|nerede|hangi|ne",
	},
	"ar": {
		fillers: "ممم|مم|آه|اه|هم|اممم", assents: "نعم|أجل|ايوه|أيوه|حسنا|حسناً|طيب|تمام|صحيح|فهمت|بالطبع|أكيد|حقا|جيد|ممتاز|اوكي",
		stops:   "توقف|توقفي|قف|انتظر|انتظري|لحظة|لحظة من فضلك|دقيقة|كفى|اسكت|اسكتي|يكفي|عفوا|مهلا",
		hanging: "و|أو|لكن|ولكن|لأن|أن|إن|إذا|عندما|مع|من|إلى|على|في|عن|ب|ل|بين|هذا|هذه|هو|هي|أنا|يعني|ثم|كيف|أين|ما|الذي|التي",
	},
	"zh": {
		fillers: "嗯|嗯嗯|呃|啊|哦|噢|哈", assents: "是|是的|对|对的|对对|好|好的|好吧|明白|知道|行|没错|当然|可以|真的|懂了",
		stops:   "停|停下|停一下|等|等等|等一下|等一等|稍等|别说了|够了|安静|打住|不好意思|暂停",
		hanging: "和|但|但是|或|或者|因为|所以|如果|的|在|从|到|跟|把|我|这个|那个|然后|就是|一个|呃",
	},
	"ja": {
		fillers: "うん|うんうん|ふん|へえ|ええと|あの|えっと|ああ", assents: "はい|ええ|そう|そうです|そうですね|なるほど|わかりました|分かりました|いいですね|本当|オーケー|了解",
		stops:   "待って|待ってください|ちょっと待って|ストップ|止めて|やめて|止まって|静かに|すみません|もういい",
		hanging: "が|を|に|は|と|で|の|へ|から|まで|けど|けれど|そして|でも|ので|えっと|あの|その",
	},
}
