// A team member joins a visitor's conversation by the page of joinUrl: both read each other, the
// avatar is silent while the member has taken over, and answers again when it is let.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { call, makePersona, until } from './stage/api.js'
import { accessible, launch, open, phone, picture } from './stage/browser.js'
import { ask, enter } from './stage/portal.js'

let browser, persona

before(async () => {
  browser = await launch()
  persona = await makePersona('Ines', { 'The orangery': 'The orangery was built in 1890 by two sisters.' }, {
    greeting: { text: { en: 'Welcome to the tulip garden.' } },
    tools: [{ kind: 'handoff', enabled: true, config: { waitS: 10 } }],
  })
})
after(() => browser?.close())

/** A visitor who asks for a person, in a page of their own. */
async function visitor(t, { asks = true } = {}) {
  const { joinUrl, session } = await call('POST', '/sessions/tokens', { personaId: persona, channel: 'chat', externalId: 'order-42' })
  const page = await enter(t, browser, joinUrl)
  await page.getByRole('button', { name: 'Start the conversation' }).click()
  await page.getByRole('log').getByText('Welcome to the tulip garden.').waitFor()
  await ask(page, 'When was the orangery built?', '1890')
  if (asks) await ask(page, 'Can I talk to a person please?', 'I am asking a person')
  return { page, session }
}

const write = async (page, text) => {
  await page.locator('#message').fill(text)
  await page.keyboard.press('Enter')
}
const hears = (page, text) => page.getByRole('log').getByText(text).first().waitFor()
const said = async (page) => page.locator('.turn.avatar').count()

test('a member joins, takes over and gives the avatar its turn back', async (t) => {
  const { page, session } = await visitor(t)
  const [item] = (await until(() => call('GET', '/inbox?kind=handoff&state=new'), (found) => found.some((i) => i.sessionId === session.id)))
    .filter((i) => i.sessionId === session.id)
  const { joinUrl, token } = await call('POST', `/inbox/${item.id}/join`, { staffName: 'Kim \u202e<b>Lee</b>', mode: 'takeover' })
  assert.ok(joinUrl.endsWith(`#${token}`))

  const requests = []
  const member = await enter(t, browser, 'about:blank')
  member.on('request', (r) => requests.push({ url: r.url(), referer: r.headers().referer }))
  await member.goto(joinUrl)
  await member.getByRole('button', { name: 'Join the conversation' }).waitFor()
  assert.equal(new URL(member.url()).hash, '', 'the token is in the address no more')
  const about = member.getByRole('region', { name: 'Visitor', exact: true })
  await about.getByText('Can I talk to a person please?').waitFor()
  await about.getByText('order-42').waitFor()
  assert.equal(await member.locator('#log').isVisible(), false, 'nothing is read before the visitor is told')
  await picture(member, 'staff-lobby')
  await accessible(member)

  await member.keyboard.press('Enter') // the button has the focus
  await hears(member, 'When was the orangery built?')
  await hears(member, '1890')
  await member.locator('.sources').getByText('The orangery').first().waitFor()
  await hears(page, 'Kim <b>Lee</b> has joined the conversation.')
  await member.getByText('You answer the visitor. Ines is silent.').waitFor()

  const before = await said(page)
  await write(member, 'Good day, how can I help?')
  await hears(page, 'Good day, how can I help?')
  await page.getByText('Kim <b>Lee</b> (Team member)').first().waitFor()
  await write(page, 'When was the orangery built, <img src=x onerror=alert(1)>?')
  await hears(member, '<img src=x onerror=alert(1)>')
  await new Promise((resolve) => setTimeout(resolve, 2000))
  assert.equal(await said(page), before, 'the avatar is silent')
  await picture(member, 'staff-takeover')
  await picture(page, 'staff-visitor')
  await accessible(member)
  await accessible(page)

  await member.getByRole('button', { name: 'Let Ines answer again' }).click()
  await hears(page, 'Ines answers again.')
  await until(() => said(page), (n) => n > before)
  await member.getByText('You and Ines both answer the visitor.').waitFor()
  await member.getByRole('button', { name: 'Take over' }).click()
  await hears(page, 'is answering now.')
  await member.getByRole('button', { name: 'Listen' }).click()
  await member.getByText('You are listening, so you cannot write.').waitFor()
  assert.equal(await member.locator('#composer').isVisible(), false)
  await member.getByRole('button', { name: 'Take over' }).click()
  await member.locator('#composer').waitFor()

  // Loaded again, it goes on as it was, and the visitor is told nothing.
  const told = await page.locator('.notice').count()
  await member.reload()
  await member.getByRole('button', { name: 'Join the conversation' }).click()
  await member.getByText('You answer the visitor. Ines is silent.').waitFor()
  await write(member, 'I am back.')
  await hears(page, 'I am back.')
  assert.equal(await page.locator('.notice').count(), told)

  await member.getByRole('button', { name: 'Leave' }).click()
  await member.getByText('You left the conversation.').waitFor()
  await hears(page, 'has left the conversation.')
  await ask(page, 'Who built the orangery?', 'two sisters')
  await picture(member, 'staff-left')
  await member.getByRole('button', { name: 'Join again' }).click()
  await member.getByText('You answer the visitor. Ines is silent.').waitFor()
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await member.getByText('The visitor ended the conversation.').waitFor()
  await accessible(member)
  await picture(member, 'staff-over')

  // No address but the page's own, and none with the token.
  const own = new URL(joinUrl).origin
  for (const { url, referer } of requests) {
    assert.ok(url.startsWith(own) || url.startsWith('blob:'), url)
    assert.ok(!url.replace(/#.*$/, '').includes(token) && !referer?.includes(token), url)
  }
  assert.deepEqual(member.broken, [])
  assert.deepEqual(page.broken, [])
  const after = await call('GET', `/inbox/${item.id}`)
  assert.ok(after.handoff.joinedAt)
})

test('a visitor for whom nobody comes is asked how they are reached', async (t) => {
  const { page, session } = await visitor(t)
  await page.getByRole('log').getByText('nobody is free right now').waitFor({ timeout: 20_000 })
  await ask(page, 'kim@example.com', 'I have noted that')
  const items = await until(() => call('GET', '/inbox?kind=handoff'), (found) => found.some((i) => i.sessionId === session.id && i.contact.email))
  const { contact } = items.find((i) => i.sessionId === session.id)
  assert.equal(contact.email, 'kim@example.com')
  assert.equal(contact.consent.given, true)
  await picture(page, 'staff-nobody')
})

test('who listens only listens, a used link says so, and the network may go', async (t) => {
  const { page, session } = await visitor(t, { asks: false })
  const { joinUrl } = await call('POST', `/sessions/${session.id}/staff-token`, { staffName: 'Ida', mode: 'listen' })
  const member = await enter(t, browser, joinUrl, { ...phone, locale: 'ar' })
  await member.locator('#join').waitFor()
  assert.equal(await member.evaluate(() => document.documentElement.dir), 'rtl')
  await picture(member, 'staff-phone-ar-lobby')
  await member.locator('#join').click()
  await hears(member, '1890')
  await hears(page, 'Ida has joined the conversation.')
  assert.deepEqual(await member.locator('[data-mode]:visible').count(), 1)
  assert.equal(await member.locator('#composer').isVisible(), false)
  await accessible(member)
  await picture(member, 'staff-phone-ar')

  await member.context().setOffline(true)
  await ask(page, 'Who built the orangery?', 'two sisters')
  await member.context().setOffline(false)
  await hears(member, 'two sisters')

  const another = await enter(t, browser, joinUrl.replace(/#.*/, '#vst_nothing'), phone)
  await another.getByText('This link does not open a conversation').waitFor()
  await picture(another, 'staff-phone-unknown')
  await accessible(another)
  const kim = await call('POST', `/sessions/${session.id}/staff-token`, { staffName: 'Kim', mode: 'takeover' })
  const helper = await enter(t, browser, kim.joinUrl, phone)
  await picture(helper, 'staff-phone-lobby')
  await helper.getByRole('button', { name: 'Join the conversation' }).click()
  await helper.getByText('Also here: Ida').waitFor()
  await write(helper, 'Hello from the phone')
  await hears(page, 'Hello from the phone')
  await picture(helper, 'staff-phone')
  assert.deepEqual(helper.broken, [])
  await call('POST', `/sessions/${session.id}/end`)
  await helper.getByText('The conversation was ended.').waitFor()
  const late = await enter(t, browser, kim.joinUrl, phone)
  await late.getByText('The conversation was ended.').waitFor()
})
