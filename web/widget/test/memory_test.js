import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Memory } from '../src/memory.js'

const fake = (items = {}) => ({
  items, getItem: (key) => items[key] ?? null, setItem: (key, value) => { items[key] = value }, removeItem: (key) => { delete items[key] },
})

test('a conversation is kept until it is over', () => {
  globalThis.sessionStorage = fake()
  const memory = new Memory('wid_1')
  memory.note({ open: true })
  assert.equal(memory.get(), null, 'of nothing there is nothing to note')
  memory.keep({ ticket: { session: { id: 'sess_1' } }, open: true })
  memory.note({ open: false })
  assert.deepEqual(new Memory('wid_1').get(), { ticket: { session: { id: 'sess_1' } }, open: false })
  assert.equal(new Memory('wid_2').get(), null, 'each widget has its own')
  memory.forget()
  assert.equal(memory.get(), null)
})

test('what is not its own is nothing', () => {
  for (const text of ['', '{', '1', 'null', '{}', '{"ticket":1}']) {
    globalThis.sessionStorage = fake({ 'visavis:wid_1': text })
    assert.equal(new Memory('wid_1').get(), null, text)
  }
})

test('a browser that keeps nothing is no fault', () => {
  Object.defineProperty(globalThis, 'sessionStorage', { configurable: true, get() { throw new Error('forbidden') } })
  const memory = new Memory('wid_1')
  memory.keep({ ticket: { session: {} } })
  memory.forget()
  assert.equal(memory.get(), null)
})
