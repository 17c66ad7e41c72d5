import assert from 'node:assert/strict'
import { test } from 'node:test'
import { itemsOf, Replay } from './replay.js'
import { Speech } from './speech.js'

const track = [
  { t: 900, type: 'visemes', data: { turnId: 'turn_a', items: [{ t: 0, v: 'sil', w: 0 }, { t: 100, v: 'aa', w: 1 }, { t: 1500, v: 'sil', w: 0 }] } },
  { t: 950, type: 'words', data: { turnId: 'turn_a', items: [{ t: 100, d: 700, text: 'Good' }, { t: 800, d: 700, text: 'morning.' }] } },
  { t: 950, type: 'bot-text', data: { turnId: 'turn_a', text: 'Good morning.', final: false } },
  { t: 1000, type: 'plays', data: { turnId: 'turn_a', from: 0 } },
  { t: 1900, type: 'stops', data: { turnId: 'turn_a' } },
  { t: 1910, type: 'interrupted', data: { turnId: 'turn_a', spokenText: 'Good' } },
  { t: 3000, type: 'user-transcription', data: { turnId: 'turn_b', text: 'Hello', final: true } },
]
const text = track.map((item) => JSON.stringify(item)).join('\n') + '\n{"t":4000,"type":"wo'

test('a track is read as far as it goes', () => assert.deepEqual(itemsOf(text), track))

test('the face moves as it did, forwards and back', () => {
  const replay = new Replay(itemsOf(text))
  const speech = new Speech(replay, () => 0)
  speech.follow(replay)
  replay.seek(500)
  assert.equal(speech.speaking, false)
  replay.seek(1200)
  assert.deepEqual(replay.position, { turnId: 'turn_a', ms: 200 })
  assert.equal(speech.caption().text, 'Good morning.')
  assert.ok(speech.mouth().jaw > 0)
  replay.seek(2000)
  assert.equal(replay.position, null, 'it was interrupted')
  replay.seek(1300)
  assert.deepEqual(replay.position, { turnId: 'turn_a', ms: 300 })
  assert.equal(speech.caption().text, 'Good morning.')
})

test('turns are what was heard', () => {
  assert.deepEqual(new Replay(itemsOf(text)).turns().map(({ speaker, text, interrupted }) => [speaker, text, interrupted ?? false]), [
    ['avatar', 'Good', true], ['user', 'Hello', false],
  ])
})
