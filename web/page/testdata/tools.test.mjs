import assert from 'node:assert'
import { test } from 'node:test'
import { offer, toolsOf } from './tools.mjs'

const at = 'https://api.example.com/v1/agents/harbour'

function setup(answer, status = 200) {
  const sent = []
  const tools = toolsOf(at, async (address, options) => {
    sent.push([address, options.method ?? 'GET', options.credentials, options.body && JSON.parse(options.body)])
    return { ok: status < 400, status, json: async () => answer }
  })
  return { sent, tools, tool: (name) => tools.find((one) => one.name === name) }
}

test('asks, without what the visitor is known by', async () => {
  const { sent, tool } = setup({ data: { answer: 'At nine.', confidence: 'high' } })
  const said = await tool('ask').execute({ question: 'When do you open?', other: 'x' })
  assert.deepEqual(sent, [[at + '/ask', 'POST', 'omit', { question: 'When do you open?' }]])
  assert.equal(said.structuredContent.answer, 'At nine.')
  assert.deepEqual(JSON.parse(said.content[0].text), said.structuredContent)
})

test('tells topics and contacts, and nothing else', async () => {
  const { sent, tool } = setup({ data: { topics: ['Hours'], languages: ['en'], organizationName: 'Harbour', humanUrl: 'https://p.example.com', slug: 'harbour' } })
  assert.deepEqual((await tool('list_topics').execute({})).structuredContent, { topics: ['Hours'], languages: ['en'] })
  assert.deepEqual((await tool('contact_options').execute({})).structuredContent, { organizationName: 'Harbour', humanUrl: 'https://p.example.com' })
  assert.deepEqual(sent.map(([address, method]) => [address, method]), [[at, 'GET'], [at, 'GET']])
})

test('passes on why it is refused', async () => {
  const { tool } = setup({ error: { code: 'rate_limited', message: 'Ask again in 20 seconds.' } }, 429)
  await assert.rejects(tool('ask').execute({ question: 'Why?' }), /Ask again in 20 seconds/)
})

test('offers each tool as one that reads, to whichever assistant there is', async () => {
  const { tools } = setup({})
  const offered = []
  await offer(tools, { registerTool: (tool) => { offered.push([tool.name, tool.annotations.readOnlyHint, tool.inputSchema.type]) } })
  assert.deepEqual(offered, [['ask', true, 'object'], ['list_topics', true, 'object'], ['contact_options', true, 'object']])
  await offer(tools, undefined)
  await offer(tools, {})
  let tried = 0
  await offer(tools, { registerTool: () => { tried++; throw new Error('the name is taken') } })
  assert.equal(tried, 3, 'one that is refused keeps none of the others away')
})
