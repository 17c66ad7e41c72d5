import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'

import { askFor, choose, chosen, Outlet, reasonOf, setVolume, volume } from './devices.js'
import { Judge, measure } from './soundcheck.js'

/** A browser's memory, which may refuse everything. */
function memory(refuses = false) {
  const kept = new Map()
  const or = (act) => (...given) => {
    if (refuses) throw new DOMException('no', 'SecurityError')
    return act(...given)
  }
  globalThis.localStorage = { getItem: or((key) => kept.get(key) ?? null), setItem: or((key, value) => kept.set(key, value)) }
  return kept
}
afterEach(() => {
  memory(true)
  choose({ microphone: '', loudspeaker: '' })
  setVolume(1)
  delete globalThis.localStorage
})

test('devices and volume are remembered', () => {
  memory()
  assert.deepEqual([chosen(), volume()], [{ microphone: '', loudspeaker: '' }, 1])
  choose({ microphone: 'headset' })
  choose({ loudspeaker: 'desk' })
  setVolume(0.4)
  assert.deepEqual([chosen(), volume()], [{ microphone: 'headset', loudspeaker: 'desk' }, 0.4])
})

test('a browser that remembers nothing has the choice for now', () => {
  memory(true)
  choose({ microphone: 'headset' })
  setVolume(0.2)
  assert.deepEqual([chosen(), volume()], [{ microphone: 'headset', loudspeaker: '' }, 0.2])
  delete globalThis.localStorage
  assert.equal(chosen().microphone, 'headset')
})

test('what somebody else wrote there is no choice', () => {
  for (const text of ['', '{', 'null', '7', '[]', '{"microphone":{"a":1},"loudspeaker":[]}']) {
    const kept = memory()
    kept.set('visavis.devices', text)
    assert.deepEqual(chosen(), { microphone: '', loudspeaker: '' }, text)
  }
  for (const text of ['', 'loud', '7', '-1', 'NaN', '{}']) {
    memory().set('visavis.volume', text)
    assert.equal(volume(), 1, text)
  }
})

test('the chosen microphone is asked for without echo and noise, and the usual one where it is not there', async () => {
  let refusal = ''
  const asked = [], devices = {
    async getUserMedia({ audio }) {
      asked.push(audio)
      if (refusal && audio.deviceId) throw Object.assign(new Error(refusal), { name: refusal })
      return 'stream'
    },
  }
  assert.equal(await askFor(devices, 'headset'), 'stream')
  assert.deepEqual([asked[0].deviceId, asked[0].echoCancellation, asked[0].noiseSuppression], [{ exact: 'headset' }, true, true])
  await askFor(devices, '')
  assert.deepEqual(['deviceId' in asked[1], asked[1].echoCancellation], [false, true])
  refusal = 'OverconstrainedError'
  assert.equal(await askFor(devices, 'headset'), 'stream')
  assert.equal(asked.length, 4)
  refusal = 'NotAllowedError' // nobody is asked twice
  await assert.rejects(askFor(devices, 'headset'), { name: refusal })
  assert.equal(asked.length, 5)
})

test('why there is no microphone', () => {
  const names = { NotAllowedError: 'denied', SecurityError: 'denied', NotFoundError: 'none', OverconstrainedError: 'none', NotReadableError: 'busy', AbortError: 'failed' }
  for (const [name, reason] of Object.entries(names)) assert.equal(reasonOf({ name }), reason)
  assert.equal(reasonOf(undefined), 'failed')
})

const node = () => ({ to: [], connect(target) { this.to.push(target) }, disconnect() { this.to = [] } })

test('sound is led to a loudspeaker by the context, by an element, or stays where it is', async () => {
  const asked = []
  const byContext = node()
  const outlet = new Outlet({ destination: 'usual', setSinkId: async (device) => asked.push(device) }, byContext)
  assert.ok(await outlet.choose('desk'))
  assert.deepEqual([asked, byContext.to], [['desk'], ['usual']])

  const byElement = node(), element = { setSinkId: async (device) => asked.push(device), play: async () => {}, pause() { this.paused = true } }
  const context = { destination: 'usual', createMediaStreamDestination: () => ({ stream: 'stream' }) }
  const other = new Outlet(context, byElement, () => element)
  assert.ok(await other.choose(''), 'the usual one needs no element')
  assert.deepEqual(byElement.to, ['usual'])
  assert.ok(await other.choose('desk'))
  assert.deepEqual([byElement.to, element.srcObject], [[{ stream: 'stream' }], 'stream'])
  assert.ok(await other.choose(''))
  assert.equal(asked.at(-1), '')
  other.close()
  assert.deepEqual([element.paused, element.srcObject], [true, null])

  for (const refuses of [{ setSinkId: async () => { throw new Error('gone') } }, { setSinkId: async () => {}, play: async () => { throw new Error('blocked') } }]) {
    const stays = node()
    assert.equal(await new Outlet(context, stays, () => refuses).choose('desk'), false)
    assert.deepEqual(stays.to, ['usual'])
  }
})

const tone = (height) => Float32Array.from({ length: 2048 }, (_, i) => height * Math.sin(i / 7))

test('how loud somebody is', () => {
  assert.ok(Math.abs(measure(tone(0.1)).level + 23) < 0.5)
  assert.equal(measure(new Float32Array(2048)).level, -100)
  assert.deepEqual([measure(tone(1)).cut, measure(tone(0.9)).cut], [true, false])
})

/** What a judge tells of a voice of these heights, a look every 60 ms: [when, state]. */
function judged(heights, from = 0) {
  const judge = new Judge(from), told = []
  heights.forEach((height, i) => {
    if (judge.take(measure(tone(height)), from + 60 * i)) told.push([60 * i, judge.state])
  })
  return told
}
const many = (count, height) => Array.from({ length: count }, () => height)

test('how somebody is heard is told calmly', () => {
  const good = judged([...many(20, 0), ...many(30, 0.1), ...many(40, 0), ...many(30, 0.1)])
  assert.deepEqual(good.map(([, state]) => state), ['good'], 'a pause is none that is told')
  assert.deepEqual(judged(many(60, 0.008)).map(([, state]) => state), ['quiet'])
  assert.deepEqual(judged(many(60, 0.95)).map(([, state]) => state), ['loud'])
  assert.deepEqual(judged(many(200, 0)).map(([, state]) => state), ['silent'])
  assert.deepEqual(judged([...many(130, 0), ...many(30, 0.1)]).map(([, state]) => state), ['silent', 'good'], 'at once, once there is a voice')
  const both = judged(Array.from({ length: 300 }, (_, i) => i % 8 < 4 ? 0.008 : 0.95))
  assert.ok(both.length <= 300 * 60 / 2200, `${both.length} times`)
  assert.deepEqual(judged([...many(5, 0.1), ...many(20, 0)]), [], 'a knock is no voice')
})
