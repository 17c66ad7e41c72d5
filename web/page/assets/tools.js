// What AI assistants may ask of a portal, as tools of the visitor's browser (WebMCP, a draft). They are those of the agent's
// MCP server: they only read, and what they answer is for everybody.

const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value })
const word = (description) => ({ type: 'string', description })
const none = { type: 'object', properties: {} }

/** The tools of the agent at an address; send is the browser's fetch. */
export function toolsOf(agent, send = fetch) {
  // The words of a refusal are the assistant's to read: they say when to ask again.
  async function read(path, body) {
    const answer = await send(agent + path, body
      ? { method: 'POST', credentials: 'omit', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
      : { credentials: 'omit' })
    const said = await answer.json()
    if (!answer.ok) throw new Error(said.error?.message ?? String(answer.status))
    return said.data
  }
  return [
    {
      name: 'ask',
      description: 'Answers a question from what the organization published, with sources. confidence low is an honest I do not know. '
        + 'An AI writes the answers: keep the mark with them.',
      inputSchema: {
        type: 'object', required: ['question'],
        properties: {
          question: { ...word('What to ask, in words, at most 1,000 characters.'), maxLength: 1000 },
          language: word("One of the agent's languages, by code or name; the question's own unless given."),
          conversationId: word('What the answer before gave, so that the question can refer to it.'),
        },
      },
      execute: async ({ question, language, conversationId }) => text(await read('/ask', { question, language, conversationId })),
    },
    {
      name: 'list_topics', description: 'Some of what the agent can be asked about, and in which languages.', inputSchema: none,
      execute: async () => {
        const { topics, languages } = await read('')
        return text({ topics, languages })
      },
    },
    {
      name: 'contact_options', description: 'Where people go on who want more than the agent knows.', inputSchema: none,
      execute: async () => {
        const { organizationName, humanUrl } = await read('')
        return text({ organizationName, humanUrl })
      },
    },
  ].map((tool) => ({ ...tool, annotations: { readOnlyHint: true } }))
}

/** Offers tools to a browser's assistant, if it has one: a draft, without which the page works. */
export async function offer(tools, context) {
  for (const tool of tools) {
    try {
      await context?.registerTool?.(tool)
    } catch (problem) {
      console.debug('a tool is not offered to the assistant of the browser', tool.name, problem)
    }
  }
}
