import assert from 'node:assert/strict'
import { beforeEach, mock, test } from 'node:test'

import { Conversation, join } from './live.js'

const ticket = {
  session: { id: 'sess_1' }, token: 'first', transport: { url: 'wss://live.test/live/v1/sess_1' },
  face: { assetsUrl: 'https://api.test/v1/avatars/av_1/face' },
}

/** The sockets that were opened, newest last. */
let sockets = []

class Socket {
  readyState = 0
  sent = []
  constructor(url, protocols) {
    Object.assign(this, { url, protocols })
    sockets.push(this)
  }
  send(text) { this.sent.push(JSON.parse(text)) }
  close(code) { this.closedWith = code }
  open() { this.readyState = 1; this.onopen() }
  receive(type, data) { this.onmessage({ data: JSON.stringify({ id: 'x', type, data, t: 0 }) }) }
  ready(resumeToken, turns = []) { this.receive('session-ready', { resumeToken, turns, session: { id: 'sess_1', language: 'en' } }) }
  lose(code) { this.readyState = 3; this.onclose({ code }) }
  types() { return this.sent.map((m) => m.type) }
}

function start(options = {}) {
  const conversation = new Conversation(ticket, { Socket, ...options })
  const events = []
  for (const type of ['ready', 'state', 'turn', 'notice', 'error', 'ended']) {
    conversation.addEventListener(type, (e) => events.push([type, e.detail]))
  }
  conversation.connect()
  return { conversation, events, of: (type) => events.filter((e) => e[0] === type).map((e) => e[1]) }
}

beforeEach(() => {
  sockets = []
  mock.timers.reset()
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'], now: 1_000_000 })
})

test('a client offers its token and says that it is ready', () => {
  start()
  assert.deepEqual(sockets[0].protocols, ['visavis.v1', 'token.first'])
  sockets[0].open()
  assert.deepEqual(sockets[0].types(), ['client-ready'])
})

test('sentences become one text', () => {
  const { of } = start()
  sockets[0].open()
  sockets[0].ready('second')
  sockets[0].receive('bot-text', { turnId: 't', text: 'One.', final: false })
  sockets[0].receive('bot-text', { turnId: 't', text: 'Two.', final: false })
  sockets[0].receive('bot-text', { turnId: 't', text: '', final: true, sources: [{ title: 'Book' }] })
  assert.deepEqual(of('turn').map((t) => [t.text, t.final]), [['One.', false], ['One. Two.', false], ['One. Two.', true]])
  assert.equal(of('turn')[2].sources[0].title, 'Book')
  sockets[0].receive('interrupted', { turnId: 'u', spokenText: 'Thr' })
  assert.deepEqual([of('turn')[3].text, of('turn')[3].interrupted], ['Thr', true])
})

test('a lost socket comes back with the resume token, and what waited is said', () => {
  const { conversation, of } = start()
  conversation.say('before')
  sockets[0].open()
  assert.deepEqual(sockets[0].types(), ['client-ready'])
  sockets[0].ready('second')
  assert.deepEqual(sockets[0].types(), ['client-ready', 'user-text'])
  for (const code of [1006, 1012]) {
    sockets.at(-1).lose(code)
    conversation.say('meanwhile')
    mock.timers.tick(1000)
    sockets.at(-1).open()
    sockets.at(-1).ready('third')
    assert.deepEqual(sockets.at(-1).types(), ['client-ready', 'user-text'])
  }
  assert.deepEqual(sockets.map((s) => s.protocols[1]), ['token.first', 'token.second', 'token.third'])
  assert.equal(of('ended').length, 0)
  assert.ok(of('state').some((s) => s.state === 'reconnecting'))
})

test('a turn goes on after a lost socket', () => {
  const { of } = start()
  sockets[0].open()
  sockets[0].ready('second')
  sockets[0].receive('bot-text', { turnId: 't', text: 'One.', final: false })
  sockets[0].lose(1006)
  mock.timers.tick(1000)
  sockets[1].open()
  sockets[1].ready('third', [{ id: 't', speaker: 'avatar', text: 'One. Two.' }])
  sockets[1].receive('bot-text', { turnId: 't', text: 'Three.', final: false })
  assert.equal(of('turn').at(-1).text, 'One. Two. Three.')
})

test('who cannot come back for thirty seconds is told so', () => {
  const { of } = start()
  sockets[0].open()
  sockets[0].ready('second')
  sockets[0].lose(1006)
  for (let i = 0; i < 40 && !of('ended').length; i++) {
    mock.timers.tick(1000)
    if (sockets.at(-1).readyState === 0) sockets.at(-1).lose(1006)
  }
  assert.deepEqual(of('ended'), [{ endReason: 'connection_lost', ratingAllowed: true }])
  const opened = sockets.length
  mock.timers.tick(60_000)
  assert.equal(sockets.length, opened)
})

test('a silent network is a lost one', () => {
  start()
  sockets[0].open()
  sockets[0].ready('second')
  for (let i = 0; i < 40; i++) mock.timers.tick(1000)
  assert.ok(sockets[0].types().includes('ping'))
  assert.ok(sockets.length > 1)
})

for (const [code, endReason] of [[1000, 'left'], [4001, 'bad_token'], [4002, 'ended'], [4003, 'superseded'], [4008, 'idle'], [4029, 'concurrency_reclaimed']]) {
  test(`code ${code} ends the conversation as ${endReason}`, () => {
    const { of } = start()
    sockets[0].open()
    sockets[0].lose(code)
    mock.timers.tick(60_000)
    assert.equal(of('ended')[0].endReason, endReason)
    assert.equal(sockets.length, 1)
  })
}

test('the end says why, once', () => {
  const { conversation, of } = start()
  sockets[0].open()
  sockets[0].ready('second')
  conversation.end()
  assert.equal(sockets[0].types().at(-1), 'end')
  sockets[0].receive('session-ended', { endReason: 'ended_by_user', ratingAllowed: true })
  sockets[0].lose(1000)
  assert.deepEqual(of('ended'), [{ endReason: 'ended_by_user', ratingAllowed: true }])
})

test('an error of a process that ends is not shown', () => {
  const { of } = start()
  sockets[0].open()
  sockets[0].receive('error', { code: 'reconnect', message: 'Connect again.', fatal: true })
  sockets[0].receive('error', { code: 'text_too_long', message: 'Too long.', fatal: false })
  assert.deepEqual(of('error').map((e) => e.code), ['text_too_long'])
})

test('a rating goes to the API with the newest token', async () => {
  const { conversation } = start()
  sockets[0].open()
  sockets[0].ready('second')
  const asked = mock.method(globalThis, 'fetch', async () => ({ ok: true }))
  await conversation.rate({ score: 4, scale: 5 })
  const [url, options] = asked.mock.calls[0].arguments
  assert.equal(String(url), 'https://api.test/v1/sessions/sess_1/rating')
  assert.equal(options.headers['X-Session-Token'], 'second')
  assert.deepEqual(JSON.parse(options.body), { score: 4, scale: 5 })
  asked.mock.mockImplementation(async () => ({ ok: false, status: 409 }))
  await assert.rejects(conversation.rate({ score: 4, scale: 5 }))
})

test('sentences are joined as their script is written', () => {
  assert.equal(join('', 'a'), 'a')
  assert.equal(join('Hello.', 'You.'), 'Hello. You.')
  assert.equal(join('你好。', '再见。'), '你好。再见。')
  assert.equal(join('안녕하세요.', '네.'), '안녕하세요. 네.')
})

test('tools of the client are used, and what came of them is told', async () => {
  const { conversation } = start({ tools: {
    add: ({ a, b }) => a + b,
    later: async () => { await null; return { done: true } },
    nothing: () => {},
    fail: () => { throw new Error('no such floor') },
  } })
  assert.ok(conversation)
  const [socket] = sockets.slice(-1)
  socket.open()
  socket.ready('second')
  for (const name of ['add', 'later', 'nothing', 'fail', 'toString']) {
    socket.receive('llm-function-call', { callId: name, name, arguments: { a: 1, b: 2 } })
  }
  await new Promise((done) => setImmediate(done))
  const told = socket.sent.filter((m) => m.type === 'llm-function-call-result').map((m) => m.data)
  assert.deepEqual(told.toSorted((a, b) => a.callId.localeCompare(b.callId)), [
    { callId: 'add', result: 3 },
    { callId: 'fail', error: 'no such floor' },
    { callId: 'later', result: { done: true } },
    { callId: 'nothing', result: null },
    { callId: 'toString', error: 'this client has no such tool' },
  ])
})

test('sound is sent once the server is ready, and left out where it would wait', () => {
  const { conversation } = start()
  const socket = sockets[0]
  const sent = []
  socket.send = (data) => { if (data instanceof ArrayBuffer) sent.push(data.byteLength) }
  socket.bufferedAmount = 0
  socket.open()
  conversation.sound(new ArrayBuffer(648))
  assert.deepEqual(sent, [])
  socket.ready('second')
  conversation.sound(new ArrayBuffer(648))
  socket.bufferedAmount = 70_000
  conversation.sound(new ArrayBuffer(648))
  assert.deepEqual(sent, [648])
})

test('words are said to the question that could be answered when they began', () => {
  const { conversation } = start()
  const said = () => sockets.at(-1).sent.filter((m) => m.type.startsWith('user-t')).map((m) => m.data)
  sockets[0].open()
  sockets[0].ready('second')
  conversation.say('hello')
  sockets[0].receive('answer-time', { question: 'alarm', state: 'running', limitS: 5, leftMs: 5000, all: null })
  conversation.heard('I leave', false)
  sockets[0].receive('answer-time', { question: 'oven', state: 'paused', limitS: 5, leftMs: 5000, all: null })
  conversation.heard('I leave by the stairs', true)
  conversation.heard('I open it', true)
  sockets[0].receive('answer-time', { question: 'alarm', state: 'running', limitS: 5, leftMs: 5000, all: null })
  conversation.heard('which never', false)
  conversation.hearAnew()
  sockets[0].receive('answer-time', { question: 'oven', state: 'running', limitS: 5, leftMs: 5000, all: null })
  conversation.heard('I close it', true)
  conversation.say('the stairs', 'alarm')
  conversation.say('the door')
  assert.deepEqual(said(), [
    { text: 'hello' }, { text: 'I leave', final: false, question: 'alarm' }, { text: 'I leave by the stairs', final: true, question: 'alarm' },
    { text: 'I open it', final: true, question: 'oven' },
    { text: 'which never', final: false, question: 'alarm' }, { text: 'I close it', final: true, question: 'oven' }, { text: 'the stairs', question: 'alarm' }, { text: 'the door', question: 'oven' },
  ])
  sockets[0].lose(1006)
  conversation.say('meanwhile')
  mock.timers.tick(2000)
  sockets.at(-1).open()
  sockets.at(-1).ready('third')
  assert.deepEqual(said(), [{ text: 'meanwhile', question: 'oven' }], 'also what waited for a connection')
})
