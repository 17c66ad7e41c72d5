// Portals, published through the API and visited as people do.

import { call, until, worn } from './api.js'
import { open } from './browser.js'

/** Opens a door of a portal and answers it. */
export const setDoor = (portal, key, door = {}) => call('PUT', `/portals/${portal.id}/doors/${key}`, { open: true, ...door })

/** Publishes a portal, and waits until what its subjects teach can be asked for. */
export async function publish(portal) {
  await call('POST', `/portals/${portal.id}/publish`, {})
  const ready = (documents) => documents.length > 0 && documents.every(({ status }) => status === 'ready')
  const { subjectBaseId } = await until(() => call('GET', `/portals/${portal.id}`), (it) => it.subjectBaseId)
  await until(() => call('GET', `/knowledge/bases/${subjectBaseId}/documents`), ready)
}

/** Makes and publishes the course of the gallery, in English and German, with doors to come in by. */
export async function makeCourse(name, parts = {}) {
  const [[face], [voice]] = await Promise.all([call('GET', '/avatars?limit=1'), call('GET', '/voices?limit=1')])
  const portal = await call('POST', '/portals', {
    name, templateKey: 'course', avatarId: face.id, voiceId: voice.id, languages: ['en', 'de'], answers: { organization: 'Tulip Garden' }, ...parts,
  })
  await call('PATCH', `/portals/${portal.id}`, { minAge: 16, privacy: { privacyUrl: 'https://example.com/privacy' } })
  await worn(parts.avatarId ?? face.id)
  await setDoor(portal, 'visitors', { requires: ['name', 'consent'] })
  for (const door of ['embed', 'customers']) await setDoor(portal, door)
  await publish(portal)
  return portal
}

/** Opens a page in a browser that knows nothing yet, until the test ends. */
export async function enter(t, browser, url, options) {
  const page = await open(browser, url, options)
  t.after(() => page.context().close())
  return page
}

/** Fills in the form of the visitors' door and sends it. */
export async function signIn(page, name) {
  const form = page.getByRole('form', { name: 'As a guest' })
  await form.getByLabel('Your name').fill(name)
  await form.getByLabel(/^I agree/).check()
  await form.getByLabel('I am at least 16 years old.').check()
  await form.getByRole('button', { name: 'Continue' }).click()
}

/** Comes in by the visitors' door, from the page of a portal or a subject up to the conversation. */
export async function comeIn(page) {
  await page.locator('a.button').click()
  await signIn(page, 'Kim')
  await greeted(page)
}

/** Waits until the avatar has said something. */
export const greeted = (page) => page.locator('.turn .said').first().waitFor()

/** Asks in a conversation and waits for an answer that has this in it. */
export async function ask(page, question, answer) {
  await page.locator('#message').fill(question)
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText(answer).first().waitFor()
}
