// The reference of the API as developers meet it (web/reference).

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { accessible, launch, open, phone, picture } from './stage/browser.js'

const origin = new URL(process.env.VISAVIS_BASE).origin

/** @type {import('playwright-core').Browser} */
let browser
before(async () => { browser = await launch() })
after(() => browser?.close())

/** Opens a page of the reference, and notes what it asks other places for. */
async function visit(t, path, options) {
  const page = await open(browser, 'about:blank', options)
  t.after(() => page.context().close())
  page.elsewhere = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) page.elsewhere.push(request.url())
  })
  await page.goto(`${origin}/docs${path}`)
  return page
}

/** Fails for what a page must never do. */
function faultless(page) {
  assert.deepEqual(page.broken, [])
  assert.deepEqual(page.elsewhere, [])
}

/** How far a page can be scrolled to the side, in pixels. */
const sideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)

test('an operation is found with the keyboard alone', async (t) => {
  const page = await visit(t, '')
  await page.getByRole('heading', { level: 1, name: 'Visavis API' }).waitFor()
  await accessible(page)
  await picture(page, 'docs-overview')
  await page.keyboard.press('/')
  await page.keyboard.type('rotate signing secret')
  await page.getByRole('option', { selected: true }).getByText('POST /webhooks/{id}/rotate-secret').waitFor()
  await accessible(page)
  await picture(page, 'docs-search')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'POST /webhooks/{id}/rotate-secret' }).waitFor()
  assert.equal(new URL(page.url()).hash, '#rotateWebhookSecret')
  await accessible(page)
  await page.keyboard.press('Control+k')
  await page.keyboard.type('no such thing anywhere')
  await page.getByRole('status').getByText('Nothing found.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  faultless(page)
})

test('samples are in the language that was chosen', async (t) => {
  const page = await visit(t, '/2026-10-01/webhooks')
  const section = page.getByRole('region', { name: 'POST /webhooks', exact: true })
  await section.getByText('curl -X POST').waitFor()
  await section.getByRole('button', { name: 'Python' }).click()
  await section.getByText('requests.post(').waitFor()
  await section.getByText('curl -X POST').waitFor({ state: 'hidden' })
  await page.goto(`${origin}/docs/2026-10-01/keys`)
  await page.getByRole('region', { name: 'POST /keys', exact: true }).getByText('requests.post(').waitFor()
  faultless(page)
})

test('the other contract is shown at the same place', async (t) => {
  const page = await visit(t, '/2026-10-01/event-types#lead.captured')
  const contracts = page.getByRole('navigation', { name: 'Contract' })
  const example = page.getByRole('region', { name: 'lead.captured' }).locator('pre')
  assert.ok(JSON.parse(await example.textContent()).data.leadBand)
  await contracts.getByRole('link', { name: '2026-07-08' }).click()
  await page.waitForURL(`${origin}/docs/2026-07-08/event-types#lead.captured`)
  assert.ok(JSON.parse(await example.textContent()).data.leadScore)
  assert.equal(await contracts.locator('[aria-current]').textContent(), '2026-07-08')
  faultless(page)
})

for (const [name, options, slugs] of [
  ['phone', phone, ['', '/personas', '/event-types']],
  ['dark', { colorScheme: 'dark' }, ['', '/webhooks', '/event-types']],
]) {
  test(`pages read well: ${name}`, async (t) => {
    const page = await visit(t, '', options)
    for (const slug of slugs) {
      await page.goto(`${origin}/docs/2026-10-01${slug}`)
      const title = await page.getByRole('heading', { level: 1 }).boundingBox()
      assert.ok(title.y < 400, `${slug}: the title is ${title.y} px down`)
      assert.equal(await sideways(page), 0, slug)
      // The page of the events is like the others, and takes axe half a minute.
      if (slug !== '/event-types') await accessible(page)
      await picture(page, `docs-${name}${slug.replace('/', '-')}`)
    }
    faultless(page)
  })
}

test('the menu of a phone leads to an operation', async (t) => {
  const page = await visit(t, '/2026-10-01/personas', phone)
  await page.getByRole('link', { name: 'Menu' }).click()
  const menu = page.getByRole('navigation', { name: 'Operations' })
  await picture(page, 'docs-menu')
  await menu.getByRole('link', { name: 'POST /personas/{id}/ask' }).click()
  await page.getByRole('heading', { name: 'POST /personas/{id}/ask' }).waitFor()
  await menu.waitFor({ state: 'hidden' })
  assert.equal(await sideways(page), 0)
  faultless(page)
})
