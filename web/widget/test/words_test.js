import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { words as checks } from '../src/check/words/index.js'
import { words } from '../src/words/index.js'

const names = (text) => [...String(text).matchAll(/\{\w+\}/g)].join()

for (const [what, all] of Object.entries({ widget: words, check: checks })) {
  for (const [language, texts] of Object.entries(all)) {
    test(`the words of the ${what} in ${language} are those of English`, () => {
      assert.deepEqual(Object.keys(texts), Object.keys(all.en))
      for (const [key, text] of Object.entries(texts)) {
        assert.equal(names(text), names(all.en[key]), key)
        assert.equal(text === '', all.en[key] === '', key)
      }
    })
  }
}

test('the check has words for all that it says', async () => {
  const source = await readFile(new URL('../../client/soundcheck.js', import.meta.url), 'utf8')
  const keys = [...source.matchAll(/'((?:check|mic|sound)\.\w+)'/g)].map(([, key]) => key)
  for (const made of ['quiet', 'good', 'loud', 'silent', 'denied', 'none', 'busy']) keys.push(`check.${made}`)
  const pages = JSON.parse(await readFile(new URL('../../page/strings/en.json', import.meta.url), 'utf8'))
  assert.ok(keys.length > 30)
  for (const key of keys) {
    assert.ok(checks.en[key], key)
    assert.ok(pages[key], key)
  }
})
