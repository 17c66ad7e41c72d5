import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'

import { Direct } from './direct.js'
import { Conversation } from './live.js'
import { Player } from './player.js'
import { Track } from './track.js'

/** A browser's connection, which a test opens and loses. */
class Connection {
  static last
  connectionState = 'new'
  sender = { replaceTrack: async (track) => { this.spoken = track } }
  receiver = { track: {} }
  channel = { readyState: 'connecting', sent: [], send(text) { this.sent.push(text) } }
  constructor(options) { this.options = options; Connection.last = this }
  addTransceiver(kind, { direction }) { assert.deepEqual([kind, direction], ['audio', 'sendrecv']); return { sender: this.sender, receiver: this.receiver } }
  createDataChannel(label) { this.label = label; return this.channel }
  static fails = null
  async createOffer() {
    if (Connection.fails) throw Connection.fails
    return { type: 'offer', sdp: 'mine' }
  }
  async setLocalDescription() {}
  async setRemoteDescription(answer) { this.answer = answer }
  close() { this.closed = true }
  open() { this.channel.readyState = 'open'; this.channel.onopen() }
  say(type, data) { this.channel.onmessage({ data: JSON.stringify({ id: 'x', type, data, t: 0 }) }) }
  turns(state) { this.connectionState = state; this.onconnectionstatechange() }
}

class Connecting extends Direct {
  static throws = null
  static get exists() { return true }
  constructor(seams) {
    if (Connecting.throws) throw Connecting.throws
    super({ ...seams, Connection })
  }
}

let socket
class Socket {
  readyState = 0
  sent = []
  bufferedAmount = 0
  constructor() { socket = this }
  send(text) { this.sent.push(typeof text === 'string' ? JSON.parse(text) : text) }
  close() {}
  receive(type, data) { this.onmessage({ data: JSON.stringify({ id: 'x', type, data, t: 0 }) }) }
  types() { return this.sent.map((m) => m.type) }
}

const flush = async () => { for (let i = 0; i < 10; i++) await null }

/** A conversation whose server offers WebRTC. */
async function start({ kind = 'webrtc', rtc = { iceServers: [{ urls: ['stun:x'] }] } } = {}) {
  const ticket = { session: { id: 'sess_1' }, token: 'first', transport: { kind, url: 'wss://live.test/x' } }
  const conversation = new Conversation(ticket, { Socket, Direct: Connecting, audio: ['pcm'] })
  const events = []
  for (const type of ['direct', 'turn', 'state', 'bot-track']) conversation.addEventListener(type, ({ detail }) => events.push([type, detail]))
  conversation.connect()
  socket.readyState = 1
  socket.onopen()
  socket.receive('session-ready', { resumeToken: 'second', turns: [], session: { id: 'sess_1', language: 'en' }, rtc })
  await flush()
  return { conversation, of: (type) => events.filter((e) => e[0] === type).map((e) => e[1]), connection: Connection.last }
}

beforeEach(() => {
  Connecting.throws = Connection.fails = null
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
})

test('the conversation begins once the connection is open, and goes over it', async () => {
  const { conversation, of, connection } = await start()
  assert.deepEqual(socket.types(), ['rtc-offer'])
  assert.deepEqual(connection.options.iceServers, [{ urls: ['stun:x'] }])
  conversation.say('too early')
  socket.receive('rtc-answer', { sdp: 'theirs' })
  assert.deepEqual(connection.answer, { type: 'answer', sdp: 'theirs' })
  connection.open()
  assert.deepEqual(socket.types(), ['rtc-offer', 'rtc-open'])
  assert.deepEqual(connection.channel.sent.map((text) => JSON.parse(text).type), ['client-ready', 'user-text'])
  assert.equal(of('direct')[0].receiver, connection.receiver)
})

test('what comes over the channel waits for what went over the socket', async () => {
  const { of, connection } = await start()
  connection.open()
  connection.say('state', { state: 'speaking' })
  socket.receive('state', { state: 'listening' })
  assert.deepEqual(of('state').map(({ state }) => state), ['connecting', 'listening'])
  socket.receive('rtc-open')
  connection.say('state', { state: 'idle' })
  assert.deepEqual(of('state').map(({ state }) => state), ['connecting', 'listening', 'speaking', 'idle'])
})

test('where it does not open, the socket has all', async () => {
  const { of, connection } = await start()
  mock.timers.tick(4000)
  assert.ok(connection.closed)
  assert.deepEqual(socket.types(), ['rtc-offer', 'rtc-closed'])
  socket.receive('rtc-closed', { received: 0 })
  assert.deepEqual(socket.types().slice(2), ['client-ready'])
  assert.deepEqual(of('direct'), [{ receiver: null, reason: 'unreachable' }])
})

test('where the browser makes no connection, or no offer, the socket has all', async () => {
  Connecting.throws = new Error('no credentials')
  const made = await start()
  assert.deepEqual(socket.types(), ['client-ready'])
  assert.deepEqual(made.of('direct'), [{ receiver: null, reason: 'unreachable' }])
  Connecting.throws = null
  Connection.fails = new Error('no offer')
  const offered = await start()
  assert.deepEqual(socket.types(), ['client-ready'])
  assert.deepEqual(offered.of('direct'), [{ receiver: null, reason: 'unreachable' }])
  mock.timers.tick(10_000)
  assert.equal(offered.of('direct').length, 1)
})

test('where the channel takes nothing more, what follows goes after what it got', async () => {
  const { conversation, connection } = await start()
  connection.open()
  socket.receive('rtc-open')
  connection.channel.send = () => { throw new Error('it is full') }
  conversation.say('one')
  assert.ok(connection.closed)
  conversation.say('two')
  assert.equal(socket.sent.at(-1).type, 'rtc-closed')
  socket.receive('rtc-closed', { received: 1 }) // client-ready
  assert.deepEqual(socket.sent.slice(-2).map(({ data }) => data.text), ['one', 'two'])
})

test('words between the end of the channel and that of the socket are said on the next one', async () => {
  const { conversation, connection } = await start()
  connection.open()
  socket.receive('rtc-open')
  conversation.say('it got')
  connection.channel.onclose()
  conversation.say('it did not get')
  const before = socket
  before.readyState = 3
  before.onclose({ code: 1006 })
  mock.timers.tick(1000)
  assert.notEqual(socket, before)
  socket.readyState = 1
  socket.onopen()
  socket.receive('session-ready', { resumeToken: 'third', turns: [], session: { id: 'sess_1', language: 'en' }, rtc: null })
  await flush()
  assert.deepEqual(socket.sent.filter((m) => m.type === 'user-text').map(({ data }) => data.text), ['it did not get'])
})

test('where it breaks, each message is taken once and in order', async () => {
  const { conversation, of, connection } = await start()
  connection.open()
  socket.receive('rtc-open')
  connection.say('state', { state: 'speaking' })
  conversation.say('one')
  conversation.say('two')
  connection.turns('disconnected')
  mock.timers.tick(1999)
  assert.ok(!connection.closed, 'it may come back')
  mock.timers.tick(1)
  assert.equal(socket.sent.at(-1).type, 'rtc-closed')
  assert.deepEqual(socket.sent.at(-1).data, { received: 1 })
  conversation.say('three')
  connection.say('state', { state: 'idle' }) // which is sent again
  assert.equal(socket.sent.at(-1).type, 'rtc-closed', 'what follows waits')
  socket.receive('rtc-closed', { received: 2 }) // client-ready and one
  assert.deepEqual(socket.sent.slice(-2).map(({ data }) => data.text), ['two', 'three'])
  assert.equal(of('state').at(-1).state, 'speaking')
  assert.equal(of('direct').at(-1).reason, 'lost')
  conversation.say('four')
  assert.equal(socket.sent.at(-1).data.text, 'four')
})

test('no connection is tried where the server has none, or the ticket is for a socket', async () => {
  await start({ rtc: null })
  assert.deepEqual(socket.types(), ['client-ready'])
  await start({ kind: 'websocket' })
  assert.deepEqual(socket.types(), ['client-ready'])
})

test('the microphone is a track, and its end is still told', async () => {
  const { conversation, connection } = await start()
  const track = {}
  conversation.microphone(track)
  connection.open()
  assert.equal(connection.spoken, track)
  const before = socket.sent.length
  conversation.sound(new ArrayBuffer(648))
  assert.equal(socket.sent.length, before)
  conversation.sound(new ArrayBuffer(8))
  assert.equal(socket.sent.length, before + 1)
  conversation.microphone(null)
  assert.equal(connection.spoken, null)
})

/** A track whose clock a test sets. */
function makeTrack() {
  const at = { now: 10_000, rtp: undefined, stamp: 0 }
  globalThis.MediaStream ??= class { constructor(tracks) { this.tracks = tracks } }
  const element = { async play() {}, pause() {} }
  const receiver = { track: {}, getSynchronizationSources: () => at.rtp === undefined ? [] : [{ rtpTimestamp: at.rtp, timestamp: at.stamp }] }
  return { at, element, track: new Track(receiver, () => {}, { makeElement: () => element, now: () => at.now }) }
}

test('the position is the timestamp that is heard', () => {
  const { at, track } = makeTrack()
  track.begin('t', 1)
  assert.equal(track.position, null)
  track.at({ stream: 1, t: 0, rtp: 0xffffff00, last: false })
  Object.assign(at, { rtp: 0xffffff00 - 960, stamp: at.now })
  assert.equal(track.position, null, 'it waits in the browser')
  Object.assign(at, { now: at.now + 120, rtp: 4800 - 256, stamp: at.now + 110 })
  assert.equal(Math.round(track.position.ms), 110, 'over the end of the timestamps, and what passed since')
  // A pause of the turn's: it stands still.
  track.at({ stream: 1, t: 200, rtp: 48_000, last: false })
  Object.assign(at, { rtp: 24_000, stamp: at.now })
  assert.equal(track.position.ms, 200)
  Object.assign(at, { rtp: 48_000 + 4800, stamp: at.now })
  assert.equal(track.position.ms, 300)
  track.at({ stream: 1, t: 400, rtp: 57_600, last: true })
  Object.assign(at, { rtp: 57_600, stamp: at.now })
  assert.deepEqual(track.position, { turnId: 't', ms: 400, whole: true })
})

test('what does not come is not heard', () => {
  const { at, track } = makeTrack()
  track.begin('t', 1)
  track.at({ stream: 1, t: 0, rtp: 0, last: false })
  Object.assign(at, { rtp: 4800, stamp: at.now })
  at.now += 5000
  assert.equal(track.position.ms, 100 + 250, 'no more than the browser may have kept to itself')
  Object.assign(at, { rtp: 9600, stamp: at.now })
  assert.equal(track.position.ms, 200)
  track.at({ stream: 1, t: 600, rtp: 28_800, last: true })
  at.now += 1000
  assert.deepEqual(track.position, { turnId: 't', ms: 600, whole: true }, 'its end has come')
})

test('an element that is paused does not play', async () => {
  const { element, track } = makeTrack()
  await flush()
  assert.ok(track.playing)
  element.onpause()
  assert.ok(!track.playing)
  await track.resume()
  assert.ok(track.playing)
})

test('what is stopped is not heard until the next turn', () => {
  const { track, element } = makeTrack()
  track.begin('t', 1)
  track.at({ stream: 1, t: 0, rtp: 0, last: false })
  track.stop('t')
  assert.equal(element.muted, true)
  track.begin('u', 2)
  track.at({ stream: 2, t: 0, rtp: 9600, last: false })
  assert.equal(element.muted, false)
})

test('a player tells what is heard of a track', async () => {
  const { at, track } = makeTrack()
  const told = [], noted = []
  const conversation = Object.assign(new EventTarget(), { played: (turnId, ms) => told.push([turnId, Math.round(ms)]) })
  const context = Object.assign(new EventTarget(), { state: 'running', currentTime: 0, destination: {}, createGain: () => ({ connect() {}, gain: { setTargetAtTime() {} } }), async resume() {}, async close() {} })
  const player = new Player({ makeContext: () => context, now: () => at.now, makeTrack: () => track })
  player.follow(conversation)
  for (const type of ['begun', 'over']) player.addEventListener(type, ({ detail }) => noted.push([type, detail.turnId]))
  const emit = (type, detail) => conversation.dispatchEvent(new CustomEvent(type, { detail }))
  emit('ready', { audio: { format: 'opus', sampleRate: 48_000 } })
  emit('direct', { receiver: {} })
  emit('bot-audio', { turnId: 't', stream: 1 })
  emit('bot-track', { stream: 1, t: 0, rtp: 0, last: false })
  Object.assign(at, { rtp: 9600, stamp: at.now })
  mock.timers.tick(50)
  assert.deepEqual(told, [['t', 200]])
  emit('bot-track', { stream: 1, t: 400, rtp: 19_200, last: true })
  Object.assign(at, { now: at.now + 200, rtp: 19_200, stamp: at.now + 200 })
  mock.timers.tick(50)
  assert.deepEqual(told.at(-1), ['t', 400])
  assert.deepEqual(noted, [['begun', 't'], ['over', 't']])
  assert.equal(player.position, null)
  player.close()
})
