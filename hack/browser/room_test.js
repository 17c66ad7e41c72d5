// A session's page in a room of a LiveKit server: the persona is heard as a track, and so is the visitor.

import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { accessible, launchHearing, picture } from './stage/browser.js'
import { recognition, utterance } from './stage/recognition.js'
import { mediaServer } from './stage/room.js'
import { captions, heard, moved, pressStop, senseMouth, skews, stillHeard, visit } from './stage/senses.js'

const question = 'When was the orangery built?'
const story = 'The orangery was built in 1890 by two sisters who had brought lemon trees from the south, and every winter the whole town ' +
  'came to carry those trees inside before the first snow fell on the garden.'
const greeting = 'Welcome to the tulip garden. What would you like to know?'

/** How soon all must be quiet after Stop, and how far the mouth may be from the voice, in milliseconds; printed is what it is. */
const quietWithin = 500
const inStep = 400

let folder, browser, server, service, persona
const connections = []

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'visavis-room-'))
  await utterance(join(folder, 'question.wav'), question, 1.5)
  browser = await launchHearing(join(folder, 'question.wav'))
  server = await mediaServer()
  service = await recognition([question])
  for (const connection of [
    { name: 'Rooms', kind: 'media', provider: 'livekit', config: { url: server.url, apiKey: server.apiKey }, secret: server.secret },
    { name: 'Ears', kind: 'recognition', provider: 'openai_compatible', config: { baseUrl: service.url, model: 'whisper-1' } },
  ]) connections.push((await call('POST', '/connections', connection)).id)
  persona = await makePersona('Ines', { 'The orangery': story }, { greeting: { text: { en: greeting } } })
})
after(async () => {
  await browser?.close()
  service?.close()
  server?.close()
  await rm(folder, { recursive: true, force: true })
  for (const id of connections) await call('DELETE', `/connections/${id}`)
})

/** Opens the page of a session in a room. */
async function begin(t, who = persona) {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: who, transport: 'livekit' })
  const page = await visit(t, browser, joinUrl, { permissions: [], ignoreHTTPSErrors: true })
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await senseMouth(page)
  return { page, session }
}

test('a link holds a conversation in a room', async (t) => {
  const { page, session } = await begin(t)
  const loudest = await heard(page)
  assert.ok(loudest > 0.05, `the greeting is as loud as ${loudest}`)
  await moved(page)
  await picture(page, 'room')
  await accessible(page)
  await page.getByText('Your turn').waitFor()
  await page.getByPlaceholder(/message/).fill(question)
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('1890').first().waitFor()
  await page.getByText('Speaking').waitFor()
  await pressStop(page)
  const { ms, before } = await stillHeard(page)
  t.diagnostic(`quiet ${Math.round(ms)} ms after Stop`)
  assert.ok(before && ms < quietWithin, `something is heard for ${ms} ms after Stop`)
  for (const caption of await captions(page)) assert.ok(greeting.includes(caption) || story.includes(caption), `the caption "${caption}" is what is said`)
  const apart = await skews(page)
  t.diagnostic(`the mouth begins ${apart.join(', ')} ms after the voice`)
  assert.ok(apart.length && apart.every((ms) => Math.abs(ms) < inStep), `the mouth is ${apart} ms from the voice`)

  await page.reload() // a conversation that began goes on by itself
  await page.getByRole('log').getByText(question).first().waitFor()
  await page.getByText('Your turn').waitFor()
  await page.getByPlaceholder(/message/).fill(question)
  await page.keyboard.press('Enter') // whoever presses something lets the sound play
  await heard(page)
  await page.getByText('Turn on sound').waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor()
  await page.getByLabel('4 of 5 stars').check()
  await page.getByRole('button', { name: 'Send the rating' }).click()
  await page.getByText('Thank you for your rating.').waitFor()
  const { endReason, rating } = await until(() => call('GET', `/sessions/${session.id}`), ({ state }) => state === 'ended')
  assert.deepEqual([endReason, rating?.score], ['ended_by_user', 4])
  assert.deepEqual(page.broken, [])
})

test('a visitor asks aloud in a room', async (t) => {
  const { page } = await begin(t)
  await heard(page)
  await page.getByText('Your turn').waitFor()
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  await page.getByRole('log').getByText('1890').first().waitFor({ timeout: 30_000 })
  assert.ok(service.heard[0].level > 0.01, 'what is understood was heard')
  assert.deepEqual(page.broken, [])
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor()
})

test('a button is held to speak in a room', async (t) => {
  service.expect(question)
  const { page } = await begin(t, await makePersona('Nia', { 'The orangery': story }, { greeting: { text: { en: 'Welcome.' } }, conversation: { pushToTalk: true } }))
  await heard(page)
  await page.getByText('Your turn').waitFor()
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  const hold = page.locator('#hold')
  await hold.hover()
  // Let go and held again, as by who has thought of something else: what is said then is heard from its first word on.
  await page.mouse.down()
  await page.waitForTimeout(400)
  await page.mouse.up()
  await page.mouse.down()
  await page.waitForTimeout(5000)
  await page.mouse.up()
  await page.getByRole('log').getByText('1890').first().waitFor({ timeout: 30_000 })
  const { level, seconds } = service.heard.at(-1)
  t.diagnostic(`${seconds} s were heard, at ${level.toFixed(3)}`)
  assert.ok(level > 0.01 && seconds > 1)
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor()
  assert.deepEqual(page.broken, [])
})

test('who is put out of the room comes in again with a new token', async (t) => {
  const { page } = await begin(t)
  await heard(page)
  await page.getByText('Your turn').waitFor()
  let renewed = 0
  page.on('request', (request) => { renewed += /\/ticket$/.test(request.url()) })
  assert.equal(await server.putOut(), 1)
  await until(async () => renewed, (times) => times > 0)
  await page.getByText('Your turn').waitFor()
  await page.getByPlaceholder(/message/).fill(question)
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('1890').first().waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor() // the room's client logs as faults what was closed
})

test('where the client of the rooms cannot be loaded, the page says so', async (t) => {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: persona, transport: 'livekit' })
  t.after(() => call('POST', `/sessions/${session.id}/end`))
  const page = await visit(t, browser, joinUrl, { permissions: [], ignoreHTTPSErrors: true },
    (opened) => opened.route('**/livekit-client*', (route) => route.abort()))
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByText('The connection was lost.').first().waitFor()
  assert.equal(await page.getByText('Connecting').isVisible(), false)
})

test('the client of the rooms is as its makers publish it', async () => {
  const published = createRequire(import.meta.url).resolve('livekit-client')
  const ours = join(import.meta.dirname, '../../web/livekit')
  for (const [name, theirs] of [['livekit-client.umd.js', join(dirname(published), 'livekit-client.umd.js')], ['LICENSE', join(dirname(published), '../LICENSE')]]) {
    assert.ok((await readFile(join(ours, name))).equals(await readFile(theirs)), `${name} is another one`)
  }
})
