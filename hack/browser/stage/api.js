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

/**
 * Makes an own face of the picture of a library face, as if it were a photograph.
 * @param {number} nth of the library's
 * @param {any} [parts] of what is made
 */
export async function makePortrait(nth, parts = {}) {
  const faces = await call('GET', '/avatars?limit=100&kind=builtin')
  const picture = Buffer.from(await (await fetch(`${base}/avatars/${faces[nth].id}/preview?size=1024`)).arrayBuffer())
  const { policyVersion } = await call('GET', '/avatars/consent-policy')
  const made = await call('POST', '/avatars', {
    name: 'Own', picture: `data:image/png;base64,${picture.toString('base64')}`, removeBackground: false,
    consent: { statement: 'synthetic', policyVersion, personName: 'Nobody', signedAt: '2026-07-02T09:00:00Z' }, ...parts,
  })
  return { made, drawn: faces[nth], picture }
}

/** Waits until a face that somebody wears is prepared. */
export const worn = (avatar) => until(() => call('GET', `/avatars/${avatar}/face`), ({ state }) => state === 'ready', 30_000)
