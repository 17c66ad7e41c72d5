import assert from 'node:assert/strict'
import { test } from 'node:test'

import { startSession } from '../src/api.js'

const tag = { base: 'https://api.example/v1', widget: 'wgt_1', key: 'pk' }
const asked = { language: 'en', channel: 'chat', page: { url: 'https://museum.example/' } }

/** Answers the calls one by one, and keeps what they said. */
function serve(t, ...answers) {
  const bodies = []
  t.mock.method(globalThis, 'fetch', async (url, { body }) => {
    bodies.push(JSON.parse(body))
    const [status, answer] = answers.shift()
    return new Response(JSON.stringify(answer), { status })
  })
  return bodies
}

const refuses = (param) => [400, { error: { code: 'invalid_request', message: 'No.', param } }]
const starts = [201, { data: { session: { id: 'ses_1' } } }]

test('a server that does not know pages starts a conversation without', async (t) => {
  for (const param of ['body.page', 'body']) {
    const bodies = serve(t, refuses(param), starts)
    assert.deepEqual(await startSession(tag, asked), { session: { id: 'ses_1' } })
    assert.deepEqual(bodies, [{ key: 'pk', ...asked }, { key: 'pk', language: 'en', channel: 'chat' }])
  }
})

test('anything else that is refused is not asked for again', async (t) => {
  for (const answer of [refuses('body.contact.email'), refuses('body.pageSize'), [409, { error: { param: 'body.page' } }]]) {
    const bodies = serve(t, answer)
    await assert.rejects(startSession(tag, asked), { status: answer[0] })
    assert.equal(bodies.length, 1)
  }
  const bodies = serve(t, refuses('body.page'), refuses('body'))
  await assert.rejects(startSession(tag, asked), { param: 'body' })
  assert.equal(bodies.length, 2)
})
