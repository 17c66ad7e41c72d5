import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Speech } from './speech.js'

/** A conversation and the sound of it, as a Speech follows them. */
function hold() {
  const conversation = new EventTarget()
  const player = { sounds: true, position: null }
  const speech = new Speech(player, () => 0)
  speech.follow(conversation)
  const tell = (type, detail) => conversation.dispatchEvent(new CustomEvent(type, { detail }))
  const says = (id, host, name) => {
    tell('turn', { id, speaker: 'avatar', text: 'Good morning.', host, name })
    tell('visemes', { turnId: id, items: [{ t: 0, v: 'aa', w: 1 }, { t: 2000, v: 'sil', w: 0 }] })
    tell('words', { turnId: id, items: [{ t: 0, d: 900, text: 'Good' }, { t: 900, d: 900, text: 'morning.' }] })
  }
  return { speech, player, tell, says }
}

test('a mouth moves at the speech of its own host alone', () => {
  const { speech, player, tell, says } = hold()
  says('turn_a', 'left', 'Ada')
  says('turn_b', 'right', 'Ben')
  for (const [turnId, host, other, name] of [['turn_a', 'left', 'right', 'Ada'], ['turn_b', 'right', 'left', 'Ben']]) {
    player.position = { turnId, ms: 500 }
    assert.equal(speech.host, host)
    assert.ok(speech.mouth(host).gap > 0.1)
    assert.equal(speech.mouth(other).gap, 0)
    assert.equal(speech.caption().by, name)
  }
  player.position = null
  assert.equal(speech.host, '')
  assert.equal(speech.mouth('left').gap, 0)

  // Of a turn that goes on after a new connection, the server says who says it.
  tell('ready', { turns: [{ id: 'turn_c', speaker: 'avatar', text: 'Good', host: 'right', name: 'Ben' }], session: {} })
  tell('visemes', { turnId: 'turn_c', items: [{ t: 0, v: 'aa', w: 1 }] })
  player.position = { turnId: 'turn_c', ms: 500 }
  assert.equal(speech.host, 'right')
})

test('what no host is known of is the lead\'s, and all of it is who speaks alone', () => {
  const { speech, player, says } = hold()
  says('turn_a', '', '')
  player.position = { turnId: 'turn_a', ms: 500 }
  assert.ok(speech.mouth('right', 'right').gap > 0.1)
  assert.equal(speech.mouth('left', 'right').gap, 0)
  assert.ok(speech.mouth().gap > 0.1)
  assert.equal(speech.caption().by, '')
})

test('a gesture is whose turn it goes with', () => {
  const { speech, player, tell, says } = hold()
  const made = []
  speech.ongesture = (name, host) => made.push([name, host])
  says('turn_b', 'right', 'Ben')
  tell('gesture', { turnId: 'turn_b', t: 100, name: 'wave' })
  tell('gesture', { name: 'nod' })
  player.position = { turnId: 'turn_b', ms: 200 }
  speech.mouth('left')
  speech.mouth('right')
  assert.deepEqual(made, [['nod', ''], ['wave', 'right']])
})
