import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choose, fill, languagesOf, nameOf, offered, wordsFor } from '../src/language.js'

test('the page decides before the browser, and the tag before both', () => {
  const page = { documentElement: { lang: 'de-AT' } }
  assert.deepEqual(languagesOf({ language: 'fr' }, page, { languages: ['es', 'en'] }), ['fr', 'de-AT', 'es', 'en'])
  assert.deepEqual(languagesOf({ language: '' }, { documentElement: { lang: '' } }, {}), [])
})

test('a language is chosen as it is, else without its region', () => {
  for (const [wanted, codes, fallback, want] of [
    [['de-AT'], ['en', 'de'], 'en', 'de'],
    [['pt'], ['en', 'pt-BR', 'pt-PT'], 'en', 'pt-BR'],
    [['pt-pt'], ['pt-BR', 'pt-PT'], 'pt-BR', 'pt-PT'],
    [['tlh', 'fr'], ['en', 'fr'], 'en', 'fr'],
    [['tlh'], ['de', 'fr'], 'fr', 'fr'],
    [['tlh'], ['de', 'fr'], 'en', 'de'],
    [[], [], 'en', 'en'],
  ]) assert.equal(choose(wanted, codes, fallback), want)
})

test('what the widget does not limit, the persona does', () => {
  const persona = { language: 'en', languages: ['de', 'en'] }
  assert.deepEqual(offered({ languages: [], persona }), ['en', 'de'])
  assert.deepEqual(offered({ languages: ['fr'], persona }), ['fr'])
})

test('the owner’s words come before the widget’s', () => {
  const config = { texts: { de: { title: 'Fragen', greeting: null } } }
  const german = wordsFor('de-AT', config)
  assert.deepEqual([german.title, german.lang, german.dir], ['Fragen', 'de-AT', 'ltr'])
  assert.match(german.greeting, /^Hallo/)
  assert.equal(wordsFor('ar', config).dir, 'rtl')
  const other = wordsFor('ja', config)
  assert.deepEqual([other.lang, other.dir, other.close], ['en', 'ltr', 'Close'])
})

test('names are filled in, and what is none is left', () => {
  assert.equal(fill('{a} and {b}', { a: '$&' }), '$& and {b}')
  assert.equal(nameOf('de'), 'Deutsch')
  assert.equal(nameOf('fr'), 'Français')
})
