// The links that bring people to a portal: tokens, cases, and chats that are handed
// over.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, until } from './stage/api.js'
import { accessible, launch, picture } from './stage/browser.js'
import { ask, enter, greeted, makeCourse } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
let portal

before(async () => {
  browser = await launch()
  portal = await makeCourse('Links')
})
after(() => browser?.close())

/** The events of a type that tell of something, by the member that has its id. */
const events = async (type, member, id) => (await call('GET', `/events?type=${type}`)).filter(({ data }) => data[member] === id)

/** Says that nobody is in, whatever a page shows. */
async function nobodyIsIn(page) {
  await page.goto(portal.url)
  assert.equal(await page.getByRole('button', { name: 'Sign out' }).count(), 0)
}

test('a token signs somebody in, once', async (t) => {
  const link = () => call('POST', `/portals/${portal.id}/embed-tokens`, { externalId: 'learner-1', name: 'Kim' })
  const { url, personId } = await link()
  const page = await enter(t, browser, url)
  await page.getByText('You are here as Kim.').waitFor()
  assert.ok(!page.url().includes('#'), 'the token is gone from the address')
  await picture(page, 'portal-signed-in')
  await page.getByRole('link', { name: 'Start a conversation' }).click()
  await greeted(page)
  await ask(page, 'What is a hazard?', 'anything that can do harm')
  const [held] = await call('GET', `/sessions?portalId=${portal.id}`)
  assert.deepEqual([held.source, held.personId], ['embed', personId])

  const again = await enter(t, browser, url)
  await again.getByText('This link was used already.').waitFor()
  await nobodyIsIn(again)
  const tampered = await enter(t, browser, (await link()).url.replace(/.{4}$/, 'AAAA'))
  await tampered.getByText('This link does not open the portal.').waitFor()
  await accessible(tampered)
  await picture(tampered, 'portal-tampered')
  await nobodyIsIn(tampered)
})

test("a link opens a customer's case until it is revoked", async (t) => {
  const made = await call('POST', `/portals/${portal.id}/case-links`, {
    caseRef: 'C-17', title: 'Broken ladder', caseSummary: 'A ladder broke on Monday.', contact: { name: 'Robin', email: 'robin@example.com', phone: null },
  })
  const page = await enter(t, browser, made.url)
  await greeted(page)
  await accessible(page)
  await picture(page, 'portal-case')
  await until(() => events('case_link.opened', 'caseLinkId', made.id), (told) => told.length === 1)

  await call('DELETE', `/case-links/${made.id}`)
  const late = await enter(t, browser, made.url)
  await late.getByText('This link has expired.').waitFor()
  await nobodyIsIn(late)
})

test('a chat is handed over, and told of when it is over', async (t) => {
  const made = await call('POST', `/portals/${portal.id}/escalations`, {
    externalChatId: 'chat-9', reason: 'Wants to see somebody', context: { summary: 'Asks about ladders.', transcript: [] },
  })
  const page = await enter(t, browser, made.url)
  await greeted(page)
  await ask(page, 'What is a hazard?', 'anything that can do harm')
  assert.equal((await call('GET', `/escalations/${made.id}`)).state, 'live')
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('You ended the conversation.').waitFor()
  await until(() => events('escalation.completed', 'escalationId', made.id), (told) => told.length === 1)

  const again = await enter(t, browser, made.url)
  await again.getByText('This link was used already.').waitFor()
})
