// A published portal as people meet it (web/page).

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { ask, comeIn, enter, greeted, makeCourse, publish, setDoor, signIn } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
/** The course: its id, url and subjectIds. */
let portal

before(async () => {
  browser = await launch()
  portal = await makeCourse('Safety')
})
after(() => browser?.close())

const sessions = () => call('GET', `/sessions?portalId=${portal.id}`)

test('a visitor comes in, talks and rates', async (t) => {
  const page = await enter(t, browser, portal.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await accessible(page)
  await picture(page, 'portal-welcome')
  await page.getByRole('link', { name: 'Workplace safety basics' }).last().click()
  await page.getByText('Slips, trips and falls').first().waitFor()
  await accessible(page)
  await picture(page, 'portal-subject')
  await page.getByRole('link', { name: 'Talk about this' }).click()
  await accessible(page)
  await picture(page, 'portal-sign-in')
  await page.goBack()
  await comeIn(page)
  await ask(page, 'What is a hazard?', 'anything that can do harm')
  await accessible(page)
  await picture(page, 'portal-talk')

  await page.reload()
  await page.getByRole('log').getByText('anything that can do harm').first().waitFor()
  await page.getByText('Your turn').waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByLabel('4 of 5 stars').check()
  await page.getByLabel('Anything to add?').fill('Clear.')
  await accessible(page)
  await picture(page, 'portal-rating')
  await page.getByRole('button', { name: 'Send the rating' }).click()
  await page.getByText('Thank you for your rating.').waitFor()
  assert.deepEqual(page.broken, [])
  const [kept] = await until(sessions, ([s]) => s?.rating)
  assert.deepEqual([kept.source, kept.portalId, kept.subjectId], ['portal', portal.id, portal.subjectIds[0]])
  assert.deepEqual([kept.rating.score, kept.rating.scale, kept.collected.name], [4, 5, 'Kim'])

  await page.goto(portal.url)
  await page.getByText('You are here as Kim.').waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('You are here as Kim.').waitFor({ state: 'hidden' })
})

test('a code gives somebody a place', async (t) => {
  const { code } = await setDoor(portal, 'join-code')
  const page = await enter(t, browser, portal.url)
  const form = page.getByRole('form', { name: 'With a code' })
  await until(() => page.goto(`${portal.url}/sign-in`), () => form.isVisible())
  const tries = async (text) => {
    await form.getByLabel('Code', { exact: true }).fill(text)
    await form.getByLabel('Your name').fill('Alex')
    await form.getByLabel('I am at least 16 years old.').check()
    await form.getByRole('button', { name: 'Continue' }).click()
  }
  await tries('AAAA-AAAA')
  await page.getByRole('alert').getByText('There is no such code.').waitFor()
  await accessible(page)
  await picture(page, 'portal-code')
  await tries(code.toLowerCase())
  await page.getByText('You are here as Alex.').waitFor()
  const people = await call('GET', `/people?portalId=${portal.id}`)
  assert.ok(people.some(({ name }) => name === 'Alex'))
})

test('a form says what it lacks', async (t) => {
  const page = await enter(t, browser, `${portal.url}/sign-in`)
  await signIn(page, ' ')
  await page.getByRole('alert').getByText('Please enter your name.').waitFor()
  await accessible(page)
})

test('the language is switched, kept, and spoken', async (t) => {
  const page = await enter(t, browser, portal.url)
  await page.locator('summary').click()
  await page.getByRole('link', { name: 'Deutsch' }).click()
  assert.equal(await page.getAttribute('html', 'lang'), 'de')
  await accessible(page)
  await picture(page, 'portal-german')
  await page.goto(portal.url)
  assert.equal(await page.getAttribute('html', 'lang'), 'de')
  await page.getByRole('link', { name: 'Gespräch beginnen' }).click()
  const form = page.getByRole('form', { name: 'Als Gast' })
  await form.getByLabel('Ihr Name').fill('Kim')
  for (const box of await form.getByRole('checkbox').all()) await box.check()
  await form.getByRole('button', { name: 'Weiter' }).click()
  await greeted(page)
  await ask(page, 'Was ist eine Gefahr?', 'Schaden anrichten')
})

test('a language that is written from the right is laid out so', async (t) => {
  const persona = await makePersona('Amara', {}, { greeting: { text: { en: 'Welcome.', ar: 'أهلا بك في الحديقة.' } } })
  const made = await call('POST', '/portals', {
    name: 'Garden', templateKey: 'blank', personaId: persona, languages: ['en', 'ar'], subjects: [{
      title: 'Tickets', kind: 'guide', content: {
        intro: { en: 'What a visit costs.', ar: 'كم تكلف الزيارة.' },
        sections: [{ key: 'price', title: { en: 'Price', ar: 'السعر' }, body: { en: 'A ticket costs twelve euros.', ar: 'سعر التذكرة اثنا عشر يورو.' } }],
      },
    }],
  })
  await call('PATCH', `/portals/${made.id}`, {
    privacy: { privacyUrl: 'https://example.com/privacy' },
    pages: { title: { en: 'The garden', ar: 'الحديقة' }, welcome: { en: 'Come and see.', ar: 'تفضل بالزيارة.' }, footer: {} },
  })
  await setDoor(made, 'visitors')
  await publish(made)
  const page = await enter(t, browser, made.url, { ...phone, locale: 'ar' })
  assert.deepEqual([await page.getAttribute('html', 'lang'), await page.getAttribute('html', 'dir')], ['ar', 'rtl'])
  await accessible(page)
  await picture(page, 'portal-arabic')
  await page.getByRole('button', { name: 'ابدأ محادثة' }).click()
  await greeted(page)
  await ask(page, 'سعر التذكرة', 'اثنا عشر يورو')
  await accessible(page)
  await picture(page, 'portal-arabic-talk')
})

test('a phone shows all of it', async (t) => {
  const page = await enter(t, browser, portal.url, phone)
  const wide = () => page.evaluate(() => document.documentElement.scrollWidth)
  assert.equal(await wide(), 390, 'nothing is wider than the screen')
  await picture(page, 'portal-phone')
  await comeIn(page)
  await ask(page, 'What is a hazard?', 'anything that can do harm')
  assert.equal(await wide(), 390)
  await accessible(page)
  await picture(page, 'portal-phone-talk')
})

test('all but the conversation works without a script', async (t) => {
  const page = await enter(t, browser, portal.url, { javaScriptEnabled: false })
  await page.getByRole('link', { name: 'Workplace safety basics' }).last().click()
  await page.getByRole('link', { name: 'Talk about this' }).click()
  await signIn(page, 'Kim')
  // Text in a noscript is no text to getByText.
  await page.locator('noscript p').waitFor()
  await picture(page, 'portal-no-script')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('link', { name: 'Start a conversation' }).waitFor()
})

test('what is published is seen within two seconds, and so is that nothing is', async (t) => {
  const made = await makeCourse('Brief')
  const page = await enter(t, browser, made.url)
  /** Loads the page until it has a heading, which it must within two seconds. */
  const soon = async (heading) => {
    const since = performance.now()
    await until(() => page.goto(made.url), () => page.getByRole('heading', { level: 1, name: heading }).isVisible())
    const took = performance.now() - since
    assert.ok(took < 2000, `it took ${took} ms`)
  }
  const { pages } = made
  await call('PATCH', `/portals/${made.id}`, { pages: { ...pages, title: { ...pages.title, en: 'Brief and new' } } })
  await call('POST', `/portals/${made.id}/publish`, {})
  await soon('Brief and new')

  await call('PATCH', `/portals/${made.id}`, { slug: `moved-${made.slug}` })
  await until(() => page.goto(`${made.url}/sign-in`), () => page.url().includes('/p/moved-'))
  await page.getByRole('heading', { name: 'Come in' }).waitFor()

  await call('POST', `/portals/${made.id}/unpublish`)
  await soon('There is nothing here')
  await accessible(page)
  await picture(page, 'portal-nothing')
})
