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
    notice: {
      text: { en: 'An AI asks you questions. People read your answers and decide.' },
      signals: { en: 'The page notes when something is pasted, and when it is left.' },
    },
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
  await page.getByText('Nothing of the check is kept, and nobody hears it.').waitFor()
  await page.getByRole('button', { name: 'Open the check' }).click()
  const check = page.getByRole('dialog', { name: 'Check microphone and sound' })
  await check.getByRole('button', { name: 'Play a test sound' }).click()
  await check.getByRole('button', { name: 'Yes' }).click()
  await accessible(page)
  await picture(page, 'interview-check')
  await page.keyboard.press('Escape')
  await check.waitFor({ state: 'hidden' })
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

test('a candidate has the interview wait, and the page notes what they were told that it does', async (t) => {
  const { url, candidateId } = await invite('Ada')
  const page = await agree(t, url)
  await page.getByText('The page notes when something is pasted').waitFor()
  await page.getByLabel('I have read this.').check()
  await page.getByLabel(/^I agree to be interviewed/).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  const sent = []
  page.on('response', (answer) => {
    if (answer.url().endsWith('/interview/signal')) sent.push({ ...Object.fromEntries(new URLSearchParams(answer.request().postData())), status: answer.status() })
  })
  await page.getByRole('link', { name: 'Begin the interview' }).click()
  const log = page.getByRole('log')
  await log.getByText('Which knot').first().waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await log.getByText('The interview waits for you.').waitFor()
  assert.ok(await page.locator('#composer').isHidden())
  await picture(page, 'interview-waits')
  await accessible(page)
  await page.getByRole('button', { name: 'Go on' }).click()
  await log.getByText('The interview goes on.').waitFor()
  await page.waitForFunction(() => document.querySelector('[role=log]').innerText.split('The interview goes on.')[1]?.includes('Which knot'))

  await page.evaluate(async () => {
    const look = (hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))
    }
    look(true)
    await new Promise((done) => setTimeout(done, 300))
    look(false)
    const data = new DataTransfer()
    data.setData('text/plain', 'With a bowline.')
    document.getElementById('message').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data }))
  })
  await until(() => sent.length, (it) => it >= 3)
  assert.deepEqual(sent.map(({ kind }) => kind).sort(), ['left', 'pasted', 'watching'])
  assert.ok(sent.every(({ status }) => status === 204), 'each is taken')
  const of = (kind) => sent.find((it) => it.kind === kind) // answers to what is sent at once pass each other
  assert.ok(Number(of('left').durationMs) >= 300)
  assert.equal(Number(of('pasted').characters), 'With a bowline.'.length)
  await page.locator('#message').fill('Can I talk to a human, please?')
  await page.keyboard.press('Enter')
  await log.getByText('People answer you on your page.').waitFor()
  const asked = await call('GET', `/roles/${role.id}/requests?candidateId=${candidateId}`)
  assert.deepEqual(asked.map((it) => it.kind), ['human_alternative'])
  assert.deepEqual(page.broken, [])
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
