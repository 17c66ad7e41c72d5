// The two calls that a page makes by itself; the conversation is live.js's.

/** Why the API said no. */
export class Refusal extends Error {
  /** @param {number} status 0 where nobody answered, or the page may not read the answer */
  constructor(status, { code = '', message = '', param = '', details = {} } = {}) {
    super(message || 'the API cannot be reached from this page')
    Object.assign(this, { status, code, param, details })
  }

  /** What to tell a visitor: a key of the words. */
  get reason() {
    if (this.status === 0) return 'unreachable'
    if (this.details?.reason === 'closed') return 'closed'
    if (this.details?.reason === 'visitor_sessions') return 'visits'
    return this.status === 429 || this.status === 503 ? 'busy' : 'unavailable'
  }

  /** The field of the lead form that is wrong, or nothing. */
  get field() {
    return /^body\.contact\.(\w+)$/.exec(this.param)?.[1] ?? ''
  }
}

async function call(url, options) {
  let answer
  try {
    answer = await fetch(url, { credentials: 'omit', ...options })
  } catch {
    throw new Refusal(0)
  }
  const body = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new Refusal(answer.status, body.error ?? {})
  return body.data
}

/** How the widget looks and behaves. @param {import('./page.js').Tag} tag */
export function getConfig({ base, widget, key }) {
  return call(`${base}/widgets/${encodeURIComponent(widget)}/config?key=${encodeURIComponent(key)}`)
}

/** Starts a visitor's session and answers its ticket. While servers are replaced one that does not know `page` can answer: it goes without. */
export async function startSession({ base, widget, key }, { page, ...rest }) {
  const start = (body) => call(`${base}/widgets/${encodeURIComponent(widget)}/sessions`, {
    method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key, ...body }),
  })
  try {
    return await start({ ...rest, page })
  } catch (refusal) {
    if (!page || refusal.status !== 400 || !/^body($|\W*page\b)/.test(refusal.param)) throw refusal
    return start(rest)
  }
}
