import assert from 'node:assert/strict'
import { mock, test } from 'node:test'

import { Downsampler } from './downsample.js'
import { Microphone, MicrophoneError } from './microphone.js'
import { BrowserRecognition } from './recognition.js'

const tone = (rate, hz, seconds) => Float32Array.from({ length: rate * seconds }, (_, i) => 0.5 * Math.sin(2 * Math.PI * hz * i / rate))
const loud = (samples) => Math.sqrt(samples.reduce((sum, v) => sum + v * v, 0) / samples.length)

test('a voice keeps its loudness and its pitch, and what would fold back is gone', () => {
  for (const from of [16_000, 44_100, 48_000]) {
    for (const [hz, gain] of [[200, 1], [3000, 1], [9500, 0], [15_000, 0]]) {
      if (hz > from / 2) continue
      const down = new Downsampler(from, 16_000)
      const made = []
      const sound = tone(from, hz, 1)
      for (let at = 0; at < sound.length; at += 128) made.push(...down.push(sound.slice(at, at + 128)))
      assert.ok(Math.abs(made.length - 16_000) < 20, `${from}: ${made.length} samples`)
      const share = loud(made.slice(500)) / loud(sound)
      assert.ok(Math.abs(share - gain) < 0.06, `${hz} Hz of ${from}: ${share}`)
      if (!gain) continue
      const crossings = made.filter((v, i) => i && v >= 0 && made[i - 1] < 0).length
      assert.ok(Math.abs(crossings - hz) <= 3, `${hz} Hz of ${from}: ${crossings} periods`)
    }
  }
})

/** A device whose sound the test makes, and a conversation that takes it. */
function stage(refusal = '') {
  let heard
  const track = Object.assign(new EventTarget(), { stopped: false, stop() { this.stopped = true }, getSettings: () => ({ deviceId: 'headset', groupId: 'one' }) })
  const stream = { getAudioTracks: () => [track], getTracks: () => [track] }
  const node = { connect() {} }
  const context = {
    sampleRate: 16_000, destination: {}, resume: async () => {}, close: async () => {},
    createMediaStreamSource: () => node,
    createScriptProcessor: () => heard = { connect() {} },
  }
  const frames = []
  const devices = {
    asked: null,
    there: [{ kind: 'audioinput', deviceId: 'other', groupId: 'two' }, { kind: 'audiooutput', deviceId: 'x', groupId: 'one' }],
    async enumerateDevices() { return this.there },
    async getUserMedia(wanted) {
      this.asked = wanted
      if (refusal) throw Object.assign(new Error(refusal), { name: refusal })
      return stream
    },
  }
  const microphone = new Microphone({ sound: (frame) => frames.push(new DataView(frame)) }, { devices, makeContext: () => context })
  const say = (samples) => heard.onaudioprocess({ inputBuffer: { getChannelData: () => samples } })
  return { microphone, frames, devices, track, say }
}

test('sound is sent in frames of 20 ms with their times', async () => {
  const { microphone, frames, devices, track, say } = stage()
  const levels = []
  microphone.addEventListener('level', ({ detail }) => levels.push(detail.level))
  await microphone.start()
  assert.deepEqual([devices.asked.audio.echoCancellation, devices.asked.audio.noiseSuppression], [true, true])
  say(tone(16_000, 440, 0.5))
  assert.ok(frames.length >= 23 && frames.length <= 25, `${frames.length} frames`)
  frames.forEach((frame, n) => {
    assert.deepEqual([frame.byteLength, frame.getUint8(0), frame.getUint8(1), frame.getUint32(4)], [648, 2, 0, 20 * n])
  })
  assert.ok(Math.abs(levels.at(-1) - 0.5) < 0.02)

  microphone.muted = true
  assert.deepEqual([frames.at(-1).byteLength, frames.at(-1).getUint8(1)], [8, 1], 'what was said is over')
  const count = frames.length
  say(tone(16_000, 440, 0.5))
  assert.equal(frames.length, count)
  assert.equal(levels.at(-1), 0)
  microphone.muted = false
  say(tone(16_000, 440, 0.5))
  assert.ok(frames.length > count)
  microphone.stop()
  assert.equal(frames.at(-1).getUint8(1), 1)
  assert.ok(track.stopped)
  assert.equal(microphone.open, false)
})

test('a microphone that is stopped while the browser asks for it is not opened', async () => {
  for (const again of [false, true]) {
    const { microphone, devices, track } = stage()
    const asked = []
    const grant = devices.getUserMedia
    devices.getUserMedia = (wanted) => new Promise((resolve) => asked.push(() => resolve(grant.call(devices, wanted))))
    const started = microphone.start()
    microphone.stop()
    const second = again ? microphone.start() : null
    asked[0]()
    await assert.rejects(started, (error) => error instanceof MicrophoneError && error.reason === 'stopped')
    assert.equal(track.stopped, true)
    assert.equal(microphone.open, false)
    if (!second) continue
    asked[1]()
    await second
    assert.equal(microphone.open, true)
  }
})

test('why there is no microphone is said', async () => {
  for (const [name, reason] of [['NotAllowedError', 'denied'], ['NotFoundError', 'none'], ['NotReadableError', 'busy'], ['AbortError', 'failed']]) {
    await assert.rejects(stage(name).microphone.start(), (error) => error instanceof MicrophoneError && error.reason === reason)
  }
})

test('another microphone takes the place of one that is unplugged', async () => {
  const { microphone, devices, track, frames, say } = stage()
  const told = []
  for (const type of ['replaced', 'closed']) microphone.addEventListener(type, ({ detail }) => told.push([type, detail]))
  globalThis.localStorage = { getItem: () => '{"microphone":"headset"}', setItem() {} }
  await microphone.start()
  assert.deepEqual(devices.asked.audio.deviceId, { exact: 'headset' })
  track.label = 'Headset'
  track.dispatchEvent(new Event('ended'))
  assert.equal(microphone.open, true, 'it is not given up meanwhile')
  await new Promise(setImmediate)
  assert.equal('deviceId' in devices.asked.audio, false)
  assert.deepEqual(told, [['replaced', { before: 'Headset', now: 'Headset' }]])
  const before = frames.length
  say(tone(16_000, 440, 0.1))
  assert.ok(frames.length > before)

  devices.getUserMedia = async () => { throw Object.assign(new Error(), { name: 'NotFoundError' }) }
  track.dispatchEvent(new Event('ended'))
  await new Promise(setImmediate)
  assert.deepEqual(told.at(-1), ['closed', { reason: 'unplugged' }])
  assert.equal(microphone.open, false)
  delete globalThis.localStorage
})

test('who stops the microphone in the browser is not asked again', async () => {
  for (const there of [[{ kind: 'audioinput', deviceId: 'default', groupId: 'one' }], [{ kind: 'audioinput', deviceId: '', groupId: '' }], null]) {
    const { microphone, devices, track } = stage()
    const told = []
    for (const type of ['replaced', 'closed']) microphone.addEventListener(type, ({ detail }) => told.push([type, detail.reason]))
    await microphone.start()
    devices.asked = null
    devices.there = there
    if (!there) devices.enumerateDevices = async () => { throw new Error() }
    track.dispatchEvent(new Event('ended'))
    await new Promise(setImmediate)
    assert.deepEqual([told, devices.asked, microphone.open], [[['closed', '']], null, false])
  }
})

test('a microphone that is stopped while another is asked for in its place is not opened', async () => {
  const { microphone, devices, track } = stage()
  const told = []
  microphone.addEventListener('closed', ({ detail }) => told.push(detail.reason))
  microphone.addEventListener('replaced', () => told.push('replaced'))
  await microphone.start()
  track.dispatchEvent(new Event('ended'))
  microphone.stop()
  await new Promise(setImmediate)
  assert.deepEqual([told, microphone.open, track.stopped], [[''], false, true])
  await microphone.start()
  assert.equal(microphone.open, true)
  assert.ok(devices.asked)
})

test('the browser writes down what is said, and is begun again where it ends', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const made = [], heard = []
  class Recognition {
    constructor() { made.push(this) }
    start() { this.started = true }
    stop() { this.onend() }
    abort() {}
  }
  let anew = 0
  const recognition = new BrowserRecognition({ heard: (text, final) => heard.push([text, final]), hearAnew: () => anew++ }, Recognition)
  recognition.language = 'de'
  await recognition.start()
  assert.equal(made[0].lang, 'de')
  const result = (transcript, isFinal) => Object.assign([{ transcript }], { isFinal })
  made[0].onresult({ resultIndex: 0, results: [result('wann', false)] })
  made[0].onresult({ resultIndex: 0, results: [result(' Wann öffnen Sie? ', true), result('ich', false)] })
  assert.deepEqual(heard, [['wann', false], ['Wann öffnen Sie?', true], ['ich', false]])
  anew = 0
  made[0].onend()
  assert.equal(anew, 1, 'what is understood then is said to the question of then')
  mock.timers.tick(300)
  assert.equal(made.length, 2)
  recognition.muted = true
  mock.timers.tick(300)
  assert.equal(made.length, 2)
  recognition.muted = false
  assert.equal(made.length, 3)
  let reason
  recognition.addEventListener('closed', ({ detail }) => reason = detail.reason)
  anew = 0
  made[2].onerror({ error: 'not-allowed' })
  assert.equal(anew, 1)
  assert.equal(reason, 'denied')
  assert.equal(recognition.open, false)
})
