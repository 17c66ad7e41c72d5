package answer

import (
	"regexp"
	"slices"
)

// hurtForms are how each language tells of a wound, a burn, a fall, a sprain or a sting.
var hurtForms = map[string]*regexp.Regexp{
	"en": beginning(`(?:i|he|she|we|they|who|child|kid|son|daughter)(?: have| has|['’]ve|['’]s)?(?: just| badly)? cut\b|cuts? (?:on|to|in) |cut (?:my|his|her|their|our)\b|bleed|nosebleed|burn(?:ed|t)? (?:my|his|her|their|our|him|me|herself|himself|myself)|burn(?:s|ed|t)? on|scald|fell\b|fallen|slipped|tripped|sprain|twisted|stung|sting|grazed?\b|scraped?\b|bitten|bruis|wound|injur|hurt (?:my|his|her|their|our)\b|broke(?:n)? (?:my|his|her|their|our|a|an|arm|leg|wrist|ankle)\b`),
	"de": beginning(`geschnitten|schnittwunde|blute|nasenblut|verbrannt|verbrennung|verbrüht|gestürzt|hingefallen|gefallen|ausgerutscht|verstaucht|umgeknickt|gestochen|\p{L}*stich|gebissen|schürfwunde|wunde|verletzt|gebrochen`),
	"fr": beginning(`coupée?|coupure|saign|br[ûu]lé|brûlure|ébouillant|tombée?|chute|glissé|foul(?:é|ure)|entorse|tordu|piqu(?:é|ûre)|mordue?|bless|plaie|égratign|cassé (?:le|la|un|une)`),
	"es": beginning(`cortad|cortó|corté|sangr|quemad|quemó|quemé|caído|caída|cayó|caí(?:$|[^\p{L}])|resbal|torcid|torció|torcí|esguince|picad|picó|mordid|mordió|herid|rasp`),
	"it": beginning(`tagliat|sanguin|scottat|ustion|bruciat[oa] (?:la|il|un)|cadut|scivolat|slogat|storta|distors|punt[oa] d|mors[oa]|ferit`),
	"pt": beginning(`cort(?:ei|ou|ad|e)|sangr|queim(?:ei|ou)|queimadura|caiu|caí(?:$|[^\p{L}])|escorreg|torc(?:i|eu)|entorse|picad|picou|mordid|mordeu|ferid|machuc`),
	"nl": beginning(`gesneden|bloed|verbrand|brandwond|gevallen|uitgegleden|verstuikt|verzwikt|gestoken|gebeten|gewond|wond\b|schaafwond`),
	"pl": beginning(`skalecz|rozci|przeci(?:ął|ęł)|krwaw|krwi|oparz|poparz|upad|przewróci|poślizgn|skręci|zwichn|użądli|ukąsi|ugryz|ran[aęy]\b|zrani`),
	"tr": beginning(`kest[ii̇]|kesildi|kesik|kan[ıi]yor|kanama|yan[ıi]k|haşla|düştü|kayd[ıi]|burk|soktu|[ıi]s[ıi]rd|yara`),
	"zh": regexp.MustCompile(`割伤|割破|切到|划伤|流血|出血|烫伤|烧伤|摔|跌|扭伤|蜇|咬|受伤|伤口|擦伤`),
	"ja": regexp.MustCompile(`を切|出血|血が|火傷|やけど|転ん|転び|落ち|捻挫|刺され|噛ま|けが|ケガ|怪我|傷`),
	"ar": regexp.MustCompile(`جرح|ينزف|تنزف|نزيف|حرق|سقط|وقع|التوى|لدغ|لسع|عض|كسر|أصيب`),
}

// beginning finds words that begin with one of some forms.
func beginning(forms string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:` + forms + `)`)
}

// Hurt says whether what was said tells of an injury that first aid is for.
func Hurt(language, text string) bool {
	return slices.ContainsFunc(likely(language, text), func(t *talk) bool {
		form := hurtForms[t.language]
		return form != nil && form.MatchString(text)
	})
}

// aidForm is first aid by name, or its kit, and aidLesson what teaches it.
var (
	aidForm = regexp.MustCompile(`(?i)first[- ]aid|medical point|medicine cabinet|erste[rn]?[- ]hilfe|ersthelfer|sanitätsraum|sanitäter|verbands?kasten|premiers? (?:secours|soins)|secouriste|infirmerie|trousse de secours|` +
		`primeros auxilios|botiqu[ií]n|enfermería|primo soccorso|(?:cassetta|kit) di pronto soccorso|infermeria|primeiros socorros|enfermaria|eerste[- ]hulp|\b(?:ehbo|bhv)\b|verband(?:doos|trommel)|` +
		`pierwsz\p{L} pomoc|apteczk|punkt medyczny|ilk ?yardım|\brevir\b|ecza dolabı|急救|医务室|医药箱|応急手当|救護室|医務室|救急箱|救急セット|إسعافات|الإسعافات|غرفة الإسعاف|مسعف`)
	aidLesson = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:courses?|class|training|cours|formation|formaci[oó]n|curso|cors[oi]|formazione|formação|cursus|opleiding|szkoleni|eğitim)|kurse?(?:$|[^\p{L}])|lehrgang|schulung|课|培训|講習|研修|دورة|تدريب`)
)

// Aids says whether a sentence tells of first aid: who gives it, or where the kit is; not who
// teaches it, nor what it costs.
func (e *Evidence) Aids(sentence string) bool {
	return aidForm.MatchString(sentence) && !aidLesson.MatchString(sentence) && !e.Money
}
