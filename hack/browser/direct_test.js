// A conversation over WebRTC straight to the browser: the sound as a track, the microphone as
// another one, and the mouth in step with what is heard.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { launchHearing, picture } from './stage/browser.js'
import { recognition, utterance } from './stage/recognition.js'
import { captions, heard, moved, pressStop, senseMouth, skews, stillHeard, visit } from './stage/senses.js'

const question = 'When was the orangery built?'
const story = 'The orangery was built in 1890 by two sisters who had brought lemon trees from the south, and every winter the whole town ' +
  'came to carry those trees inside before the first snow fell on the garden.'
const greeting = 'Welcome to the tulip garden. What would you like to know?'

/** How soon all must be quiet after Stop, in milliseconds; printed is what it takes. */
const quietWithin = 500
/** How far the mouth may be from the voice, in milliseconds; printed is how far it is. */
const inStep = 150

let folder, browser, persona, service, connection

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'visavis-direct-'))
  await utterance(join(folder, 'question.wav'), question, 1.5)
  browser = await launchHearing(join(folder, 'question.wav'))
  service = await recognition([question])
  connection = (await call('POST', '/connections', {
    name: 'Ears', kind: 'recognition', provider: 'openai_compatible', config: { baseUrl: service.url, model: 'whisper-1' },
  })).id
  persona = await makePersona('Ines', { 'The orangery': story }, { greeting: { text: { en: greeting } } })
})
after(async () => {
  await browser?.close()
  if (connection) await call('DELETE', `/connections/${connection}`)
  service?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Opens a conversation, and counts the frames of sound that go over its socket, each way. */
async function begin(t, transport, script) {
  const { joinUrl, session, transport: { kind } } = await call('POST', '/sessions/tokens', { personaId: persona, transport })
  assert.equal(kind, transport)
  const frames = { sent: 0, received: 0, types: [] }
  const page = await visit(t, browser, joinUrl, { permissions: [] }, async (opened) => {
    if (script) await opened.context().addInitScript(script)
    opened.on('websocket', (socket) => {
      for (const way of ['sent', 'received']) {
        socket.on(`frame${way}`, ({ payload }) => {
          if (typeof payload !== 'string') frames[way]++
          else if (way === 'received') frames.types.push(JSON.parse(payload).type)
        })
      }
    })
  })
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await senseMouth(page)
  return { page, session, frames }
}

test('the sound is a track, and the mouth goes with it', async (t) => {
  const measured = {}
  for (const transport of ['websocket', 'webrtc']) {
    const { page, frames } = await begin(t, transport)
    const loudest = await heard(page)
    assert.ok(loudest > 0.05, `the greeting is as loud as ${loudest}`)
    await moved(page)
    await picture(page, `direct-${transport}`)
    await page.getByText('Your turn').waitFor()
    await page.getByPlaceholder(/message/).fill(question)
    await page.keyboard.press('Enter')
    await page.getByRole('log').getByText('1890').first().waitFor()
    await page.waitForFunction(() => globalThis.noted.captions.some((text) => /sisters|lemon/.test(text)))
    measured[transport] = await skews(page)
    console.log(`${transport}: the mouth begins ${measured[transport].join(', ')} ms after the voice`)
    await pressStop(page)
    const { ms, before } = await stillHeard(page)
    assert.ok(before, 'something was heard when Stop was pressed')
    console.log(`${transport}: quiet ${ms.toFixed(0)} ms after Stop`)
    assert.ok(ms < quietWithin, `it is quiet ${ms} ms after Stop`)
    for (const caption of await captions(page)) assert.ok(greeting.includes(caption) || story.includes(caption), `the caption "${caption}" is what is said`)
    if (transport === 'webrtc') {
      assert.equal(frames.received, 0, 'no sound came over the socket')
      assert.ok(!frames.types.includes('bot-text'), 'nor messages')
    }
    assert.deepEqual(page.broken, [])
  }
  assert.ok(measured.webrtc.length, 'the mouth begins with the voice')
  const middle = measured.webrtc.toSorted((a, b) => a - b)[measured.webrtc.length >> 1]
  assert.ok(Math.abs(middle) <= inStep, `the mouth begins ${middle} ms after the voice`)
})

test('somebody asks aloud over WebRTC and is answered', async (t) => {
  const { page, session, frames } = await begin(t, 'webrtc')
  await page.getByText('Your turn').waitFor()
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  await page.getByRole('log').getByText(question).waitFor()
  await page.getByRole('log').getByText('1890').first().waitFor()
  const [recording] = service.heard
  console.log(`heard ${recording.seconds.toFixed(1)} s at ${(20 * Math.log10(recording.level)).toFixed(0)} dB`)
  assert.ok(recording.seconds > 1 && recording.seconds < 4 && recording.level > 0.01, JSON.stringify(recording))
  assert.equal(frames.sent, 0, 'the microphone is a track')
  const { turns } = await until(() => call('GET', `/sessions/${session.id}/transcript`), (found) => found.turns.some((turn) => turn.speaker === 'user'))
  assert.equal(turns.find((turn) => turn.speaker === 'user').source, 'voice')
  assert.deepEqual(page.broken, [])
})

test('where nothing gets through, the conversation is held over the socket', async (t) => {
  // A browser whose network drops what goes over UDP: its checks go to a port that does not listen.
  const { page, frames } = await begin(t, 'webrtc', () => {
    const { setRemoteDescription } = RTCPeerConnection.prototype
    RTCPeerConnection.prototype.setRemoteDescription = function ({ type, sdp }) {
      return setRemoteDescription.call(this, { type, sdp: sdp.replace(/ (\d+) typ host/g, ' 9 typ host') })
    }
  })
  const loudest = await heard(page)
  assert.ok(loudest > 0.05, `the greeting is as loud as ${loudest}`)
  await page.getByRole('log').getByText('What would you like to know?').waitFor()
  assert.ok(frames.received > 10, 'the sound came over the socket')
  assert.deepEqual(page.broken, [])
})
