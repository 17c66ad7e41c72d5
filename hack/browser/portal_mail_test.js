// Members who come in by a link that is mailed to them.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, until } from './stage/api.js'
import { accessible, launch, picture } from './stage/browser.js'
import { linksTo } from './stage/mail.js'
import { enter, greeted, makeCourse, setDoor } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
let portal

before(async () => {
  browser = await launch()
  portal = await makeCourse('Members')
  await setDoor(portal, 'members-link')
})
after(() => browser?.close())

const member = (name, more) => call('POST', '/people', {
  name, email: `${name.toLowerCase()}@example.com`, membership: { portalId: portal.id, role: 'learner' }, ...more,
})

/** Asks for a link at the door. */
async function ask(page, address) {
  await page.goto(`${portal.url}/sign-in`)
  const form = page.getByRole('form', { name: 'With a link by e-mail' })
  await form.getByLabel('Your e-mail address').fill(address)
  await form.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('If this address belongs to a member, a link is on its way.').waitFor()
}

test('a member comes in by mail, once', async (t) => {
  await member('Robin')
  const page = await enter(t, browser, `${portal.url}/sign-in`)
  await accessible(page)
  await picture(page, 'portal-mail-ask')
  await ask(page, 'robin@example.com')
  await accessible(page)
  const [link] = await linksTo('robin@example.com')

  // A program that looks through mail opens the link, and uses nothing up.
  const scanner = await enter(t, browser, link)
  await scanner.getByRole('button', { name: 'Continue' }).waitFor()
  await page.goto(link)
  await accessible(page)
  await picture(page, 'portal-mail-link')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('You are here as Robin.').waitFor()
  assert.ok(!page.url().includes('vml_'), 'the token is gone from the address')
  await page.getByRole('link', { name: 'Start a conversation' }).click()
  await greeted(page)
  const signedIn = await until(() => call('GET', '/events?type=learner.signed_in'), (told) => told.length > 0)
  assert.equal(signedIn[0].data.door, 'members_link')

  await scanner.getByRole('button', { name: 'Continue' }).click()
  await scanner.getByText('This link was used already.').waitFor()
})

test('a stranger is told the same, and gets nothing', async (t) => {
  const page = await enter(t, browser, portal.url)
  await ask(page, 'stranger@example.com')
  await member('Sam', { sendInvite: true })
  await linksTo('sam@example.com') // what was queued before was sent before
  assert.deepEqual(await linksTo('stranger@example.com', 0), [])
})

test('somebody who is invited begins', async (t) => {
  const made = await member('Alex', { sendInvite: true })
  assert.equal(made.state, 'invited')
  const [link] = await linksTo('alex@example.com')
  const page = await enter(t, browser, link)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('You are here as Alex.').waitFor()
  assert.equal((await call('GET', `/people/${made.id}`)).state, 'active')
})

test('a case is mailed', async (t) => {
  const made = await call('POST', `/portals/${portal.id}/case-links`, {
    caseRef: 'C-1', title: 'Broken ladder', channel: 'email', contact: { name: 'Kim', email: 'kim@example.com' },
  })
  const [link] = await linksTo('kim@example.com')
  const sent = await until(() => call('GET', `/case-links/${made.id}`), ({ state }) => state === 'sent')
  assert.equal(sent.sentTo, 'k…@example.com')
  const page = await enter(t, browser, link)
  await page.getByRole('button', { name: 'Continue' }).click()
  await greeted(page)
})
