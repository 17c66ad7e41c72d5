// The HTTP API, called as a customer's own server would.

/** The API's address, which ends in /v1, and a key of an organization. */
export const base = process.env.VISAVIS_BASE
const key = process.env.VISAVIS_KEY

/** Makes a call and answers its data. It throws the API's own words. */
export async function call(method, path, body) {
  const answer = await fetch(base + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
  })
  const { data, error } = await answer.json()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${error.code} ${error.param ?? ''}: ${error.message}`)
  return data
}

/** Asks until an answer is as wanted; it throws after ten seconds, or as many milliseconds as are given. */
export async function until(ask, wanted, within = 10_000) {
  for (const end = Date.now() + within; Date.now() < end;) {
    const answer = await ask()
    if (await wanted(answer)) return answer
    await new Promise((resolve) => setTimeout(resolve, Math.max(100, within / 100)))
  }
  throw new Error('what is waited for does not come')
}

/** Makes a persona that has read texts, given by their titles, and answers its id. */
export async function makePersona(name, texts, parts = {}) {
  const pack = await call('POST', '/knowledge/bases', { name })
  for (const [title, text] of Object.entries(texts)) {
    const { id } = await call('POST', `/knowledge/bases/${pack.id}/documents`, { kind: 'text', title, text })
    await until(() => call('GET', `/knowledge/documents/${id}`), ({ status }) => status === 'ready')
  }
  const [[face], [voice]] = await Promise.all([call('GET', '/avatars?limit=1'), call('GET', '/voices?limit=1')])
  const made = await call('POST', '/personas', {
    name, avatarId: face.id, voiceId: voice.id, knowledge: { baseIds: [pack.id] }, ...parts,
  })
  return made.id
}
