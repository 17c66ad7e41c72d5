// A conversation that is recorded: its user is asked, may change their mind, and whoever has
// the link plays it as it was.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { captions, heard, moved, visit } from './stage/senses.js'

/** How long the pieces of a recording may take to be joined, in milliseconds: the last may come 20 s after the end. */
const joinedWithin = 90_000

const greeting = 'Welcome to the tulip garden. What would you like to know?'
const story = 'The orangery was built in 1890 by two sisters.'

/** @type {import('playwright-core').Browser} */
let browser
let persona

before(async () => {
  browser = await launch()
  persona = await makePersona('Ilse', { 'The orangery': story }, { greeting: { text: { en: greeting } } })
  await call('PATCH', '/settings/privacy.recordings', { value: true })
})
after(async () => {
  await call('PATCH', '/settings/privacy.recordings', { value: false })
  await browser?.close()
})

/** Begins a conversation whose user is asked to be recorded. */
async function begin(t, options) {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: persona, channel: 'voice', record: true })
  const page = await visit(t, browser, joinUrl, options)
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('button', { name: 'I agree to be recorded' }).waitFor()
  return { page, session }
}

const recorded = (session) => call('GET', `/sessions/${session.id}`).then((s) => s.recordingAvailable)

test('who agrees is recorded, and the page plays it', async (t) => {
  const { page, session } = await begin(t)
  await accessible(page)
  await picture(page, 'recording-asks')
  for (const name of ['I agree to be recorded', 'Do not record']) await page.getByRole('button', { name }).click({ trial: true }) // nothing covers it
  await page.keyboard.press('Enter') // who agrees by keyboard has the button before them
  await page.getByText('The conversation is recorded from now on.').waitFor()
  await heard(page)
  await picture(page, 'recording-on')
  await accessible(page)
  await page.getByPlaceholder(/message/).fill('When was the orangery built?')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('1890').first().waitFor()
  await page.waitForTimeout(4000)
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor()
  assert.deepEqual(page.broken, [])

  await until(() => recorded(session), (available) => available, joinedWithin)
  const { pageUrl, missingMs, durationMs } = await call('GET', `/sessions/${session.id}/recording`)
  assert.ok(durationMs > 4000, `it lasts ${durationMs} ms`)
  assert.equal(missingMs, 0)
  const player = await visit(t, browser, pageUrl)
  await player.getByText('When was the orangery built?').waitFor()
  await player.evaluate(() => document.getElementById('sound').play())
  await moved(player)
  await player.waitForFunction(() => globalThis.noted.captions.length)
  const shown = await captions(player)
  // The first words of a phrase can be known before the others.
  for (const caption of shown) assert.ok(greeting.includes(caption) || story.includes(caption), `the caption "${caption}" is what is said`)
  await accessible(player)
  const { width } = await player.locator('#sound').boundingBox()
  assert.ok(width > 300, `the player's controls are ${width} px wide`)
  await picture(player, 'recording-played')
  assert.deepEqual(player.broken, [])
})

test('who does not agree talks without', async (t) => {
  const { page, session } = await begin(t, phone)
  await accessible(page)
  await picture(page, 'recording-asks-phone')
  await page.getByRole('button', { name: 'Do not record' }).click()
  await page.getByText('The conversation is not recorded.').waitFor()
  await heard(page)
  assert.equal(await page.getByRole('button', { name: 'Stop recording' }).count(), 0)
  assert.equal(await recorded(session), false)
  assert.deepEqual(page.broken, [])
})

test('who changes their mind has it deleted', async (t) => {
  const { page } = await begin(t)
  await page.getByRole('button', { name: 'I agree to be recorded' }).click()
  const stop = page.getByRole('button', { name: 'Stop recording' })
  await stop.click()
  await page.getByText('The conversation is not recorded.').waitFor()
  await stop.waitFor({ state: 'hidden' })
  assert.deepEqual(page.broken, [])
})
