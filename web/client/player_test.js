import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'

import { decoderOf, formats } from './decoder.js'
import { Conversation } from './live.js'
import { Player } from './player.js'
import { Speech } from './speech.js'
import { BrowserVoice } from './voice.js'

/** An audio context whose clock a test sets, and what was played in it. */
class Context extends EventTarget {
  state = 'running'
  currentTime = 10
  outputLatency = 0
  destination = {}
  started = []
  stopped = 0
  constructor(rate) { super(); this.sampleRate = rate }
  gains = []
  createGain() {
    const gain = { connect() {}, gain: { value: 1, setTargetAtTime(v) { this.value = v } } }
    this.gains.push(gain)
    return gain
  }
  createBuffer(channels, length, sampleRate) { return { length, sampleRate, duration: length / sampleRate, copyToChannel() {} } }
  createBufferSource() {
    const source = { connect() {}, stop: () => { this.stopped++ }, start: (at, offset) => this.started.push({ at, offset, duration: source.buffer.duration, source }) }
    return source
  }
  async resume() {}
  async close() {}
}

let now = 0
/** A frame of PCM: how many milliseconds of it. */
const pcm = (ms) => new ArrayBuffer(2 * 24 * ms)

function make({ audio = { format: 'pcm', sampleRate: 24_000, channels: 1 }, state = 'running' } = {}) {
  const context = new Context(24_000)
  context.state = state
  const conversation = Object.assign(new EventTarget(), { told: [], played(turnId, ms) { this.told.push([turnId, Math.round(ms)]) } })
  const player = new Player({ makeContext: () => context, now: () => now })
  player.follow(conversation)
  const speech = new Speech(player, () => now)
  speech.follow(conversation)
  const emit = (type, detail) => conversation.dispatchEvent(new CustomEvent(type, { detail }))
  emit('ready', { audio, session: { language: 'en' } })
  return { context, conversation, player, speech, emit, sound: (stream, t, ms, last = false) => emit('sound', { stream, t, last, data: pcm(ms) }) }
}

beforeEach(() => {
  now = 0
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
})

test('frames follow each other without a gap', () => {
  const { context, emit, sound } = make()
  emit('bot-audio', { turnId: 't', stream: 1 })
  for (let t = 0; t < 400; t += 33) sound(1, t, 33.3)
  const started = context.started
  assert.equal(started.length, 13)
  assert.ok(started[0].at > 10 && started[0].at < 10.3, 'a little waits for what is late')
  for (let i = 1; i < started.length; i++) {
    assert.ok(Math.abs(started[i].at - started[i - 1].at - started[i - 1].duration) < 1e-9, `a gap before ${i}`)
  }
})

test('the position is the audio clock, less what the loudspeaker takes', () => {
  const { context, player, emit, sound } = make()
  assert.equal(player.position, null)
  emit('bot-audio', { turnId: 't', stream: 1 })
  for (let t = 0; t < 1000; t += 100) sound(1, t, 100)
  const from = context.started[0].at
  context.currentTime = from + 0.5
  assert.deepEqual([player.position.turnId, Math.round(player.position.ms)], ['t', 500])
  context.outputLatency = 0.04
  assert.equal(Math.round(player.position.ms), 460)
  context.currentTime = from + 5
  assert.equal(player.position.ms, 1000, 'it waits for what is late')
})

test('what was heard is told every 250 ms, and in the end', () => {
  const { context, conversation, emit, sound } = make()
  emit('bot-audio', { turnId: 't', stream: 1 })
  sound(1, 0, 500)
  sound(1, 500, 500, true)
  const from = context.started[0].at
  for (let s = 0.25; s <= 1.25; s += 0.25) {
    context.currentTime = from + s
    mock.timers.tick(250)
  }
  assert.deepEqual(conversation.told, [['t', 250], ['t', 500], ['t', 750], ['t', 1000]])
})

test('an interrupted turn is dropped, and how far it was heard is told', () => {
  const { context, conversation, player, emit, sound } = make()
  emit('bot-audio', { turnId: 't', stream: 7 })
  for (let t = 0; t < 1000; t += 100) sound(7, t, 100)
  context.currentTime = context.started[0].at + 0.3
  emit('interrupted', { turnId: 't' })
  assert.equal(context.stopped, 10)
  assert.equal(player.position, null)
  assert.deepEqual(conversation.told, [['t', 300]])
  sound(7, 1000, 100)
  assert.equal(context.started.length, 10, 'what comes late is not played')
})

test('turns are played one after the other', () => {
  const { context, player, emit, sound } = make()
  emit('bot-audio', { turnId: 'a', stream: 1 })
  sound(1, 0, 200, true)
  emit('bot-audio', { turnId: 'b', stream: 2 })
  sound(2, 0, 200, true)
  assert.equal(context.started.length, 1)
  context.currentTime = context.started[0].at + 0.21
  mock.timers.tick(250)
  assert.equal(player.position.turnId, 'b')
  assert.equal(context.started.length, 2)
})

test('frames that come too late put the rest off', () => {
  const { context, player, emit, sound } = make()
  emit('bot-audio', { turnId: 't', stream: 1 })
  sound(1, 0, 100)
  const [first] = context.started
  context.currentTime = first.at + 0.6
  first.source.onended()
  sound(1, 100, 100)
  assert.ok(context.started[1].at > context.currentTime)
  assert.equal(context.started[1].offset, 0)
  assert.ok(player.position.ms <= 100)
})

test('while the browser keeps sound back the wall clock goes on, and sound joins it', async () => {
  const { context, player, emit, sound } = make({ state: 'suspended' })
  const blocked = []
  player.addEventListener('blocked', ({ detail }) => blocked.push(detail.blocked))
  mock.timers.tick(300)
  assert.deepEqual(blocked, [true])
  emit('bot-audio', { turnId: 't', stream: 1 })
  for (let t = 0; t < 1000; t += 100) sound(1, t, 100)
  assert.equal(context.started.length, 0)
  now = 620
  assert.equal(Math.round(player.position.ms), 500)
  context.state = 'running'
  await player.resume()
  assert.deepEqual(blocked, [true, false])
  assert.equal(context.started.length, 5, 'what is over is not played')
  assert.ok(Math.abs(player.position.ms - 500) < 1)
})

test('mute and volume, and quiet at once for who interrupts', () => {
  const { context, player } = make()
  const loud = () => context.gains[0].gain.value
  player.volume = 4
  assert.equal(loud(), 1)
  player.volume = 0.5
  assert.equal(loud(), 0.5)
  player.muted = true
  assert.equal(loud(), 0)
  player.muted = false
  player.duck()
  assert.equal(loud(), 0)
  now = 800
  mock.timers.tick(800)
  assert.equal(loud(), 0.5, 'the server did not let itself be interrupted')
})

test('a turn is played softly while somebody may be taking the floor', () => {
  const { context, player, emit, sound } = make()
  const loud = () => context.gains[0].gain.value
  emit('bot-audio', { turnId: 't', stream: 1 })
  sound(1, 0, 1000)
  emit('duck', { turnId: 'other', on: true })
  assert.equal(loud(), 1, 'it is of another turn')
  emit('duck', { turnId: 't', on: true })
  assert.ok(loud() > 0 && loud() < 0.3)
  emit('duck', { turnId: 't', on: false })
  assert.equal(loud(), 1)
  emit('duck', { turnId: 't', on: true })
  player.stop('t')
  assert.equal(loud(), 1, 'the next turn is as loud as ever')
})

test('the mouth and the gestures keep to the sound', () => {
  const { context, speech, emit, sound } = make()
  const shown = []
  speech.ongesture = (name) => shown.push(name)
  emit('bot-audio', { turnId: 't', stream: 1 })
  emit('visemes', { turnId: 't', items: [{ t: 0, v: 'sil', w: 1 }, { t: 200, v: 'aa', w: 1 }, { t: 500, v: 'PP', w: 1 }, { t: 600, v: 'sil', w: 1 }] })
  emit('gesture', { turnId: 't', t: 300, name: 'smile' })
  sound(1, 0, 1000)
  const at = (ms) => {
    context.currentTime = context.started[0].at + ms / 1000
    return speech.mouth()
  }
  assert.ok(at(50).gap < 0.1)
  assert.deepEqual(shown, [])
  assert.ok(at(350).gap > 0.9)
  assert.deepEqual(shown, ['smile'])
  emit('gesture', { name: 'nod' })
  assert.deepEqual(shown, ['smile', 'nod'], 'one of no turn is of this moment')
  assert.ok(at(550).gap < 0.05)
})

test('without sound the mouth goes by the words', () => {
  const { speech, emit } = make({ audio: null })
  emit('words', { turnId: 't', items: [{ t: 0, d: 300, text: 'Mama' }, { t: 320, d: 300, text: 'waits' }] })
  now = 110
  assert.ok(speech.mouth().gap > 0.3)
  now = 900
  assert.ok(!speech.speaking)
  assert.equal(speech.mouth().gap, 0)
})

test('captions show the phrase that is said, and how much of it', () => {
  const { context, speech, emit, sound } = make()
  emit('bot-audio', { turnId: 't', stream: 1 })
  const words = 'The garden opens at nine in the morning. A ticket costs twelve euros for all.'.split(' ')
  emit('words', { turnId: 't', items: words.map((text, i) => ({ t: 300 * i, d: 280, text })) })
  sound(1, 0, 6000)
  const at = (ms) => {
    context.currentTime = context.started[0].at + ms / 1000
    return speech.caption()
  }
  assert.deepEqual(at(350), { text: 'The garden opens at nine in the morning.', said: 'The garden'.length, by: '' })
  assert.deepEqual(at(2450), { text: 'A ticket costs twelve euros for all.', said: 'A'.length, by: '' })
})

test('Opus is asked for where the browser decodes it', async () => {
  const decoder = (supported) => ({ isConfigSupported: async () => ({ supported }) })
  assert.deepEqual(await formats(decoder(true)), ['opus', 'pcm'])
  assert.deepEqual(await formats(decoder(false)), ['pcm'])
  assert.deepEqual(await formats(undefined), ['pcm'])
})

test('PCM is little-endian and signed', () => {
  const taken = []
  const data = new ArrayBuffer(4)
  new DataView(data).setInt16(0, -32768, true)
  new DataView(data).setInt16(2, 16384, true)
  decoderOf({ format: 'pcm', sampleRate: 24_000 }, (sound) => taken.push(sound)).add(40, data, true)
  assert.deepEqual(taken, [{ t: 40, samples: Float32Array.of(-1, 0.5), rate: 24_000, last: true }])
})

test('a conversation says what it plays, and takes frames apart', () => {
  let socket
  class Socket {
    readyState = 1
    sent = []
    constructor() { socket = this }
    send(text) { this.sent.push(JSON.parse(text)) }
    close() {}
  }
  const conversation = new Conversation({ session: { id: 's' }, token: 'x', transport: { url: 'wss://live.test' } }, { Socket, audio: ['opus', 'pcm'] })
  const sounds = []
  conversation.addEventListener('sound', ({ detail }) => sounds.push(detail))
  conversation.connect()
  socket.onopen()
  assert.deepEqual(socket.sent[0].data, { audio: ['opus', 'pcm'] })
  assert.equal(socket.binaryType, 'arraybuffer')
  socket.onmessage({ data: Uint8Array.of(1, 1, 0x12, 0x34, 0, 1, 0, 2, 9, 8).buffer })
  socket.onmessage({ data: Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0).buffer })
  assert.deepEqual(sounds.map(({ data, ...head }) => [head, [...new Uint8Array(data)]]), [[{ last: true, stream: 0x1234, t: 65538 }, [9, 8]]])
  conversation.end()
})

test("the browser's voice reads what is new, once it is turned on", () => {
  const spoken = []
  const conversation = new EventTarget()
  const voice = new BrowserVoice({ synthesis: { speak: ({ text }) => spoken.push(text), cancel: () => spoken.push(null) }, Utterance: class { constructor(text) { this.text = text } } })
  voice.follow(conversation)
  const turn = (text, more) => conversation.dispatchEvent(new CustomEvent('turn', { detail: { id: 't', speaker: 'avatar', text, ...more } }))
  turn('One.')
  voice.on = true
  turn('One. Two.')
  turn('One.', { interrupted: true })
  assert.deepEqual(spoken, ['Two.', null])
})

test('a loudspeaker that is unplugged is told, and the usual one plays on', async () => {
  globalThis.localStorage = { getItem: (key) => key === 'visavis.devices' ? '{"loudspeaker":"desk"}' : null, setItem() {} }
  const context = new Context(24_000), led = []
  context.setSinkId = async (device) => { led.push(device) }
  const devices = Object.assign(new EventTarget(), { there: ['desk'], async enumerateDevices() { return this.there.map((deviceId) => ({ kind: 'audiooutput', deviceId })) } })
  const conversation = new EventTarget()
  const player = new Player({ makeContext: () => context, now: () => now, devices })
  let told = 0
  player.addEventListener('unplugged', () => told++)
  player.follow(conversation)
  conversation.dispatchEvent(new CustomEvent('ready', { detail: { audio: { format: 'pcm', sampleRate: 24_000 } } }))
  devices.dispatchEvent(new Event('devicechange'))
  await new Promise(setImmediate)
  assert.deepEqual([led, told], [['desk'], 0])
  devices.there = ['other']
  devices.dispatchEvent(new Event('devicechange'))
  await new Promise(setImmediate)
  devices.dispatchEvent(new Event('devicechange'))
  await new Promise(setImmediate)
  assert.deepEqual([led, told], [['desk', ''], 1])
  conversation.dispatchEvent(new CustomEvent('ended', { detail: {} }))
  delete globalThis.localStorage
})
