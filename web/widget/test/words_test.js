import assert from 'node:assert/strict'
import { test } from 'node:test'
import { words } from '../src/words/index.js'

const names = (text) => [...String(text).matchAll(/\{\w+\}/g)].join()

for (const [language, texts] of Object.entries(words)) {
  test(`the words of ${language} are those of English`, () => {
    assert.deepEqual(Object.keys(texts), Object.keys(words.en))
    for (const [key, text] of Object.entries(texts)) {
      assert.equal(names(text), names(words.en[key]), key)
      assert.equal(text === '', words.en[key] === '', key)
    }
  })
}
