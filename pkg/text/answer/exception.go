package answer

import (
	"regexp"
	"strings"

	"visavis.dev/pkg/text/search"
)

// Exception is a sentence that sets a rule and something that the rule does not hold for: "dogs are
// not allowed, except guide dogs".
type Exception struct {
	// Rule and Except are what the sentence says of either, in its own words.
	Rule, Except string
	// Condition says that the rule does not hold where the exception is so, whoever it is about:
	// "unless an adult is with them".
	Condition bool
	// besides says that the words may as well add something as except it: "apart from cash"; contrary
	// that what is excepted is denied: "but not in the restaurant".
	besides, contrary bool
}

var (
	// conditionForm begins an exception that is a condition.
	conditionForm = regexp.MustCompile(`(?i)unless|es sei denn|à moins|a menos que|a no ser que|a não ser|a meno che|tenzij|chyba że`)
	besidesForm   = regexp.MustCompile(`(?i)apart from|aside from|other than|abgesehen von|à part|en dehors|aparte de|a parte|tirando|afgezien van|prócz|dışında|haricinde|除|以外`)
	contraryForm  = regexp.MustCompile(`(?i)but not|aber nicht|jedoch nicht|但不`)
)

// exceptionForms are how a language excepts: before what is excepted, after it, or around it. Those of
// [exempt] make a whole sentence the exception to the one before it.
type exceptionForms struct {
	before, after, around, exempt *regexp.Regexp
	// also adds something to a rule, so that nothing is excepted from it; every makes it one for all.
	also, every *regexp.Regexp
	// leave says that something is allowed or not, where the lexicon's words do not.
	leave *regexp.Regexp
	// joins part the things that are excepted; binds tie one to what stands beside it, so that they are
	// not parted; limits say more of them than what they are.
	joins, binds, limits *regexp.Regexp
}

// ahead and behind bound the words of a script that parts words.
const (
	ahead  = `(?i)(?:^|[\s,;(–—-])(?:`
	behind = `)(?:$|[\s,;:)])`
)

func excepting(before, after, exempt string) exceptionForms {
	f := exceptionForms{before: regexp.MustCompile(ahead + before + behind), exempt: regexp.MustCompile(`(?i)` + exempt)}
	if after != "" {
		f.after = regexp.MustCompile(ahead + after + `)(?:$|[\s,;:.!)])`)
	}
	return f
}

// apart matches words of a script that parts them.
func apart(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:` + words + `)(?:$|[^\p{L}])`)
}

var exceptionsOf = func() map[string]*exceptionForms {
	all := map[string]*exceptionForms{}
	for language, f := range exceptions {
		w := itemWords[language]
		form := apart
		if language == "zh" || language == "ja" {
			form = regexp.MustCompile
		}
		f.also, f.every, f.leave = form(w.also), form(w.every), form(w.leave)
		f.joins, f.binds, f.limits = regexp.MustCompile(`(?i)[,،、;]`+w.joins), form(w.binds), form(w.limits)
		all[language] = &f
	}
	return all
}()

var exceptions = map[string]exceptionForms{
	"en": excepting(`except(?:ing)?(?: for)?|with the exception of|apart from|aside from|other than|excluding|save for|but not|unless`, `excepted|excluded`,
		`^(?:only|however|but|still)\b|\bexempt(?:ed)?\b|^exceptions?\b|(?:does|do) not apply to|the (?:only )?exceptions? (?:is|are)|an exception is made`),
	"de": excepting(`außer|ausser|ausgenommen|mit ausnahme (?:von|der|des)|abgesehen von|es sei denn|aber nicht|jedoch nicht`, `ausgenommen`,
		`^(?:nur|aber|jedoch|allerdings)\b|^ausgenommen\b|ausgenommen (?:ist|sind)|(?:ist|sind) (?:davon |hiervon )?ausgenommen|gilt nicht für|^ausnahmen?\b|(?:ist|sind) die ausnahme`),
	"fr": excepting(`sauf|excepté|hormis|à l['’]exception (?:de|des|du|d['’]\S*)|à part|en dehors (?:de|des|du)|à moins (?:que|de|d['’]\S*)`, `exceptée?s?`,
		`^(?:seuls?|seules?|mais|cependant|toutefois)\b|ne s['’]applique(?:nt)? pas|^exceptions?\b|font? exception`),
	"es": excepting(`salvo|excepto|exceptuando|(?:a|con) (?:la )?excepción de|con excepción de|aparte de|a menos que|a no ser que`, ``,
		`^(?:solo|sólo|solamente|pero|sin embargo)\b|no se aplica a|^excepci(?:ón|ones)\b|quedan? exent|quedan? exceptuad`),
	"it": excepting(`tranne|eccetto|salvo|ad eccezione (?:di|dei|delle|del|della|degli)|fatta eccezione per|a parte|a meno che|esclus[oaie]`, `esclus[oaie]`,
		`^(?:solo|soltanto|ma|tuttavia)\b|non (?:vale|si applica) (?:per|a)|^eccezion[ei]\b|fanno eccezione|fa eccezione`),
	"pt": excepting(`exceto|excepto|salvo|com exceção (?:de|dos|das|do|da)|à exceção (?:de|dos|das|do|da)|a não ser|a menos que|tirando`, ``,
		`^(?:só|apenas|mas|no entanto)(?:$|[^\p{L}])|não se aplica (?:a|ao|aos|às)|^exceç(?:ão|ões)\b|são exceção|é exceção`),
	"nl": excepting(`behalve|uitgezonderd|met uitzondering van|afgezien van|tenzij`, `uitgezonderd`,
		`^(?:alleen|maar|wel|echter)\b|geldt niet voor|^uitzondering(?:en)?\b|vormen een uitzondering|zijn uitgezonderd`),
	"pl": excepting(`oprócz|prócz|z wyjątkiem|za wyjątkiem|wyjąwszy|wyłączając|chyba że`, ``,
		`^(?:tylko|ale|jednak)\b|nie dotyczy|^wyjąt(?:ek|ki|kiem)\b|wyjątek stanowi`),
	"tr": {
		after:  regexp.MustCompile(`(?i)[\s](?:hariç|dışında|haricinde)(?:$|[\s,;.!)])`),
		exempt: regexp.MustCompile(`(?i)^(?:ancak|sadece|yalnızca)\s|için geçerli değil|istisnadır|^istisna`),
	},
	"zh": {
		around: regexp.MustCompile(`除(?:了)?(.+?)(?:以外|之外|外)`), after: regexp.MustCompile(`除外`), before: regexp.MustCompile(`但不包括|不包括|但不含`),
		exempt: regexp.MustCompile(`^(?:但|只有|仅)|不适用于|例外`),
	},
	"ja": {
		after:  regexp.MustCompile(`以外|を除[きくい]て?`),
		exempt: regexp.MustCompile(`^ただし|例外|適用されません`),
	},
	"ar": {
		before: regexp.MustCompile(`(?:^|[\s،,])(?:باستثناء|إلا|الا|ما عدا|ماعدا|فيما عدا|عدا|سوى)\s`),
		exempt: regexp.MustCompile(`^(?:لكن|ولكن|فقط)\s|لا ينطبق|لا يسري|يستثنى|^استثناء`),
	},
}

// itemWords are the words of [exceptionForms] that stand in rules and in what is excepted.
var itemWords = map[string]struct{ also, every, leave, joins, binds, limits string }{
	"en": {`also|too|as well|additionally|either|neither|nor|even|likewise`, `all|every\p{L}*|any\p{L}*|always`, `may`, `|\s(?:and|or)\s`,
		`of|in|on|at|with|without|from|for|to|by|inside|outside|during|after|before|under|over|near|behind|between|through|as|per|than`, `which|who|whose|that|where|when|while|if|only|must|but|however`},
	"de": {`auch|zudem|außerdem|ebenfalls|ebenso|sogar|zusätzlich|weder`, `alle\p{L}*|jede\p{L}*|überall|immer`, `darf|dürfen`, `|\s(?:und|oder|sowie)\s`,
		`von|vom|in|im|ins|an|am|auf|mit|ohne|aus|für|zu|zum|zur|bei|beim|nach|vor|unter|über|neben|hinter|während|bis|als|der`, `die|welche\p{L}*|deren|dessen|wo|wenn|falls|sofern|nur|müssen|muss|aber|jedoch`},
	"fr": {`aussi|également|encore|même|non plus|en plus`, `tou(?:t|te|s|tes)|partout|toujours|chaque`, `peut|peuvent`, `|\s(?:et|ou)\s`,
		`de|d|du|des|en|dans|sur|à|a|au|aux|avec|sans|pour|par|chez|sous|pendant|après|avant|entre|près|comme`, `qui|que|dont|où|si|quand|lorsque|seulement|uniquement|doivent|doit|mais`},
	"es": {`también|tampoco|además|incluso|siquiera`, `tod[oa]s?|siempre|cualquier`, `puede|pueden`, `|\s(?:y|e|o|u)\s`,
		`de|del|en|a|al|con|sin|para|por|sobre|bajo|durante|tras|desde|hasta|entre|ante`, `que|quien|quienes|cuyo|donde|si|cuando|solo|sólo|solamente|deben|debe|pero`},
	"it": {`anche|pure|inoltre|neanche|nemmeno|neppure|perfino`, `tutt[oaie]|ovunque|sempre|ogni|dappertutto`, `può|possono`, `|\s(?:e|ed|o)\s`,
		`di|del|dello|della|dei|degli|delle|dell|in|nel|nello|nella|nei|negli|nelle|nell|a|al|allo|alla|ai|agli|alle|all|su|sul|sulla|con|senza|per|da|dal|dalla|durante|dopo|prima|sotto|tra|fra`, `che|cui|dove|se|quando|solo|soltanto|devono|deve|ma|però|purché`},
	"pt": {`também|tampouco|além|ainda|inclusive|sequer`, `tod[oa]s?|tudo|sempre|qualquer`, `pode|podem`, `|\s(?:e|ou)\s`,
		`de|do|da|dos|das|em|no|na|nos|nas|a|ao|à|aos|às|com|sem|para|por|pelo|pela|sobre|sob|durante|após|antes|entre|desde`, `que|quem|cujo|onde|se|quando|só|somente|apenas|devem|deve|mas`},
	"nl": {`ook|tevens|bovendien|eveneens|zelfs|evenmin`, `alle\p{L}*|elke?|overal|ieder\p{L}*|altijd`, `mag|mogen`, `|\s(?:en|of)\s`,
		`van|in|op|aan|met|zonder|uit|voor|naar|bij|na|onder|boven|naast|achter|tijdens|tussen|tot|als`, `die|dat|wie|waar|wanneer|indien|mits|moeten|moet|alleen|maar`},
	"pl": {`też|także|również|nawet|ponadto|dodatkowo|ani`, `wszędzie|wszystk\p{L}*|wszyscy|każd\p{L}*|zawsze`, `wpuszcz\p{L}*|wstęp\p{L}*|wchodzić`, `|\s(?:i|oraz|lub|albo)\s`,
		`z|ze|w|we|na|do|od|dla|bez|przy|po|pod|nad|za|przed|podczas|między|o|u`, `któr\p{L}*|gdzie|gdy|jeśli|jeżeli|tylko|muszą|musi|ale`},
	"tr": {`da|de|dahi|ayrıca|bile|hem`, `tüm|bütün|her|hepsi|daima`, `gir\p{L}*|yasak\p{L}*|serbest\p{L}*|getir\p{L}*`, `|\s(?:ve|veya|ya da)\s`,
		`ile|için|gibi|olan|[\p{L}]{2,}(?:nın|nin|nun|nün|ların|lerin|ında|inde|larda|lerde)`, `ise|eğer|yalnızca|sadece|ancak|ama|koşuluyla|şartıyla`},
	"zh": {`也|还|又|另外|同时`, `都|所有|一切|任何|全`, `入内|进入|入场`, `|和|或|与|及`, `的|在|于|带|有`, `只|仅|但|如果|须|若|时`},
	"ja": {`以外に|他にも|ほかにも|また、|も(?:ご|お|使|利用|可|でき|対応|支払|払|ある|あり|入)`, `すべて|全て|全館|どこでも|いつでも|誰でも`, `入れ|入場|不可|持ち込|同伴`, `|や|または|及び|および`, `の|で|に|を|が|連れ`, `のみ|だけ|ただし|場合|時|とき|なら`},
	"ar": {`أيضا|أيضاً|ايضا|كذلك|كما|بالإضافة|حتى`, `كل|جميع|دائما|دائماً`, `دخول\p{L}*|يدخل|تدخل`, `|\s(?:أو|او)\s`,
		`في|من|على|إلى|مع|بدون|عند|أثناء|خلال|بعد|قبل|تحت|ل\p{L}{3,}|ب\p{L}{4,}|و\p{L}{4,}`, `التي|الذي|الذين|إذا|اذا|عندما|فقط|بشرط|لكن|يجب`},
}

// ends are the marks that end a part of a sentence.
const ends = ",;()،；，、：。"

// ExceptionIn reads the rule and the exception of a sentence; ok is false where it has none.
func ExceptionIn(language, sentence string) (e Exception, ok bool) {
	f, known := exceptionsOf[base(language)]
	sentence = strings.TrimSpace(sentence)
	if !known || f.also.MatchString(sentence) {
		return e, false
	}
	if f.around != nil {
		if m := f.around.FindStringSubmatchIndex(sentence); m != nil {
			return exceptionOf(sentence[:m[0]]+" "+sentence[m[1]:], sentence[m[2]:m[3]], sentence[m[0]:m[1]])
		}
	}
	if e, ok = f.ahead(sentence); ok || f.after == nil {
		return e, ok
	}
	m := f.after.FindStringIndex(sentence)
	if m == nil {
		return e, false
	}
	from := strings.LastIndexAny(sentence[:m[0]], ends)
	except := strings.TrimLeft(sentence[from+1:m[0]], ends)
	if from >= 0 {
		except = strings.TrimLeft(sentence[from:m[0]], ends) // its last mark may be of several bytes
	}
	rule := sentence[:max(0, from)] + " " + sentence[m[1]:]
	if topic, of, found := strings.Cut(except, "は"); found && base(language) == "ja" {
		rule, except = topic+"は"+strings.TrimSpace(rule), of // "犬は盲導犬を除き…"
	}
	if outside.MatchString(sentence[m[0]:m[1]]) && from < 0 && sentence[m[1]-1] != ',' && !Denied(language, sentence) {
		return Exception{}, false // "outside", of a place
	}
	return exceptionOf(rule, except, sentence[m[0]:m[1]])
}

// outside is Turkish for "outside" as well as for "except".
var outside = regexp.MustCompile(`(?i)dışında`)

// ahead reads an exception whose words stand before what is excepted.
func (f *exceptionForms) ahead(sentence string) (e Exception, ok bool) {
	if f.before == nil {
		return e, false
	}
	m := f.before.FindStringIndex(sentence)
	if m == nil || strings.Trim(sentence[m[1]:], " .!"+ends) == "" {
		return e, false
	}
	first, rest := sentence[:m[0]], sentence[m[1]:]
	if strings.Trim(first, " "+ends) != "" {
		rest, after, _ := strings.Cut(rest, ";")
		return exceptionOf(first+" "+after, rest, sentence[m[0]:m[1]])
	}
	// "Except for guide dogs, dogs are not allowed."
	except, rule, found := strings.Cut(rest, ",")
	if !found {
		except, rule, _ = strings.Cut(rest, "،")
	}
	return exceptionOf(rule, except, sentence[m[0]:m[1]])
}

// exceptionOf is an exception by the words that except.
func exceptionOf(rule, except, words string) (Exception, bool) {
	e := Exception{
		Rule: strings.Trim(rule, " ."+ends), Except: strings.Trim(except, " .!"+ends),
		Condition: conditionForm.MatchString(words), besides: besidesForm.MatchString(words), contrary: contraryForm.MatchString(words),
	}
	return e, e.Rule != "" && e.Except != ""
}

// Exempts says whether a sentence as a whole is an exception to the one before it: "this does not
// apply to guide dogs".
func Exempts(language, sentence string) bool {
	f, known := exceptionsOf[base(language)]
	return known && f.exempt.MatchString(strings.TrimSpace(sentence))
}

// Forbids says whether a text plainly forbids or denies what it speaks of: "no dogs", and not "dogs are
// not forbidden" or "at no extra charge".
func Forbids(language, text string) bool {
	n, _ := denialsIn(language, text)
	return n.count == 1 && !n.part && !freeNo.MatchString(text)
}

// freeNo begins what is free of something, rather than forbidden.
var freeNo = regexp.MustCompile(`(?i)^no\s+(?:\p{L}+\s+){0,2}(?:extra|additional|further|special|need|needs|needed|required|necessary|charges?|fees?|costs?|booking|bookings|reservations?|registration|restrictions?|limits?|limitations?|deposit|obligation|problem|matter|doubt)\b`)

// Denied says whether a text has any word that denies or forbids. A question that only offers both, as
// Chinese ones do, denies nothing.
func Denied(language, text string) bool {
	if base(language) == "zh" {
		text = eitherForm.ReplaceAllString(text, "")
	}
	n, known := NegationIn(language, text)
	return n.Any() || !known
}

var eitherForm = regexp.MustCompile(`能不能|可不可以|行不行|让不让|准不准|是不是|是否|可否|能否`)

// nearForm says in any language that something is by a place, and not at it.
var nearForm = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:near|nearby|next to|close to|outside|behind|around|beside|in front of|neben|vor|hinter|bei|beim|außerhalb|nahe|près|à côté|devant|derrière|hors|autour|cerca|junto|delante|detrás|fuera|alrededor|al lado|vicino|accanto|davanti|dietro|fuori|perto|ao lado|atrás|fora|em frente|naast|achter|buiten|obok|przy|przed|za|koło|poza|yan[ıi]nda|önünde|arkasında|dışında|yakınında|قرب|بجانب|أمام|خلف|خارج)(?:$|[^\p{L}])|旁边|附近|外面|前面|后面|门口|近く|の横|の隣|の外|の前|のそば|の裏`)

// Near says whether a text speaks of what is by a place: "near the terrace".
func Near(text string) bool { return nearForm.MatchString(text) }

// permitForm gives leave, in any language: what only does not refuse it may do so in a word that is not
// known.
var permitForm = regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:allowed|permitted|welcome|may|can|erlaubt|gestattet|willkommen|zulässig|zugelassen|darf|dürfen|kann|können|autorisée?s?|permi(?:s|se|ses)|permet\p{L}*|admise?s?|bienvenue?s?|peut|peuvent|permiten?|permitid\p{L}*|admiten?|admitid\p{L}*|bienvenid\p{L}*|pueden?|permess\p{L}*|ammess\p{L}*|consentit\p{L}*|benvenut\p{L}*|può|possono|aceit\p{L}*|bem-vind\p{L}*|podem?|toegestaan|toegelaten|welkom|mag|mogen|dozwolon\p{L}*|wolno|można|może|mogą|serbest\p{L}*|\p{L}+[ae]bilir\p{L}*|مسموح\p{L}*|يسمح|يمكن\p{L}*|يجوز)(?:$|[^\p{L}])|可以|允许|欢迎|できます|可能|入れます`)

// Excepted is whether leave is given for what is excepted from a rule: the contrary of the rule. It is
// Unclear unless the rule gives or refuses leave in plain words.
func Excepted(language string, e Exception) Verdict {
	f, known := exceptionsOf[base(language)]
	n, understood := denialsIn(language, e.Rule)
	of := EvidenceIn(language, e.Rule)
	switch {
	case !known || !understood || n.part || n.count > 1 || freeNo.MatchString(e.Rule) || f.limits.MatchString(e.Except) || Denied(language, e.Except) || Conditional(language, e.Except):
		return Unclear
	case !n.bans && !of.has("allowed", "forbidden") && !f.leave.MatchString(e.Rule):
		return Unclear // it says what is so, not what may be
	case n.count == 1 && !e.contrary && f.one(language, e.Rule):
		return Holds
	case n.count == 1 || !permitForm.MatchString(e.Rule) || of.Money || of.has("price", "discount"):
		return Unclear
	case e.besides && !f.every.MatchString(e.Rule):
		return Unclear // "apart from cash, we accept cards"
	case f.binds.MatchString(e.Rule):
		return Unclear // dogs that are welcome on a lead, except guide dogs, may be welcome without one
	}
	return Fails
}

// contrastForm parts clauses that say the contrary of each other.
var contrastForm = regexp.MustCompile(`(?i)\s(?:but|while|whereas|yet|aber|jedoch|während|mais|tandis que|alors que|pero|mientras|ma|mentre|mas|enquanto|maar|terwijl|ale|natomiast|ama|fakat|لكن|ولكن|بينما)\s|但|却|しかし|ですが|ますが|;`)

// one says whether a rule that denies is a single one, and what the exception is of: "bikes are not
// allowed but dogs are welcome" is two.
func (f *exceptionForms) one(language, rule string) bool {
	clauses := f.joins.Split(contrastForm.ReplaceAllString(rule, ";"), -1)
	last, _ := denialsIn(language, clauses[len(clauses)-1])
	leaves := 0
	for _, clause := range clauses {
		n, _ := denialsIn(language, clause)
		if of := EvidenceIn(language, clause); n.count > 0 || of.has("allowed", "forbidden") || f.leave.MatchString(clause) {
			leaves++
		}
	}
	return last.count == 1 && leaves == 1
}

// General says whether words make a rule one for all: "everywhere".
func General(language, words string) bool {
	f, known := exceptionsOf[base(language)]
	return known && f.every.MatchString(words)
}

// Items are the things that an exception names: "guide dogs" and "police dogs". Where words bind them to
// others, or one shares a word with the next ("small and quiet dogs"), they are one.
func (e *Exception) Items(language string) []string {
	f, known := exceptionsOf[base(language)]
	if !known || f.binds.MatchString(e.Except) {
		return []string{e.Except}
	}
	var items []string
	for _, item := range f.joins.Split(e.Except, -1) {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	for _, item := range items {
		if wide := base(language) == "zh" || base(language) == "ja"; !wide && len(search.NewPhrase(item)) != len(search.NewPhrase(items[0])) {
			return []string{e.Except}
		}
	}
	return items
}
