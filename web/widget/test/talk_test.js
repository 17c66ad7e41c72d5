import assert from 'node:assert/strict'
import { test } from 'node:test'

/** As much of an element as the panel needs where nobody looks. */
class Element extends EventTarget {
  value = ''
  hidden = false
  append() {}
  replaceChildren() {}
  setAttribute() {}
  focus() {}
  getContext() { return {} }
  matches() { return false }
}

let made
globalThis.document = {
  createElement(name) { return (made[name] ??= []), made[name].push(new Element()), made[name].at(-1) },
  createElementNS: () => new Element(),
}
globalThis.devicePixelRatio = 1
const { Face } = await import('../../client/face.js')
const { Talk } = await import('../src/talk.js')
const { Stage } = await import('../src/stage.js')

const persona = { name: 'Mia', pictureUrl: null, layersUrl: 'https://faces.example/{side}.{kind}' }

test('what is typed before the conversation is there stays in the field', () => {
  made = {}
  new Talk({ ticket: {}, words: {}, config: { persona, rating: { mode: 'off' }, transcriptVisible: true }, language: 'en', channel: 'chat' })
  const [input] = made.textarea
  input.value = 'When do you open?'
  made.form[0].dispatchEvent(new Event('submit', { cancelable: true }))
  assert.equal(input.value, 'When do you open?')
})

test('a face that is loaded after the end is not shown', async (t) => {
  const line = [[0, 0], [1, 0]]
  const rig = { middle: 0, upperLip: line, betweenLips: line, lowerLip: line }
  const start = t.mock.method(Face.prototype, 'start', () => {})
  t.mock.method(globalThis, 'fetch', async () => new Response(JSON.stringify(rig)))
  globalThis.createImageBitmap = async () => ({})
  for (const closed of [false, true]) {
    start.mock.resetCalls()
    made = {}
    const stage = new Stage({ words: {}, persona, channel: 'video', onspeaking() {}, onstop() {} })
    if (closed) stage.close()
    for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(start.mock.callCount(), closed ? 0 : 1)
    assert.equal(made.canvas[0].hidden, closed)
  }
})
