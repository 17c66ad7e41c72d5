// In which language the widget and the persona speak.

import { words } from './words/index.js'

const rightToLeft = new Set(['ar', 'dv', 'fa', 'he', 'ku', 'ps', 'sd', 'ug', 'ur', 'yi'])

const base = (code) => code.toLowerCase().split('-')[0]

/** The codes that a visitor can choose from. */
export function offered(config) {
  const { language, languages } = config.persona
  return config.languages.length ? config.languages : [...new Set([language, ...languages])]
}

/**
 * The offered language that is wanted most: each wanted one is looked for as it
 * is, then without its region.
 */
export function choose(wanted, codes, fallback) {
  for (const want of wanted) {
    const found = codes.find((code) => code.toLowerCase() === want.toLowerCase()) ?? codes.find((code) => base(code) === base(want))
    if (found) return found
  }
  return codes.includes(fallback) ? fallback : codes[0] ?? fallback
}

/** The page's languages, those it prefers first. */
export function languagesOf(tag, document, navigator) {
  return [tag.language, document.documentElement.lang, ...(navigator.languages ?? [])].filter(Boolean)
}

/** What a map by language has for a code, or for its language in another region. */
export function byLanguage(map, code) {
  return map[code] ?? map[Object.keys(map).find((key) => base(key) === base(code))]
}

/**
 * The widget's words in a language, with what its owner says instead. What has
 * neither is English.
 * @returns {Record<string, any> & {lang: string, dir: 'ltr' | 'rtl'}}
 */
export function wordsFor(code, config) {
  const lang = base(code) in words ? code : 'en'
  const own = Object.entries(byLanguage(config.texts, code) ?? {}).filter(([, text]) => text)
  return { ...words[base(lang)], ...Object.fromEntries(own), lang, dir: rightToLeft.has(base(lang)) ? 'rtl' : 'ltr' }
}

/** The name that the widget has for a text of the client. */
export const named = (key) => key.replace(/[._](.)/g, (_, letter) => letter.toUpperCase())

/** A text with its {names} filled in. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}

/** A language's name in itself. */
export function nameOf(code) {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1)
}
