import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'

import { RoomClock, Stay } from './livekit.js'
import { Conversation } from './live.js'

const ticket = { session: { id: 'sess_1' }, token: 't', transport: { kind: 'livekit', url: 'wss://lk.test', token: 'let me in' } }

/** Room is as that of livekit-client. */
class Room {
  static last
  state = 'disconnected'
  canPlaybackAudio = true
  #listeners = new Map()
  published = []
  said = []
  remoteParticipants = new Map()
  localParticipant = {
    publishData: async (bytes, options) => { this.said.push({ ...JSON.parse(new TextDecoder().decode(bytes)), options }) },
    publishTrack: async (track, options) => {
      this.published.push([track, options])
      const now = { mediaStreamTrack: track, replaceTrack: async (other) => { now.mediaStreamTrack = other; this.published.push([other, 'in its place']) } }
      return { track: now, mute: async () => { this.published.push('muted') }, unmute: async () => { this.published.push('heard') } }
    },
    setTrackSubscriptionPermissions: (...permissions) => { this.permissions = permissions },
  }
  constructor() { Room.last = this }
  on(type, fn) { this.#listeners.set(type, [...this.#listeners.get(type) ?? [], fn]) }
  off(type, fn) { this.#listeners.set(type, this.#listeners.get(type).filter((other) => other !== fn)) }
  tell(type, ...args) { for (const fn of this.#listeners.get(type) ?? []) fn(...args) }
  async connect(url, token) {
    this.entered = [url, token]
    if (this.refuses) throw new Error('refused')
    this.state = 'connected'
    this.tell('connected')
  }
  disconnect(reason) {
    if (this.state === 'disconnected') return
    this.state = 'disconnected'
    this.tell('disconnected', reason)
  }
  receive(type, data, from = 'persona', topic = 'visavis') {
    this.tell('dataReceived', new TextEncoder().encode(JSON.stringify({ type, data })), from && { identity: from }, 0, topic)
  }
  types() { return this.said.map((m) => m.type) }
}

const makeAudio = () => ({ volume: 1, muted: false })
const track = (kind) => ({ kind, on: null, attach(element) { this.on = element }, detach() { this.on = null } })
const settle = async () => { for (let i = 0; i < 10; i++) await Promise.resolve() }

async function begin() {
  const video = /** @type {any} */ ({ hidden: true })
  const stay = new Stay(ticket, { Room, video, makeAudio })
  const conversation = new Conversation(ticket, { Socket: stay.Socket, audio: ['opus'] })
  stay.follow(conversation)
  const seen = []
  for (const type of ['ready', 'state', 'ended', 'bot-video']) conversation.addEventListener(type, (e) => seen.push([type, e.detail]))
  conversation.connect()
  await settle()
  return { stay, conversation, room: Room.last, video, seen }
}

const ready = { resumeToken: 'r', turns: [], session: { id: 'sess_1', language: 'en' }, video: { participant: 'avatar', on: false } }

beforeEach(() => {
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
})

test('the persona is told that the client is ready until it hears it', async () => {
  const { room, seen } = await begin()
  assert.deepEqual(room.entered, ['wss://lk.test', 'let me in'])
  assert.deepEqual(room.types(), ['client-ready'])
  assert.deepEqual(room.said[0].data, { audio: ['opus'] })
  assert.deepEqual(room.said[0].options, { reliable: true, topic: 'visavis', destinationIdentities: ['persona'] })
  mock.timers.tick(1100)
  assert.equal(room.types().length, 3)
  room.receive('session-ready', ready)
  mock.timers.tick(5000)
  assert.equal(room.types().length, 4, 'once more, since what came before may have been heard by nobody')
  assert.equal(seen.filter(([type]) => type === 'ready').length, 1)
})

test('a persona that comes back is told that the client is ready', async () => {
  const { room } = await begin()
  room.receive('session-ready', ready)
  const before = room.types().length
  room.receive('session-ready', ready) // as where the format of the sound is told again
  assert.equal(room.types().length, before)
  mock.timers.tick(3000)
  room.receive('session-ready', ready) // another process after one that died
  assert.equal(room.types().length, before + 1)
  room.receive('error', { code: 'reconnect', message: '', fatal: false })
  mock.timers.tick(600)
  assert.equal(room.types().length, before + 2)
})

test('only the persona is heard', async () => {
  const { room, seen } = await begin()
  room.receive('session-ready', ready, 'somebody')
  room.receive('session-ready', ready, 'persona', 'another')
  assert.ok(!seen.some(([type]) => type === 'ready'))
  room.remoteParticipants.set('persona', {})
  room.receive('session-ready', ready, null)
  assert.ok(!seen.some(([type]) => type === 'ready'), 'the persona is known, and this is another')
  room.remoteParticipants.clear()
  room.receive('session-ready', ready, null)
  assert.ok(seen.some(([type]) => type === 'ready'), 'a participant that is not known yet')
})

test('a face that is rendered is shown in the place of the drawn one, and not heard any more once it was given up', async () => {
  const { stay, room, video } = await begin()
  const shown = []
  stay.addEventListener('video', (/** @type {any} */ e) => shown.push(e.detail.on))
  const picture = track('video'), voice = track('audio'), own = track('audio')
  room.tell('trackSubscribed', own, { trackSid: 'TR_1' }, { identity: 'persona' })
  room.tell('trackSubscribed', picture, { trackSid: 'TR_2' }, { identity: 'avatar' })
  room.tell('trackSubscribed', voice, { trackSid: 'TR_3' }, { identity: 'avatar' })
  room.receive('session-ready', ready)
  assert.equal(video.hidden, true)
  assert.equal(voice.on.muted, true)
  room.receive('bot-video', { on: true, participant: 'avatar' })
  assert.equal(picture.on, video)
  assert.deepEqual([video.hidden, voice.on.muted, own.on.muted], [false, false, false])
  room.receive('duck', { turnId: 't', on: true })
  assert.ok(voice.on.volume < 0.2)
  room.receive('interrupted', { turnId: 't', spokenText: 'So.' })
  assert.equal(voice.on.volume, 1)
  room.receive('bot-video', { on: false, participant: 'avatar', reason: 'timeout' })
  assert.deepEqual([video.hidden, voice.on.muted, own.on.muted], [true, true, false])
  assert.deepEqual(shown, [true, false])
  room.receive('bot-video', { on: true, participant: 'avatar' })
  room.tell('trackUnsubscribed', picture, { trackSid: 'TR_2' })
  assert.equal(video.hidden, true, 'it may be gone before anybody says so')
})

test('a microphone is heard by the persona alone', async () => {
  const { stay, room } = await begin()
  const microphone = /** @type {any} */ ({ kind: 'audio' })
  await stay.microphone(microphone)
  assert.deepEqual(room.permissions, [false, [{ participantIdentity: 'persona', allowAll: true }]])
  assert.deepEqual(room.published, [[microphone, { source: 'microphone', dtx: false, red: false }]])
  await stay.microphone(null)
  await stay.microphone(microphone)
  const other = /** @type {any} */ ({ kind: 'audio' })
  await stay.microphone(other)
  assert.deepEqual(room.published.slice(1), ['muted', 'heard', [other, 'in its place'], 'heard'], 'whoever holds a button to speak is heard at once')
})

test('a lost room is entered again, and one that has ended is not', async () => {
  const { room, seen } = await begin()
  room.receive('session-ready', ready)
  room.entered = null
  room.disconnect()
  mock.timers.tick(1000)
  await settle()
  assert.deepEqual(room.entered, ['wss://lk.test', 'let me in'])
  room.receive('session-ready', ready)
  room.receive('session-ended', { endReason: 'ended_by_user', ratingAllowed: true })
  assert.equal(seen.at(-1)[1].endReason, 'ended_by_user')
  assert.equal(room.state, 'disconnected')
})

test('who came in elsewhere has the place, and it is not taken back', async () => {
  const { room, seen } = await begin()
  room.receive('session-ready', ready)
  room.entered = null
  room.disconnect(2)
  mock.timers.tick(60_000)
  await settle()
  assert.equal(room.entered, null)
  assert.equal(seen.at(-1)[1].endReason, 'superseded')
})

test('a microphone is heard again in a room that was lost', async () => {
  const { conversation, room } = await begin()
  room.receive('session-ready', ready)
  const microphone = /** @type {any} */ ({ kind: 'audio' })
  conversation.microphone(microphone)
  await settle()
  room.disconnect()
  mock.timers.tick(1000)
  await settle()
  assert.deepEqual(room.published.map(([track, options]) => [track, Boolean(options)]), [[microphone, true], [microphone, true]])
})

test('what is on its way after an interruption is not heard', async () => {
  const { stay, room } = await begin()
  const voice = track('audio')
  room.tell('trackSubscribed', voice, { trackSid: 'TR_1' }, { identity: 'persona' })
  stay.duck()
  assert.equal(voice.on.muted, true)
  mock.timers.tick(800)
  assert.equal(voice.on.muted, false, 'the server did not say that the turn ends')
  room.receive('interrupted', { turnId: 't', spokenText: 'So.' })
  assert.equal(voice.on.muted, true)
  room.receive('bot-track', { stream: 2, t: 0, rtp: 0 })
  assert.equal(voice.on.muted, false)
})

test('mouth and captions go by what is heard', async () => {
  const { conversation, room } = await begin()
  let now = 0
  const clock = new RoomClock(() => now)
  clock.follow(conversation)
  room.receive('session-ready', ready)
  assert.equal(clock.position, null)
  room.receive('bot-audio', { turnId: 'a', stream: 1 })
  room.receive('bot-track', { stream: 1, t: 0, rtp: 5, last: false })
  now = 620
  assert.deepEqual(clock.position, { turnId: 'a', ms: 500 })
  mock.timers.tick(250)
  assert.deepEqual(room.said.at(-1).data, { turnId: 'a', playedMs: 500 })
  room.receive('bot-track', { stream: 1, t: 700, rtp: 9, last: true })
  now = 2000
  assert.equal(clock.position, null)
  mock.timers.tick(250)
  assert.deepEqual(room.said.at(-1).data, { turnId: 'a', playedMs: 700 })

  const said = room.said.length
  room.receive('bot-audio', { turnId: 'b', stream: 2 })
  room.receive('bot-playback', { turnId: 'b', playedMs: 300, playing: true })
  now = 2100
  assert.deepEqual(clock.position, { turnId: 'b', ms: 400 })
  mock.timers.tick(1000)
  assert.equal(room.said.length, said, 'who renders has told it')
  room.receive('bot-playback', { turnId: 'a', playedMs: 700, playing: false })
  assert.deepEqual(clock.position, { turnId: 'b', ms: 400 }, 'what is told late of another turn')
  room.receive('bot-playback', { turnId: 'b', playedMs: 900, playing: false })
  assert.equal(clock.position, null)
})
