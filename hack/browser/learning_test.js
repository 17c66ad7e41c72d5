// From what a teacher sets to the certificate: a teacher sets an assessment, a learner takes it, what the
// avatar is not sure of waits for the teacher, who changes and releases it, and the certificate is verified.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, until } from './stage/api.js'
import { accessible, launch, phone, picture } from './stage/browser.js'
import { enter, makeCourse, publish, setDoor } from './stage/portal.js'

/** @type {import('playwright-core').Browser} */
let browser
let portal, unit, exam

const en = (text) => ({ en: text, de: text })
const points = (...texts) => texts.map((text) => ({ text: en(text), required: false }))

/** What the assessment asks. */
const questions = [
  {
    key: 'alarm', kind: 'open', text: en('What do you do when the fire alarm rings?'), required: true, points: 4, followUps: 0,
    rubric: [{
      key: 'steps', label: en('Steps'), weight: 1, points: points('Leave the building by the stairs', 'Meet at the parking lot'),
      levels: [{ score: 0, description: en('Names no step.') }, { score: 2, description: en('Names one step.') }, { score: 4, description: en('Names both steps.') }],
    }],
  },
  {
    key: 'thief', kind: 'open', text: en('And when you see a thief?'), required: true, points: 2, followUps: 0,
    rubric: [{ key: 'call', label: en('Calls for help'), weight: 1, points: points('Call the police'), levels: [] }],
  },
]

before(async () => {
  browser = await launch()
  portal = await makeCourse('Harbour school')
  await setDoor(portal, 'staff')
  exam = await call('POST', `/portals/${portal.id}/subjects`, {
    title: 'Safe at work', kind: 'assessment', assessed: true, passPercent: 60, attemptsAllowed: 2, certificateTemplate: 'classic', validMonths: 12,
    objectives: [{ key: 'alarm', text: en('Knows what to do when there is a fire.') }], content: { title: en('Safe at work'), intro: en('Two questions on what to do.'), questions },
  })
  await call('POST', `/subjects/${exam.id}/publish`, {})
  await publish(portal)
  unit = await call('POST', '/units', { portalId: portal.id, kind: 'class', name: 'Class 7B' })
})
after(() => browser?.close())

/** Somebody with a role, before the portal. */
async function comes(t, name, role, options) {
  const person = await call('POST', '/people', {
    name, ageBand: 'adult', timezone: 'Europe/Berlin', membership: { portalId: portal.id, role, unitId: unit.id },
  })
  const { url } = await call('POST', `/portals/${portal.id}/embed-tokens`, { personId: person.id })
  const page = await enter(t, browser, url, options)
  await page.getByText(`You are here as ${name}.`).waitFor()
  return page
}

/** Goes to one of the pages for members. */
async function go(page, name) {
  await page.getByRole('navigation', { name: 'Your pages' }).getByRole('link', { name }).click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
}

/** Looks at a page for what hinders people, in both widths, and keeps pictures of it. */
async function looks(page, name) {
  await accessible(page)
  await picture(page, name)
  const wide = page.viewportSize()
  await page.setViewportSize(phone.viewport)
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} stands out of a phone's page`)
  await accessible(page)
  await picture(page, `${name}-phone`)
  await page.setViewportSize(wide)
}

/** Answers a question of the conversation. */
async function answers(page, asked, text) {
  await page.getByRole('log').getByText(asked).first().waitFor()
  await page.locator('#message').fill(text)
  await page.keyboard.press('Enter')
}

test('from what is set to the certificate', async (t) => {
  const kim = await comes(t, 'Kim', 'learner')
  const tess = await comes(t, 'Tess', 'teacher')
  await go(kim, 'My work')
  await kim.getByText('Nothing is set for you at the moment.').waitFor()
  await looks(kim, 'learning-work-empty')

  await go(tess, 'Class')
  await looks(tess, 'learning-class-empty')
  await tess.getByRole('link', { name: 'Set work' }).click()
  await tess.getByLabel('Name of the work').fill('Safety by Friday')
  await tess.getByLabel('Subject').selectOption({ label: 'Safe at work (Assessment)' })
  await tess.getByLabel('Assessment', { exact: true }).check()
  await tess.getByLabel('Due').fill('2099-07-01T09:00')
  await tess.getByRole('button', { name: 'Set it' }).click()
  await tess.getByRole('alert').getByText('Please choose for whom it is.').waitFor()
  assert.equal(await tess.evaluate(() => document.activeElement.id), 'wrong', 'what was wrong has the focus')
  assert.equal(await tess.getByLabel('Name of the work').inputValue(), 'Safety by Friday', 'what was given is there still')
  await looks(tess, 'learning-set-wrong')
  await tess.getByLabel('Class 7B').check()
  await tess.getByRole('button', { name: 'Set it' }).click()
  await tess.getByText('The work is set.').waitFor()

  await go(kim, 'My work')
  await kim.getByText('2099-07-01 09:00 CEST').waitFor()
  await looks(kim, 'learning-work')
  await kim.getByRole('link', { name: /^Begin/ }).first().click()
  await answers(kim, 'when the fire alarm rings', "We don't meet at the parking lot, but leave the building by the stairs.")
  await answers(kim, 'when you see a thief', 'I call the police.')
  await kim.locator('.over').waitFor()
  const [made] = await until(() => call('GET', `/results?subjectId=${exam.id}`), ([it]) => it && it.state !== 'in_progress', 60_000)
  assert.equal(made.state, 'awaiting_review')

  await kim.locator('.over').getByRole('link', { name: 'My work' }).click()
  await go(kim, 'My results')
  await kim.getByText('It is being looked at.').waitFor()
  await looks(kim, 'learning-results-waiting')
  await kim.getByRole('link', { name: 'Safe at work' }).click()
  assert.ok(!(await kim.content()).includes(' points'), 'nothing is told of what is not released')

  await go(tess, 'To review')
  await looks(tess, 'learning-reviews')
  await tess.getByRole('link', { name: 'Kim' }).click()
  await tess.getByText("We don't meet at the parking lot").first().waitFor()
  await looks(tess, 'learning-review')
  await tess.getByLabel('Points, at most 4').fill('4')
  await tess.locator('#reason').fill('Both steps are named.')
  await tess.getByRole('button', { name: 'Save the points' }).click()
  await tess.getByText('The points are saved.').waitFor()
  await tess.getByRole('button', { name: 'Release', exact: true }).click()
  await tess.getByText('The result is released.').waitFor()

  await kim.reload()
  await kim.getByText('Passed.').waitFor()
  await looks(kim, 'learning-result')
  await kim.getByLabel('What is wrong with it?').fill('I said more than that.')
  await kim.getByRole('button', { name: 'Send the objection' }).click()
  await kim.getByText('I said more than that.').waitFor()
  await go(tess, 'To review')
  await tess.getByText('The learner objects.').waitFor()
  await tess.getByRole('link', { name: 'Kim' }).click()
  await tess.getByLabel('Your answer').fill('It has all the points already.')
  await looks(tess, 'learning-contest')
  await tess.getByRole('button', { name: 'Turn it down' }).click()
  await tess.getByText('The objection is answered.').waitFor()

  await go(kim, 'My record')
  await looks(kim, 'learning-record')
  const download = kim.waitForEvent('download')
  await kim.getByRole('link', { name: /^Certificate \(PDF\)/ }).click()
  assert.match((await download).suggestedFilename(), /^certificate-[0-9A-Z-]+\.pdf$/)
  await kim.getByRole('link', { name: /^Verify/ }).click()
  await kim.getByText('This certificate is valid.').waitFor()
  await picture(kim, 'learning-verified')
  assert.deepEqual(kim.broken, [])
  assert.deepEqual(tess.broken.filter((line) => !line.includes('422')), [], 'but for the form that was wrong')
})

test('without JavaScript, from right to left', async (t) => {
  const both = (text, arabic) => ({ en: text, ar: arabic })
  const [[face], voices] = await Promise.all([call('GET', '/avatars?limit=1'), call('GET', '/voices?limit=100')])
  const voice = voices.find(({ languages }) => languages?.includes('ar')) ?? voices[0]
  const school = await call('POST', '/portals', { name: 'مدرسة', templateKey: 'blank', avatarId: face.id, voiceId: voice.id, languages: ['en', 'ar'] })
  await call('PATCH', `/portals/${school.id}`, {
    pages: { title: both('School', 'مدرسة'), welcome: both('Welcome.', 'أهلًا بك.') }, privacy: { privacyUrl: 'https://example.com/privacy' }, minAge: 16,
  })
  await call('PATCH', `/personas/${school.personaId}`, { greeting: { text: both('Welcome.', 'أهلًا بك.') } })
  for (const door of ['embed', 'staff']) await setDoor(school, door)
  const taught = await call('POST', `/portals/${school.id}/subjects`, {
    title: 'Knots', kind: 'course', content: { title: both('Knots', 'العقد'), sections: [{ key: 'one', title: both('One', 'واحد'), body: both('A knot holds.', 'العقدة تثبت.') }] },
  })
  await call('POST', `/subjects/${taught.id}/publish`, {})
  await call('POST', `/portals/${school.id}/publish`, {})
  const come = async (name, role) => {
    const person = await call('POST', '/people', { name, ageBand: 'adult', membership: { portalId: school.id, role } })
    const page = await enter(t, browser, `${school.url}/sign-in?lang=ar`, { javaScriptEnabled: false })
    const { token } = await call('POST', `/portals/${school.id}/embed-tokens`, { personId: person.id })
    // The page that a link opens needs a script: this is the form that it sends.
    const answer = await page.request.post(`${school.url}/sign-in/embed`, { form: { token }, headers: { Origin: new URL(school.url).origin } })
    assert.equal(answer.status(), 200)
    await page.goto(`${school.url}/work`)
    return page
  }
  const learner = await come('ليلى', 'learner')
  const teacher = await come('نور', 'teacher')
  await teacher.getByRole('link', { name: 'الصف', exact: true }).click()
  await teacher.getByRole('link', { name: 'تكليف بمهمة' }).click()
  await teacher.getByLabel('اسم المهمة').fill('العقد')
  await teacher.getByLabel('الموضوع').selectOption({ index: 1 })
  await teacher.getByLabel('تعلّم', { exact: true }).check()
  await teacher.getByLabel('كل من يتعلّم هنا').check()
  await teacher.getByLabel('البداية').fill('2099-07-02T09:00')
  await teacher.getByLabel('موعد التسليم').fill('2099-07-01T09:00')
  await teacher.getByRole('button', { name: 'تكليف' }).click()
  await teacher.getByRole('alert').getByText('بترتيبها').waitFor()
  await picture(teacher, 'learning-set-arabic')
  await teacher.getByLabel('البداية').fill('')
  await teacher.getByRole('button', { name: 'تكليف' }).click()
  await teacher.getByText('أُسندت المهمة.').waitFor()
  await picture(teacher, 'learning-class-arabic')
  await learner.reload()
  await learner.getByText('2099-07-01 09:00 UTC').waitFor()
  await learner.setViewportSize(phone.viewport)
  await picture(learner, 'learning-work-arabic-phone')
})

// A question whose time runs out is left for the next one: what is written by then is the answer, and screen readers
// are told of the time now and then.
test('the time to answer runs out', async (t) => {
  const quick = await call('POST', `/portals/${portal.id}/subjects`, {
    title: 'Quick answers', kind: 'assessment', assessed: true, passPercent: 60, durationS: 600,
    content: { title: en('Quick answers'), intro: en('Be quick.'), questions: [
      { ...questions[0], timeLimitS: 5 }, { ...questions[1], key: 'oven', text: en('And when the oven burns?'), timeLimitS: 5 }, questions[1],
    ] },
  })
  await call('POST', `/subjects/${quick.id}/publish`, {})
  await publish(portal)
  const lee = await comes(t, 'Lee', 'learner')
  await lee.goto(`${portal.url}/talk?subject=${quick.id}`)
  const log = lee.getByRole('log')
  await log.getByText('when the fire alarm rings').first().waitFor()
  const left = lee.locator('#time')
  await left.getByText(/Time left: 0:0[1-5]/).waitFor()
  await lee.locator('#time-told').getByText('You have 5 seconds to answer.').waitFor()
  await lee.locator('#time-all').getByText(/Time left for all questions: (9:\d\d|10:00)/).waitFor()
  await lee.locator('#message').fill('We leave the building by the stairs.')
  await accessible(lee)
  await picture(lee, 'learning-time')
  await log.getByText('We leave the building by the stairs.').first().waitFor() // nobody sent it
  await log.getByText('The time is up.').first().waitFor()
  assert.equal(await lee.locator('#message').inputValue(), '')
  await log.getByText('when the oven burns').first().waitFor()
  await log.getByText('when you see a thief').first().waitFor({ timeout: 30_000 }) // without a word
  await answers(lee, 'when you see a thief', 'I call the police.')
  await lee.locator('.over').waitFor()
  assert.ok(await lee.locator('#time').isHidden())
  const [made] = await until(() => call('GET', `/results?subjectId=${quick.id}`), ([it]) => it && it.state !== 'in_progress', 60_000)
  assert.deepEqual(made.criteria.map((it) => it.time), ['ran_out', 'no_answer', 'in_time'])
  assert.deepEqual(made.criteria.map((it) => it.score), [2, 0, 2])
})
