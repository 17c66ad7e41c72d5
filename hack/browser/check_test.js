// The check of microphone and sound before a conversation, where a link, a portal, a widget and a
// candidate have it. The microphone is a file that is heard.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { call, makePersona } from './stage/api.js'
import { accessible, launch, open, phone, picture } from './stage/browser.js'
import { makeCourse, signIn } from './stage/portal.js'
import { recognition, utterance } from './stage/recognition.js'
import { heard, visit as look } from './stage/senses.js'
import { serve } from './stage/site.js'

let folder, browser, refusing, persona, service, connection

const name = 'Check microphone and sound'

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'visavis-check-'))
  await utterance(join(folder, 'voice.wav'), 'One, two, three: this is how loud I usually speak when I talk with somebody.', 0.5)
  browser = await launch(['--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${join(folder, 'voice.wav')}`])
  refusing = await launch(['--use-fake-device-for-media-stream', '--deny-permission-prompts'])
  persona = await makePersona('Mara', { Garden: 'The orangery was built in 1890.' }, { greeting: { text: { en: 'Welcome.', ar: 'أهلًا.' } } })
  service = await recognition([])
  connection = (await call('POST', '/connections', {
    name: 'Ears', kind: 'recognition', provider: 'openai_compatible', config: { baseUrl: service.url, model: 'whisper-1' },
  })).id
})
after(async () => {
  await browser?.close()
  await refusing?.close()
  if (connection) await call('DELETE', `/connections/${connection}`)
  service?.close()
  await rm(folder, { recursive: true, force: true })
})

const mint = async (more = {}) => (await call('POST', '/sessions/tokens', { personaId: persona, ...more })).joinUrl

/** Notes which microphones a page asks for, and what it left open of them and of contexts. */
function watch() {
  const noted = globalThis.opened = { asked: [], tracks: [], contexts: [] }
  if (!globalThis.MediaDevices) return // an empty page has none
  const { getUserMedia } = MediaDevices.prototype
  MediaDevices.prototype.getUserMedia = async function (wanted) {
    noted.asked.push(wanted.audio)
    const stream = await getUserMedia.call(this, wanted)
    noted.tracks.push(...stream.getTracks())
    return stream
  }
  globalThis.AudioContext = class extends AudioContext {
    constructor(...given) {
      super(...given)
      noted.contexts.push(this)
    }
  }
}

/** Opens a page whose devices are noted. */
const visit = (t, by, url, options) => look(t, by, url, options, (page) => page.context().addInitScript(watch))

/** Begins the test of the microphone, which where that is allowed already begins, and takes its button away, by itself. */
const begin = (button) => button.click({ timeout: 500 }).catch(() => {})

/** What a page has open now: microphones and contexts of sound. */
const left = (page) => page.evaluate(() => [globalThis.opened.tracks.filter(({ readyState }) => readyState === 'live').length, globalThis.opened.contexts.filter(({ state }) => state !== 'closed').length])

test('somebody checks before they talk, and is known the next time', async (t) => {
  const page = await visit(t, browser, 'about:blank')
  // This browser asks nobody, and says so: the first time it is as where one does.
  await page.addInitScript(() => {
    const { query } = Permissions.prototype
    Permissions.prototype.query = function (what) { return sessionStorage.getItem('granted') ? query.call(this, what) : Promise.resolve({ state: 'prompt' }) }
  })
  await page.goto(await mint())
  const checks = page.getByRole('button', { name })
  await checks.waitFor()
  assert.ok(!(await page.evaluate(() => performance.getEntriesByType('resource').some(({ name }) => name.includes('soundcheck')))), 'it is loaded once it is wanted')
  await picture(page, 'check-lobby')
  await checks.click()
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  assert.deepEqual(await page.evaluate(() => globalThis.opened.asked), [], 'it is explained before the browser asks')
  await dialog.getByText('Your browser will ask').waitFor()
  await dialog.getByText('it is neither sent nor kept').waitFor()
  await accessible(page)
  await picture(page, 'check-asks')
  await page.keyboard.press('Enter')
  const meter = dialog.getByRole('meter', { name: 'How loud you are' })
  await meter.waitFor()
  await page.waitForFunction(() => Number(document.querySelector('[role=meter]').getAttribute('aria-valuenow')) > 30)
  await dialog.getByText('Good. You can be heard well.').waitFor()
  assert.equal(await meter.getAttribute('aria-valuetext'), 'Good. You can be heard well.')
  await page.waitForFunction(() => document.querySelectorAll('.level .on').length > 8)
  await picture(page, 'check-good')
  assert.deepEqual(await page.evaluate(() => document.activeElement.id), 'check-microphone', 'the focus is where one goes on')
  const names = await dialog.getByLabel('Device').locator('option').allTextContents()
  assert.ok(names.length >= 3, names.join())
  await dialog.getByLabel('Device').selectOption({ index: 2 })
  await page.waitForFunction(() => globalThis.opened.asked.length === 2)
  const wanted = await dialog.getByLabel('Device').inputValue()
  const asked = await page.evaluate(() => globalThis.opened.asked.at(-1))
  assert.deepEqual([asked.deviceId, asked.echoCancellation, asked.noiseSuppression], [{ exact: wanted }, true, true])
  await page.waitForFunction(() => globalThis.opened.tracks.filter(({ readyState }) => readyState === 'live').length === 1)

  await dialog.getByLabel('Loudspeaker').selectOption({ index: 1 })
  await dialog.getByLabel('Volume').fill('60')
  await dialog.getByRole('button', { name: 'Play a test sound' }).click()
  assert.ok(await heard(page) > 0.05, 'it is heard')
  await dialog.getByText('Do you hear it?').waitFor()
  await accessible(page)
  await dialog.getByRole('button', { name: 'Yes' }).click()
  await dialog.getByText('The sound works.').waitFor()
  await picture(page, 'check-done')
  await dialog.getByRole('button', { name: 'Done' }).click()
  await dialog.waitFor({ state: 'hidden' })
  assert.ok(await checks.evaluate((e) => e === document.activeElement))
  await page.waitForFunction(() => globalThis.opened.tracks.every(({ readyState }) => readyState === 'ended') && globalThis.opened.contexts.every(({ state }) => state === 'closed'))

  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('log').getByText('Welcome.').waitFor()
  assert.equal(await page.getByRole('slider', { name: 'Volume' }).inputValue(), '60')
  await page.getByRole('button', { name: 'Microphone' }).click()
  await page.getByRole('button', { name: 'Use the microphone' }).click()
  await page.waitForFunction(() => globalThis.opened.asked.length === 3)
  assert.deepEqual((await page.evaluate(() => globalThis.opened.asked.at(-1))).deviceId, { exact: wanted }, 'the conversation hears the chosen one')
  const speaks = await page.evaluate(() => globalThis.opened.contexts.map(({ sinkId }) => sinkId).filter(Boolean).length)
  assert.ok(speaks >= 1, 'and is heard from the chosen loudspeaker')
  await page.waitForFunction(() => globalThis.opened.tracks.at(-1).readyState === 'live') // it is asked for before it is there

  await page.evaluate(() => {
    const { tracks } = globalThis.opened, [track] = tracks.slice(-1)
    MediaDevices.prototype.enumerateDevices = async () => []
    track.stop()
    track.dispatchEvent(new Event('ended'))
  })
  await page.getByRole('alert').getByText('The microphone was unplugged.').waitFor()
  assert.equal((await page.evaluate(() => globalThis.opened.asked.at(-1))).deviceId, undefined)
  assert.equal(await page.getByRole('button', { name: 'Microphone' }).getAttribute('aria-pressed'), 'true', 'another is heard')

  await page.evaluate(() => sessionStorage.setItem('granted', 'yes'))
  await page.goto(await mint())
  await checks.click()
  await dialog.getByLabel('Device').waitFor() // it is allowed already, so it is heard at once
  assert.equal(await dialog.getByLabel('Device').inputValue(), wanted)
  assert.equal(await dialog.getByLabel('Volume').inputValue(), '60')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })
  await page.waitForFunction(() => globalThis.opened.tracks.every(({ readyState }) => readyState === 'ended'))
  assert.deepEqual(page.broken, [])
})

test('who allows no microphone is told what to do, and types', async (t) => {
  const page = await visit(t, refusing, await mint(), { permissions: [] })
  await page.getByRole('button', { name }).click()
  const dialog = page.getByRole('dialog', { name })
  await dialog.getByRole('button', { name: 'Test the microphone' }).click()
  await dialog.getByText('The microphone is not allowed.').waitFor()
  await dialog.getByRole('button', { name: 'Try again' }).waitFor()
  await accessible(page)
  await picture(page, 'check-denied')
  await dialog.getByRole('button', { name: 'Skip' }).click()
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('log').getByText('Welcome.').waitFor()
  await page.locator('#message').fill('When was the orangery built?')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('1890').first().waitFor()
  assert.deepEqual(await left(page), [0, 1])
  assert.deepEqual(page.broken, [])
})

test('whatever stands in the way is told, and the conversation begins', async (t) => {
  const cases = {
    'No microphone was found.': () => { MediaDevices.prototype.getUserMedia = async () => { throw new DOMException('', 'NotFoundError') } },
    'Another program may be using it': () => { MediaDevices.prototype.getUserMedia = async () => { throw new DOMException('', 'NotReadableError') } },
    'whose address begins with https': () => {
      Object.defineProperty(globalThis, 'isSecureContext', { value: false })
      Object.defineProperty(navigator, 'mediaDevices', { value: undefined })
    },
    'Nothing is heard yet.': () => {
      MediaDevices.prototype.getUserMedia = async () => new AudioContext().createMediaStreamDestination().stream
    },
  }
  for (const [text, script] of Object.entries(cases)) {
    const page = await open(browser, 'about:blank')
    t.after(() => page.context().close())
    await page.context().addInitScript(script)
    // A memory that refuses everything, as in a frame, is in nobody's way.
    await page.context().addInitScript(() => Object.defineProperty(globalThis, 'localStorage', { get() { throw new DOMException('', 'SecurityError') } }))
    await page.goto(await mint())
    await page.getByRole('button', { name }).click()
    const dialog = page.getByRole('dialog', { name })
    await dialog.waitFor()
    await begin(dialog.getByRole('button', { name: 'Test the microphone' }))
    await dialog.getByText(text).waitFor()
    await accessible(page)
    await dialog.getByLabel('Volume').fill('30')
    await dialog.getByRole('button', { name: 'Skip' }).click()
    await page.getByRole('button', { name: 'Start the conversation' }).click()
    await page.getByRole('log').getByText('Welcome.').waitFor()
    assert.equal(await page.getByRole('slider', { name: 'Volume' }).inputValue(), '30')
    assert.deepEqual(page.broken, [], text)
    await page.context().close() // its face would move on beside the next one's
  }
})

test('where nobody understands speech that is said', async (t) => {
  await call('DELETE', `/connections/${connection}`)
  connection = ''
  const page = await open(browser, 'about:blank')
  t.after(() => page.context().close())
  await page.context().addInitScript(() => { delete globalThis.SpeechRecognition; delete globalThis.webkitSpeechRecognition })
  await page.goto(await mint())
  await page.getByRole('button', { name }).click()
  const dialog = page.getByRole('dialog', { name })
  await dialog.getByText('Neither this browser nor this service turns speech into text').waitFor()
  assert.ok(await dialog.getByRole('button', { name: 'Test the microphone' }).isHidden())
  assert.ok(await dialog.getByRole('button', { name: 'Play a test sound' }).evaluate((e) => e === document.activeElement))
  await picture(page, 'check-deaf')
  await dialog.getByRole('button', { name: 'Play a test sound' }).click()
  await dialog.getByRole('button', { name: 'No' }).click()
  await dialog.getByText('Turn the volume up here').waitFor()
  await accessible(page)
})

test('it looks as the page does, on a phone, in the dark, from right to left', async (t) => {
  for (const [shot, options, title, test] of [
    ['check-phone', phone, name, 'Test the microphone'],
    ['check-dark', { colorScheme: 'dark' }, name, 'Test the microphone'],
    ['check-arabic', { locale: 'ar' }, 'فحص الميكروفون والصوت', 'اختبار الميكروفون'],
    ['check-arabic-phone', { ...phone, locale: 'ar', colorScheme: 'dark', reducedMotion: 'reduce' }, 'فحص الميكروفون والصوت', 'اختبار الميكروفون'],
  ]) {
    const page = await visit(t, browser, await mint(), options)
    await page.getByRole('button', { name: title }).click()
    const dialog = page.getByRole('dialog', { name: title })
    await dialog.waitFor()
    await begin(dialog.getByRole('button', { name: test }))
    await page.waitForFunction(() => document.querySelectorAll('.level .on').length > 8)
    await picture(page, shot)
    await accessible(page)
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
    if (title !== name) assert.equal(await dialog.evaluate((e) => getComputedStyle(e).direction), 'rtl')
    await page.context().close() // its face would move on beside the next one's
  }
})

test('a portal has it before the conversation', async (t) => {
  const portal = await makeCourse('Checked')
  const page = await visit(t, browser, portal.url)
  await page.getByRole('link', { name: 'Check microphone and sound first' }).first().click()
  await signIn(page, 'Kim')
  const dialog = page.getByRole('dialog', { name })
  await dialog.waitFor()
  await picture(page, 'check-portal')
  assert.ok(await page.locator('.turn').count() === 0, 'nothing has begun')
  await dialog.getByRole('button', { name: 'Skip' }).click()
  await dialog.waitFor({ state: 'hidden' })
  await accessible(page)
  await page.keyboard.press('Enter')
  await page.locator('.turn .said').first().waitFor()
  await page.reload()
  await page.locator('.turn .said').first().waitFor()
  assert.ok(await dialog.isHidden(), 'a conversation that is loaded again goes on')
  assert.deepEqual(page.broken, [])
})

test('a widget has it in its panel', async (t) => {
  const widget = await call('POST', '/widgets', { name: 'Garden', personaId: persona, allowedOrigins: ['http://localhost'], leadForm: { askBefore: true, fields: ['name'], required: [] } })
  for (const [shot, options] of Object.entries({ 'check-widget': {}, 'check-widget-phone': { ...phone, colorScheme: 'dark' } })) {
    const api = new URL(process.env.VISAVIS_BASE).origin
    const site = await serve({ body: widget.embed.html, policy: `default-src 'self'; script-src ${api}; connect-src ${api} ${api.replace('http', 'ws')}; img-src ${api} blob: data:` })
    t.after(site.close)
    const page = await visit(t, browser, site.origin, options)
    await page.getByRole('button', { name: 'Talk with Mara' }).click()
    await page.getByLabel('Name').fill('Kim')
    await page.getByRole('button', { name }).click()
    await page.getByRole('heading', { name }).waitFor()
    await begin(page.getByRole('button', { name: 'Test the microphone' }))
    await page.getByText('Good. You can be heard well.').waitFor()
    await accessible(page)
    await picture(page, shot)
    await page.getByRole('button', { name: 'Play a test sound' }).click()
    assert.ok(await heard(page) > 0.05)
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    assert.equal(await page.getByLabel('Name').inputValue(), 'Kim', 'what was filled in is there')
    assert.deepEqual(await left(page), [0, 0])

    await page.getByRole('button', { name }).click()
    await page.getByRole('meter').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.waitForFunction(() => globalThis.opened.tracks.every(({ readyState }) => readyState === 'ended'))
    await page.getByRole('button', { name: 'Talk with Mara' }).click()
    await page.getByRole('button', { name: 'Start the conversation' }).click()
    await page.getByRole('log').getByText('Welcome.').waitFor()
    const volume = page.getByRole('slider', { name: 'Volume' })
    await volume.fill('40')
    await picture(page, `${shot}-talk`)
    await accessible(page)
    assert.deepEqual(page.broken, [])
    await page.context().close() // its face would move on beside the next one's
  }
})
