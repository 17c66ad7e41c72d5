// The widget on somebody's website (web/widget).

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { base, call, makePersona, until } from './stage/api.js'
import { accessible, launch, open, phone, picture } from './stage/browser.js'
import { serve } from './stage/site.js'

const guide = `# Visiting

The garden opens at nine in the morning and closes at six in the evening.

# Tickets

A ticket costs twelve euros for adults and four euros for children.`

/** @type {import('playwright-core').Browser} */
let browser
let persona

before(async () => {
  browser = await launch()
  persona = await makePersona('Amara', { 'Garden guide': guide })
})
after(() => browser?.close())

/** Makes a widget for pages on localhost, with these parts of its own. */
function makeWidget(parts = {}) {
  return call('POST', '/widgets', { name: 'Garden', personaId: persona, allowedOrigins: ['http://localhost'], ...parts })
}

/** Serves a page with a tag until the test ends. */
async function website(t, { tag, ...page }) {
  const site = await serve({ ...page, body: tag })
  t.after(site.close)
  return site
}

/** Opens the page that shows a widget, as a visitor. */
async function visit(t, widget, { page = {}, options = {} } = {}) {
  const site = await website(t, { tag: widget.embed.html, ...page })
  const visitor = await open(browser, site.origin, options)
  t.after(() => visitor.context().close())
  return visitor
}

/** The sessions of a widget. */
const sessions = (widget) => call('GET', `/sessions?widgetId=${widget.id}`)

/** Asks in the open panel and waits for an answer that has this in it. */
async function ask(page, question, answer) {
  await page.getByPlaceholder(/./).fill(question)
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText(answer).first().waitFor()
}

test('a conversation is held by keyboard and rated', async (t) => {
  const widget = await makeWidget({ theme: { accent: '#2f6b3a' } })
  const page = await visit(t, widget)
  const launcher = page.getByRole('button', { name: 'Talk with Amara' })
  await launcher.waitFor()
  await accessible(page)
  await picture(page, 'bubble')

  // The link of the page, then the widget.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog', { name: 'Talk with Amara' })
  await dialog.waitFor()
  await accessible(page)
  await picture(page, 'start')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('Amara').first().waitFor({ state: 'attached' })
  await page.evaluate(() => document.addEventListener('keydown', () => console.error('a shortcut of the page')))
  await ask(page, 'When does the garden open?', 'nine in the morning')
  await accessible(page)
  await picture(page, 'talk')
  await ask(page, 'What does a ticket cost?', 'twelve euros')

  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  assert.equal(await page.evaluate(() => document.activeElement.shadowRoot.activeElement.className), 'launcher face')
  await page.keyboard.press('Enter')
  await dialog.getByText('twelve euros').first().waitFor()

  await dialog.getByRole('button', { name: 'End', exact: true }).click()
  await dialog.getByText('The conversation has ended.').waitFor()
  await page.getByRole('radio', { name: '4 of 5 stars' }).check()
  await page.getByPlaceholder('Anything to add?').fill('Friendly.')
  await accessible(page)
  await picture(page, 'rating')
  await page.getByRole('button', { name: 'Send rating' }).click()
  await dialog.getByText('Thank you for your rating.').waitFor()
  assert.deepEqual(page.broken, [])

  const [kept] = await until(() => sessions(widget), ([s]) => s.rating)
  assert.deepEqual([kept.source, kept.endReason, kept.rating], ['widget', 'ended_by_user', { score: 4, scale: 5 }])
  await page.getByRole('button', { name: 'Talk again' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).waitFor()
})

test('the focus stays in the open dialog', async (t) => {
  const page = await visit(t, await makeWidget())
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  const inside = () => page.evaluate(() => document.activeElement.shadowRoot?.activeElement?.closest('.panel') !== undefined &&
    document.activeElement.shadowRoot?.activeElement?.closest('.panel') !== null)
  for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab', 'Shift+Tab']) {
    await page.keyboard.press(key)
    assert.ok(await inside(), `${key} leaves the dialog`)
  }
})

test('a page in German is spoken to in German', async (t) => {
  const widget = await makeWidget({ languages: ['en', 'de', 'ar'], texts: { de: { title: 'Fragen Sie uns' } } })
  const page = await visit(t, widget, { page: { lang: 'de' } })
  await page.getByRole('button', { name: 'Mit Amara sprechen' }).click()
  await page.getByRole('dialog', { name: 'Fragen Sie uns' }).waitFor()
  await page.getByText('Hallo, ich bin Amara.').waitFor()
  await page.getByRole('button', { name: 'Gespräch beginnen' }).click()
  await page.getByPlaceholder('Nachricht schreiben').waitFor()
  assert.equal((await until(() => sessions(widget), (all) => all.length > 0))[0].language, 'de')
  await picture(page, 'german')
})

test('a language that is written from the right is laid out so', async (t) => {
  const page = await visit(t, await makeWidget({ languages: ['en', 'ar'] }))
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByLabel('Language').selectOption('ar')
  await page.getByRole('button', { name: 'ابدأ المحادثة' }).waitFor()
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector('[data-visavis]').shadowRoot.querySelector('.panel')).direction), 'rtl')
  assert.equal(await page.evaluate(() => document.activeElement.shadowRoot.activeElement.tagName), 'SELECT')
  await accessible(page)
  await picture(page, 'arabic-start')
  await page.getByRole('button', { name: 'ابدأ المحادثة' }).click()
  await page.getByRole('log').getByText(/./).first().waitFor()
  await accessible(page)
  await picture(page, 'arabic')
})

test('a phone has the whole of its screen', async (t) => {
  const page = await visit(t, await makeWidget(), { options: phone })
  await page.getByRole('button', { name: 'Talk with Amara' }).tap()
  const dialog = page.getByRole('dialog')
  await dialog.waitFor()
  await picture(page, 'phone-start')
  assert.deepEqual(await dialog.boundingBox(), { x: 0, y: 0, width: 390, height: 844 })
  await page.getByRole('button', { name: 'Start the conversation' }).tap()
  await ask(page, 'What does a ticket cost?', 'twelve euros')
  await accessible(page)
  await picture(page, 'phone-talk')
  await page.getByRole('button', { name: 'Close' }).tap()
  await dialog.waitFor({ state: 'hidden' })
})

/** Fails unless a page shows nothing of a widget and its console says what to look for. */
async function showsNothing(page) {
  await until(() => page.said, (said) => said.some((line) => line.includes('is not shown')))
  assert.equal(await page.locator('[data-visavis]').count(), 0)
  assert.match(page.said.find((line) => line.includes('is not shown')), /among its allowedOrigins/)
}

test('a page of another origin shows nothing', async (t) => {
  const widget = await makeWidget()
  const { foreign } = await website(t, { tag: widget.embed.html })
  const page = await open(browser, foreign)
  t.after(() => page.context().close())
  await showsNothing(page)
  const answer = await fetch(`${base}/widgets/${widget.id}/config?key=${widget.publicKey}`, { headers: { Origin: foreign } })
  assert.equal(answer.status, 404)
  assert.equal((await call('GET', `/widgets/${widget.id}`)).lastSeenAt, null)
})

test('with another key a page shows nothing', async (t) => {
  const [widget, other] = [await makeWidget(), await makeWidget()]
  await showsNothing(await visit(t, { embed: { html: widget.embed.html.replace(widget.publicKey, other.publicKey) } }))
})

test('a widget that is not enabled is not shown', async (t) => {
  const widget = await makeWidget()
  const site = await website(t, { tag: widget.embed.html })
  const page = await open(browser, site.origin)
  t.after(() => page.context().close())
  await page.getByRole('button', { name: 'Talk with Amara' }).waitFor()
  await call('PATCH', `/widgets/${widget.id}`, { enabled: false })
  await page.reload()
  await showsNothing(page)
})

// README, Put it on a website, names these sources.
const api = new URL(base).origin
const policy = `default-src 'none'; script-src ${api}; connect-src ${api} ${api.replace('http', 'ws')}; img-src ${api} data:; ` +
  "require-trusted-types-for 'script'"

test('a strict policy of the page is kept', async (t) => {
  const page = await visit(t, await makeWidget(), { page: { policy } })
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'When does the garden open?', 'nine in the morning')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('radio', { name: '5 of 5 stars' }).check()
  await page.getByRole('button', { name: 'Send rating' }).click()
  await page.getByText('Thank you for your rating.').waitFor()
  assert.deepEqual(page.broken, [])
  await picture(page, 'policy')
})

test('where a policy forbids the picture there is a letter', async (t) => {
  const page = await visit(t, await makeWidget(), { page: { policy: policy.replace(`img-src ${api} data:`, 'img-src data:') } })
  await page.getByRole('button', { name: 'Talk with Amara' }).getByText('A').waitFor()
  await picture(page, 'letter')
})

test('where a policy forbids the calls the console says so', async (t) => {
  const page = await visit(t, await makeWidget(), { page: { policy: `default-src 'none'; script-src ${api}` } })
  await showsNothing(page)
})

test('what the lead form requires is asked for first', async (t) => {
  const widget = await makeWidget({
    leadForm: { askBefore: true, fields: ['name', 'email', 'phone'], required: ['email', 'phone'] },
    texts: { en: { consent: 'We keep what you leave for a month.' } }, privacyUrl: 'https://example.com/privacy', termsUrl: 'https://example.com/terms',
  })
  const page = await visit(t, widget)
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByLabel('E-mail').fill('kim at example.com')
  await page.getByLabel('Telephone').fill('no')
  await page.keyboard.press('Enter')
  await page.getByText('Please write an e-mail address.').waitFor()
  await page.getByLabel('E-mail').fill('kim@example.com')
  await accessible(page)
  await picture(page, 'form')
  // What the browser takes for good, the server may not.
  await page.keyboard.press('Enter')
  await page.getByText('Please write a telephone number.').waitFor()
  await page.getByLabel('Telephone').fill('030 1234567')
  await page.getByLabel('Name').fill('Kim')
  await page.keyboard.press('Enter')
  await page.getByRole('log').waitFor()
  const [kept] = await until(() => sessions(widget), (all) => all.length > 0)
  assert.deepEqual(kept.collected, { name: 'Kim', email: 'kim@example.com', phone: '030 1234567' })
  assert.match(kept.metadata.page, /^http:\/\/localhost:\d+\/$/)
})

test('outside the hours it says when to come', async (t) => {
  const day = new Date(Date.now() + 3 * 86400_000).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' })
  const hours = { timezone: 'UTC', open: [{ day: day.toLowerCase(), from: '09:00', to: '17:00' }] }
  const page = await visit(t, await makeWidget({ hours }))
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByText('We are closed right now.').waitFor()
  await page.getByText(day).waitFor()
  await page.getByText('09:00–17:00').waitFor()
  await accessible(page)
  await picture(page, 'closed')
})

test('why a conversation is refused is said in words', async (t) => {
  const widget = await makeWidget({ caps: { sessionsPerVisitorPerDay: 1 } })
  const page = await visit(t, widget)
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  const start = page.getByRole('button', { name: 'Start the conversation' })
  await start.click()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('button', { name: 'Talk again' }).click()
  await start.click()
  await page.getByRole('alert').getByText('You have talked as often as is possible today.').waitFor()
  await accessible(page)

  for (const [status, error, words] of [
    [429, { code: 'rate_limited' }, 'All places are taken right now.'], [402, { code: 'insufficient_minutes' }, 'This is not available right now.'],
    [409, { code: 'conflict', details: { reason: 'closed', hours: { timezone: 'UTC', open: [] } } }, 'We are closed right now.'],
  ]) {
    await page.route('**/sessions', (route) => route.fulfill({ status, json: { error }, headers: { 'Access-Control-Allow-Origin': '*' } }))
    await start.click()
    await page.getByText(words).waitFor()
    await page.unrouteAll()
  }
})

test('it speaks up by itself and is told not to', async (t) => {
  const page = await visit(t, await makeWidget({ proactive: { scrollPercent: 50, urls: ['/*'] }, mode: 'orb' }))
  await page.getByRole('button', { name: 'Talk with Amara' }).waitFor()
  assert.equal(await page.getByText('Hello, I am Amara.').count(), 0)
  await page.mouse.wheel(0, 2000)
  const said = page.getByRole('button', { name: 'Hello, I am Amara.' })
  await said.waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY', 'it takes no focus')
  await accessible(page)
  await picture(page, 'proactive')
  await page.getByRole('button', { name: 'Not now' }).click()
  await said.waitFor({ state: 'detached' })
})

test('an inline widget is a part of the page, dark where that is', async (t) => {
  const page = await visit(t, await makeWidget({ mode: 'inline', rating: { mode: 'during', scale: 2 } }), { options: { colorScheme: 'dark' } })
  await page.getByRole('region', { name: 'Talk with Amara' }).waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY', 'it takes no focus')
  await picture(page, 'inline-start')
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'What does a ticket cost?', 'twelve euros')
  await page.getByRole('button', { name: 'Rate' }).click()
  await page.getByRole('radio', { name: 'Helpful', exact: true }).check()
  await accessible(page)
  await picture(page, 'inline')
  await page.getByRole('button', { name: 'Send rating' }).click()
  await page.getByText('Thank you for your rating.').waitFor()
  await ask(page, 'When does the garden open?', 'nine in the morning')
})

test('it fills the screen, and does not move for whom that is too much', async (t) => {
  const page = await visit(t, await makeWidget({ mode: 'fullscreen', placement: 'bottom_left' }), { options: { reducedMotion: 'reduce' } })
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  assert.deepEqual(await page.getByRole('dialog').boundingBox(), { x: 0, y: 0, width: 1180, height: 800 })
  assert.equal(await page.evaluate(() => document.querySelector('[data-visavis]').shadowRoot.getAnimations().length), 0)
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'What does a ticket cost?', 'twelve euros')
  await picture(page, 'fullscreen')
})

test('a lost connection comes back with what was said', async (t) => {
  const page = await visit(t, await makeWidget())
  let socket
  await page.routeWebSocket(/\/live\//, (ws) => {
    socket = ws
    ws.connectToServer()
  })
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'What does a ticket cost?', 'twelve euros')
  await socket.close({ code: 3001, reason: 'the network is gone' })
  await ask(page, 'When does the garden open?', 'nine in the morning')
  assert.equal(await page.getByRole('log').getByText('What does a ticket cost?').count(), 1)
})

test('a conversation goes on from page to page, and not once it is over', async (t) => {
  const widget = await makeWidget()
  const page = await visit(t, widget)
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'What does a ticket cost?', 'twelve euros')
  await page.reload()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('twelve euros').first().waitFor()
  assert.equal(await page.evaluate(() => document.activeElement.tagName), 'BODY', 'it takes no focus')
  await ask(page, 'When does the garden open?', 'nine in the morning')
  await page.getByRole('button', { name: 'Close' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Talk with Amara' }).waitFor()
  assert.ok(await dialog.isHidden())
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await dialog.getByText('nine in the morning').first().waitFor()
  await dialog.getByRole('button', { name: 'End', exact: true }).click()
  await dialog.getByText('The conversation has ended.').waitFor()
  await page.getByRole('button', { name: 'Close' }).click()
  await page.reload()
  await page.getByRole('button', { name: 'Talk with Amara' }).click()
  await dialog.getByRole('button', { name: 'Start the conversation' }).click()
  await ask(page, 'What does a ticket cost?', 'twelve euros')

  // It ends while the tab is elsewhere.
  const site = page.url()
  await page.goto('about:blank')
  const [second, first] = await sessions(widget)
  assert.equal(first.endReason, 'ended_by_user')
  await call('POST', `/sessions/${second.id}/end`, {})
  await page.goto(site)
  await dialog.getByRole('button', { name: 'Start the conversation' }).waitFor()
  assert.deepEqual(page.broken, [])
})
