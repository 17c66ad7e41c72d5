// A duo: two hosts who share one conversation, each with a face, a voice and a name of their own, on every page where one can
// talk with them.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, makePersona, makePortrait, until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { makeCourse, publish, signIn } from './stage/portal.js'
import { serve } from './stage/site.js'
import { heard, visit } from './stage/senses.js'

/** How long the pieces of a recording may take to be joined, in milliseconds. */
const joinedWithin = 90_000

const greeting = {
  en: 'Ada: Welcome to the tulip garden, I am Ada. Ben: And I am Ben, I look after the orangery. Ask us what you like.',
  de: 'Ada: Willkommen im Tulpengarten, ich bin Ada. Ben: Und ich bin Ben.',
}
const story = 'The orangery was built in 1890. Two sisters had brought lemon trees from the south. The whole town came to carry them inside every winter.'

/** @type {import('playwright-core').Browser} */
let browser
let duo

before(async () => {
  browser = await launch()
  const voices = await call('GET', '/voices?limit=100&kind=builtin')
  const faces = await call('GET', '/avatars?limit=100&kind=builtin')
  const voice = (gender) => voices.find((v) => v.gender === gender && ['en', 'de'].every((code) => v.languages.includes(code))).id
  const woman = faces.find(({ gender }) => gender === 'female')
  const man = faces.findIndex(({ gender }) => gender === 'male')
  const { made } = await makePortrait(man)
  duo = await call('POST', '/duos', {
    name: 'Ada and Ben', languages: ['en', 'de'], interplay: { style: 'co_host', handover: 'natural', balance: 0.5 },
    hosts: [
      { seat: 'right', name: 'Ben', avatarId: made.id, voiceId: voice('male'), role: 'partner' },
      { seat: 'left', name: 'Ada', avatarId: woman.id, voiceId: voice('female'), role: 'lead' },
    ],
  })
  const read = await call('GET', `/personas/${await makePersona('What they know', { 'The orangery': story })}`)
  await call('PATCH', `/personas/${duo.personaId}`, { greeting: { text: greeting }, knowledge: { baseIds: read.knowledge.baseIds } })
  await until(() => call('GET', `/duos/${duo.id}/go-live`), ({ ready }) => ready, 30_000)
  await call('POST', `/duos/${duo.id}/live`)
  await call('PATCH', '/settings/privacy.recordings', { value: true })
})
after(async () => {
  await call('PATCH', '/settings/privacy.recordings', { value: false })
  await browser?.close()
})

/** Runs in a page: notes, with every frame, who is heard and how far each mouth is open and each face is turned. */
async function watchPair(page) {
  await page.evaluate(async () => {
    const { src } = [...document.scripts].find(({ type, src }) => type === 'module' && src)
    const { Pair } = await import(new URL('./pair.js', src))
    const { look } = Pair.prototype
    const noted = globalThis.noted.pair = []
    let watched = null
    Pair.prototype.look = function () {
      const changed = look.call(this)
      if (!watched) {
        watched = this
        const note = () => {
          const { left, right } = this.mouths
          noted.push({ at: performance.now(), by: this.speaker, left: left?.gap ?? null, right: right?.gap ?? null })
          requestAnimationFrame(note)
        }
        note()
      }
      return changed
    }
  })
}

/**
 * What was noted while somebody was heard: how far the two mouths were open at most, and how often that was seen. Who speaks is
 * shown a moment after they begin: what was seen around a change counts for nobody.
 */
const mouths = (page, name) => page.evaluate((by) => {
  const { pair } = globalThis.noted
  const changes = pair.filter((n, i) => i > 0 && n.by !== pair[i - 1].by).map(({ at }) => at)
  const seen = pair.filter((n) => n.by === by && n.left !== null && n.right !== null && changes.every((at) => Math.abs(n.at - at) > 150))
  return { frames: seen.length, left: Math.max(0, ...seen.map((n) => n.left)), right: Math.max(0, ...seen.map((n) => n.right)) }
}, name)

/** Waits until a host is the one who is heard. */
const speaks = (page, seat) => page.locator(`.host[data-seat="${seat}"].speaks`).waitFor()

/** Listens to the greeting, and holds it against what must be so. */
async function greet(page, name) {
  await speaks(page, 'left')
  await page.getByRole('status').getByText('Ada is speaking').waitFor()
  await page.waitForTimeout(600)
  await picture(page, `${name}-lead`)
  await speaks(page, 'right')
  await page.getByRole('status').getByText('Ben is speaking').waitFor()
  await page.waitForTimeout(900)
  await picture(page, `${name}-partner`)
  await page.waitForFunction(() => globalThis.noted.captions.some((text) => text.startsWith('Ben ')))
  await page.locator('.host.speaks').waitFor({ state: 'detached' })
  await page.waitForTimeout(300)
}

/** Only the mouth of who is heard moves. */
async function onlyTheirs(page) {
  const lead = await mouths(page, 'Ada'), partner = await mouths(page, 'Ben')
  for (const { frames } of [lead, partner]) assert.ok(frames > 5, `both were seen while they spoke: ${frames} frames`)
  assert.ok(lead.left > 0.2 && lead.right < 0.02, `the mouths while Ada spoke: ${JSON.stringify(lead)}`)
  assert.ok(partner.right > 0.2 && partner.left < 0.02, `the mouths while Ben spoke: ${JSON.stringify(partner)}`)
}

test('a link shows both hosts, of whom each moves their own mouth', async (t) => {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: duo.personaId, record: true })
  const page = await visit(t, browser, joinUrl)
  await watchPair(page)
  const start = page.getByRole('button', { name: 'Start the conversation' })
  await start.waitFor()
  for (const seat of ['left', 'right']) await page.locator(`.host[data-seat="${seat}"] canvas:not([hidden])`).waitFor({ timeout: 30_000 })
  await page.getByText('Ada and Ben are ready.').waitFor()
  await picture(page, 'duo-lobby')
  const [lobby, pair] = await Promise.all(['#lobby', '.pair'].map((part) => page.locator(part).boundingBox()))
  assert.ok(pair.y + pair.height <= lobby.y + 1, 'nothing is written over the names')
  await accessible(page)
  await start.click()
  await page.getByRole('button', { name: 'I agree to be recorded' }).click()
  assert.ok(await heard(page) > 0.05)
  await greet(page, 'duo')
  await onlyTheirs(page)

  for (const [name, question, answer] of [['Ben', 'Ben, when was the orangery built?', '1890'], ['Ada', 'Ada, who had brought the lemon trees?', 'Two sisters']]) {
    await page.locator('#message').fill(question)
    await page.keyboard.press('Enter')
    const said = page.locator('.turn', { hasText: answer })
    await said.waitFor()
    assert.equal(await said.locator('.who').textContent(), name, 'who is called answers')
    await page.locator('.host.speaks').waitFor()
    await page.waitForTimeout(500)
    await picture(page, `duo-answer-${name}`)
    await page.locator('.host.speaks').waitFor({ state: 'detached' })
  }
  await accessible(page)
  const { turns } = await call('GET', `/sessions/${session.id}/transcript`)
  assert.deepEqual(turns.filter(({ speaker }) => speaker === 'avatar').map(({ host, name }) => `${host} ${name}`), ['left Ada', 'right Ben', 'right Ben', 'left Ada'])

  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('heading', { name: 'You ended the conversation.' }).waitFor()
  assert.deepEqual(page.broken, [])

  // The recording plays both.
  await until(() => call('GET', `/sessions/${session.id}`), ({ recordingAvailable }) => recordingAvailable, joinedWithin)
  const { pageUrl } = await call('GET', `/sessions/${session.id}/recording`)
  const player = await visit(t, browser, pageUrl)
  await watchPair(player)
  await player.getByText('Ben, when was the orangery built?').waitFor()
  assert.deepEqual(new Set(await player.locator('.turn.avatar .who').allTextContents()), new Set(['Ada', 'Ben']))
  await player.evaluate(() => document.getElementById('sound').play())
  await speaks(player, 'right')
  await player.waitForTimeout(900)
  await picture(player, 'duo-recording')
  await player.waitForFunction(() => ['Ada', 'Ben'].every((name) => globalThis.noted.pair.filter(({ by }) => by === name).length > 60))
  await onlyTheirs(player)
  await accessible(player)
  assert.deepEqual(player.broken, [])
})

test('a phone shows both hosts', async (t) => {
  const { joinUrl } = await call('POST', '/sessions/tokens', { personaId: duo.personaId })
  const page = await visit(t, browser, joinUrl, phone)
  await watchPair(page)
  const start = page.getByRole('button', { name: 'Start the conversation' })
  await start.waitFor()
  for (const seat of ['left', 'right']) await page.locator(`.host[data-seat="${seat}"] canvas:not([hidden])`).waitFor({ timeout: 30_000 })
  await picture(page, 'duo-phone-lobby')
  await start.click()
  await greet(page, 'duo-phone')
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, 'nothing is wider than the screen')
  await accessible(page)
  assert.deepEqual(page.broken, [])
})

test('hosts keep their seats where one writes from right to left', async (t) => {
  const { joinUrl } = await call('POST', '/sessions/tokens', { personaId: duo.personaId })
  const page = await visit(t, browser, joinUrl, { locale: 'ar' })
  await page.locator('#start').click()
  for (const seat of ['left', 'right']) await page.locator(`.host[data-seat="${seat}"] canvas:not([hidden])`).waitFor({ timeout: 30_000 })
  await speaks(page, 'right')
  await page.waitForTimeout(900)
  await picture(page, 'duo-arabic')
  const [left, right] = await Promise.all(['left', 'right'].map((seat) => page.locator(`.host[data-seat="${seat}"]`).boundingBox()))
  assert.ok(left.x + left.width <= right.x, 'the left host sits on the left')
  assert.equal(await page.locator('html').getAttribute('dir'), 'rtl')
  await accessible(page)
  assert.deepEqual(page.broken, [])
})

test('a portal shows both hosts', async (t) => {
  const portal = await makeCourse('Duo')
  await call('PUT', `/portals/${portal.id}/persona`, { duoId: duo.id })
  await publish(portal)
  const page = await visit(t, browser, portal.url)
  await page.locator('a.button').first().click()
  await page.getByRole('form', { name: 'As a guest' }).waitFor()
  await signIn(page, 'Kim')
  for (const seat of ['left', 'right']) await page.locator(`.host[data-seat="${seat}"] canvas:not([hidden])`).waitFor({ timeout: 30_000 })
  await speaks(page, 'left')
  await picture(page, 'duo-portal')
  await accessible(page)
  assert.deepEqual(page.broken, [])
})

test('a widget shows both hosts', async (t) => {
  const widget = await call('POST', '/widgets', { name: 'Duo', personaId: duo.personaId, allowedOrigins: ['http://localhost'] })
  for (const [name, options] of Object.entries({ 'duo-widget': {}, 'duo-widget-phone': phone })) {
    const site = await serve({ body: widget.embed.html })
    t.after(site.close)
    const page = await visit(t, browser, site.origin, options)
    await page.getByRole('button', { name: 'Talk with Ada and Ben' }).click()
    await page.getByRole('button', { name: 'Start the conversation' }).click()
    for (const seat of ['left', 'right']) await page.locator(`.host[data-seat="${seat}"] canvas:not([hidden])`).waitFor({ timeout: 30_000 })
    await speaks(page, 'left')
    await speaks(page, 'right')
    await page.waitForTimeout(900)
    await picture(page, name)
    await page.getByRole('log').getByText('I am Ben').waitFor()
    if (name === 'duo-widget') await accessible(page)
    assert.deepEqual(page.broken, [])
  }
})
