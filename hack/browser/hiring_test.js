// From a role to a decision: a candidate opens the link, is told and agrees, is interviewed by the
// avatar, and a person decides.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { enter, makeCourse, publish, setDoor } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
let role, manager

const en = (text) => ({ en: text, de: text })

/** What a candidate is asked. */
const questions = [
  {
    key: 'knot', kind: 'open', text: en('Which knot do you tie a boat to a pier with, and why?'), required: true, points: 2,
    rubric: [{ key: 'names', label: en('Names a knot'), weight: 1, levels: [{ score: 0, description: en('Names none.') }, { score: 2, description: en('Names the bowline, which does not slip.') }] }],
  },
  {
    key: 'nights', kind: 'open', text: en('Would you work at night?'), required: true, points: 1,
    rubric: [{ key: 'says', label: en('Says whether'), weight: 1, levels: [{ score: 0, description: en('Does not say.') }, { score: 1, description: en('Says yes or no.') }] }],
  },
]

before(async () => {
  browser = await launch()
  const portal = await makeCourse('Harbour')
  await setDoor(portal, 'candidates')
  const subject = await call('POST', `/portals/${portal.id}/subjects`, {
    title: 'Rigger', kind: 'screening', content: { title: en('Rigger'), questions },
  })
  await call('POST', `/subjects/${subject.id}/publish`, {})
  await publish(portal)
  manager = await call('POST', '/people', { name: 'Mo', email: 'mo@example.com', membership: { portalId: portal.id, role: 'manager' } })
  role = await call('POST', '/roles', {
    title: 'Rigger', subjectId: subject.id, location: { city: 'Boston', region: 'MA', country: 'US', timezone: 'America/New_York' }, languages: ['en'],
    description: 'Knots all day.', scoring: 'advisory', hiringManagerIds: [manager.id], alternativeProcess: 'Call us on the phone, and a person talks with you.',
    notice: { text: { en: 'An AI asks you questions. People read your answers and decide.' } },
  })
  await call('PATCH', `/roles/${role.id}`, { state: 'open' })
})
after(() => browser?.close())

async function invite(name) {
  const { invites } = await call('POST', `/roles/${role.id}/invites`, { candidates: [{ name, email: `${name.toLowerCase()}@example.com` }] })
  return invites[0]
}

const state = (candidate) => call('GET', `/candidates/${candidate}`).then((it) => it.state)

/** Opens an invite's page and agrees. */
async function agree(t, url, options) {
  const page = await enter(t, browser, url, options)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Before you begin' }).waitFor()
  await accessible(page)
  return page
}

test('a candidate is interviewed, and a person decides', async (t) => {
  const { url, candidateId } = await invite('Kim')
  const page = await agree(t, url)
  assert.ok(!page.url().includes('invite='), 'the link is not in the address bar')
  await page.getByText('An AI asks you questions.').waitFor()
  await page.getByText('a person talks with you').waitFor()
  await picture(page, 'interview-notice')
  await page.getByLabel('I have read this.').check()
  await page.getByLabel(/^I agree to be interviewed/).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('link', { name: 'Begin the interview' }).waitFor()
  await picture(page, 'interview-ready')
  await page.getByRole('link', { name: 'Begin the interview' }).click()
  const log = page.getByRole('log')
  await log.getByText('Which knot').first().waitFor()
  await picture(page, 'interview-asks')
  await accessible(page)
  const message = page.locator('#message')
  await message.fill('With a bowline, because its loop does not slip.')
  await page.keyboard.press('Enter')
  await log.getByText('Would you work at night?').first().waitFor()
  await message.fill('Yes, I would.')
  await page.keyboard.press('Enter')
  await page.locator('.over').waitFor()
  await picture(page, 'interview-over')
  assert.deepEqual(page.broken, [])

  await until(() => state(candidateId), (it) => it === 'screened', 60_000)
  const before = await call('GET', `/candidates/${candidateId}`)
  assert.equal(before.scorecard, null, 'nobody has read it')
  const reviewed = await call('POST', `/candidates/${candidateId}/review`, { reviewerId: manager.id })
  assert.equal(reviewed.scorecard.advisory, true)
  const decided = await call('POST', `/candidates/${candidateId}/decision`, { decision: 'advance', decidedBy: manager.id, reasonCode: 'meets_criteria' })
  assert.equal(decided.decision.humanReviewed, true)
  await page.getByRole('link', { name: 'How your application stands' }).click()
  await page.getByText('People have decided about your application.').waitFor()
  await picture(page, 'interview-done')
})

test('a candidate takes the application back, by phone', async (t) => {
  const { url, candidateId } = await invite('Lee')
  const page = await agree(t, url, phone)
  await picture(page, 'interview-notice-phone')
  await page.getByRole('button', { name: 'Withdraw my application' }).click()
  await page.getByText('You have withdrawn your application.').waitFor()
  assert.equal(await state(candidateId), 'withdrawn')
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing stands out of the page')
  await picture(page, 'interview-withdrawn-phone')
  await accessible(page)
  assert.deepEqual(page.broken, [])
})

test('a link that is none says so', async (t) => {
  const { url } = await invite('Noa')
  const page = await enter(t, browser, `${url.slice(0, -4)}AAAA`)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').waitFor()
  await picture(page, 'interview-no-link')
  await accessible(page)
})
