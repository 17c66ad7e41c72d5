// A conversation that somebody holds aloud: a microphone that hears a file, a service that
// recognizes what it says, and an answer.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { accessible, launchHearing, open, phone, picture } from './stage/browser.js'
import { recognition, utterance } from './stage/recognition.js'
import { serve } from './stage/site.js'

const question = 'When was the orangery built?'
const story = 'The orangery was built in 1890 by two sisters who had brought lemon trees from the south.'

let folder, browser, persona, service, connection

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'visavis-ear-'))
  await utterance(join(folder, 'question.wav'), question, 1.5)
  browser = await launchHearing(join(folder, 'question.wav'))
  persona = await makePersona('Mara', { 'The orangery': story }, { greeting: { text: { en: 'Welcome.' } } })
})
after(async () => {
  await browser?.close()
  if (connection) await call('DELETE', `/connections/${connection}`)
  service?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Opens a conversation that was greeted. */
async function begin(t, options, more = {}) {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: persona, ...more })
  const page = await open(browser, 'about:blank', { permissions: [], ...options })
  t.after(() => page.context().close())
  await page.goto(joinUrl)
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('log').getByText('Welcome.').waitFor()
  await page.getByText('Your turn').waitFor()
  return { page, session }
}

test('without a service the browser says that its maker may get the sound', async (t) => {
  const { page } = await begin(t)
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('dialog').getByText('its maker may receive the sound').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  assert.ok(await page.getByRole('button', { name: 'Microphone' }).evaluate((e) => e === document.activeElement))
})

test('somebody asks aloud and is answered', async (t) => {
  service = await recognition([question, question])
  connection = (await call('POST', '/connections', {
    name: 'Ears', kind: 'recognition', provider: 'openai_compatible', config: { baseUrl: service.url, model: 'whisper-1' },
  })).id
  const { page, session } = await begin(t)
  const microphone = page.getByRole('button', { name: 'Microphone' })
  assert.equal(await microphone.getAttribute('aria-pressed'), 'false', 'it is off until somebody wants it')
  await microphone.click()
  await page.getByRole('dialog').getByText('so that Mara can hear you').waitFor()
  await picture(page, 'ear-asks')
  await accessible(page)
  await page.keyboard.press('Enter')
  await page.waitForFunction(() => document.getElementById('mic').getAttribute('aria-pressed') === 'true')
  await page.getByText('Listening to you').waitFor()
  await picture(page, 'ear-hears')
  await page.getByRole('log').getByText(question).waitFor()
  await page.getByRole('log').getByText('1890').first().waitFor()
  await page.waitForTimeout(400)
  await picture(page, 'ear-answered')
  await accessible(page)
  const [recording] = service.heard
  console.log(`heard ${recording.seconds.toFixed(1)} s at ${(20 * Math.log10(recording.level)).toFixed(0)} dB`)
  assert.equal(recording.language, 'en')
  assert.ok(recording.seconds > 1 && recording.seconds < 4 && recording.level > 0.01, JSON.stringify(recording))
  const { turns } = await until(() => call('GET', `/sessions/${session.id}/transcript`), (found) => found.turns.some((turn) => turn.speaker === 'user'))
  const said = turns.find((turn) => turn.speaker === 'user')
  assert.deepEqual([said.text, said.source], [question, 'voice'])
  await microphone.click()
  assert.equal(await microphone.getAttribute('aria-pressed'), 'false')
  assert.deepEqual(page.broken, [])
})

test('a visitor of a website asks the widget aloud', async (t) => {
  const widget = await call('POST', '/widgets', { name: 'Garden', personaId: persona, allowedOrigins: ['http://localhost'] })
  const site = await serve({ body: widget.embed.html })
  t.after(site.close)
  const page = await open(browser, site.origin)
  t.after(() => page.context().close())
  await page.getByRole('button', { name: 'Talk with Mara' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('log').getByText('Welcome.').waitFor()
  const microphone = page.getByRole('button', { name: 'Microphone' })
  await microphone.click()
  await page.getByText('so that Mara can hear you').waitFor()
  await picture(page, 'widget-ear-asks')
  await accessible(page)
  await page.keyboard.press('Escape')
  assert.ok(await page.getByRole('dialog', { name: 'Talk with Mara' }).isVisible(), 'the explanation is closed alone')
  await microphone.click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  await page.getByText('Listening to you').waitFor()
  await picture(page, 'widget-ear-hears')
  await page.getByRole('log').getByText(question).waitFor()
  await page.getByRole('log').getByText('1890').first().waitFor()
  await accessible(page)
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Talk with Mara' }).click()
  assert.equal(await microphone.getAttribute('aria-pressed'), 'false', 'nobody is heard by a closed panel')
  assert.deepEqual(page.broken, [])
})

test('a button is held to speak, by keyboard too', async (t) => {
  const { page } = await begin(t, phone)
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  const manual = page.getByRole('button', { name: 'Hold a button to talk' })
  await manual.click()
  const hold = page.getByRole('button', { name: 'Hold to talk', exact: true })
  await hold.waitFor()
  await hold.focus()
  await page.keyboard.down('Space')
  assert.equal(await hold.getAttribute('data-held'), 'true')
  await picture(page, 'ear-phone')
  const { x, width } = await page.getByRole('button', { name: 'End', exact: true }).boundingBox()
  assert.ok(x >= 0 && x + width <= 390, 'every button can be reached')
  await page.keyboard.up('Space')
  assert.equal(await hold.getAttribute('data-held'), 'false')
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than the screen')
  await accessible(page)
  assert.deepEqual(page.broken, [])
})
