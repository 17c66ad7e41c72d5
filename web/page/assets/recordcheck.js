// Checks a candidate's record as `visavis verify` does: that every entry is what was hashed and comes
// after the one before it, and that the signed anchors hold it. Nothing leaves the page.

/** What is wrong with a record, by a key of the page's words and the number of the entry or anchor. */
export class Broken extends Error {
  constructor(key, number = '') {
    super(`${key} ${number}`)
    this.key = key
    this.number = number
  }
}

/** The forms that records have; the second has questions in words. */
const formats = ['visavis-candidate-record-1', 'visavis-candidate-record-2']

/** How far the clocks of those who write entries and anchors may be apart, in milliseconds. */
const clocksApart = 60 * 60 * 1000

const encoder = new TextEncoder()
const bytesOf = (text) => encoder.encode(text)

/** The bytes of base64url; Broken for anything else. */
function decoded(text) {
  if (text === undefined || text === null || text === '') return new Uint8Array()
  if (typeof text !== 'string' || !/^[A-Za-z0-9_-]*$/.test(text)) throw new Broken('form')
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (c) => c.charCodeAt(0))
}

/** A whole number in eight bytes, the highest first. */
function eight(number) {
  if (!Number.isSafeInteger(number) || number < 0) throw new Broken('form')
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(number))
  return bytes
}

/** A time as it is hashed: in UTC, with six digits of the second. */
function moment(text) {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?Z$/.exec(text)
  if (!found) throw new Broken('form')
  return bytesOf(`${found[1]}.${(found[2] ?? '').padEnd(6, '0')}Z`)
}

/** Hashes parts, each after its length, so that no two lists of parts are hashed alike. */
async function digest(of, ...parts) {
  const all = [bytesOf(of), ...parts].flatMap((part) => [eight(part.length), part])
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(all).arrayBuffer()))
}

const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])

/** Checks a saved answer of GET /candidates/{id}/compliance, or its record alone, as text. */
export async function check(text) {
  let record
  try {
    const read = JSON.parse(text)
    record = read?.data?.record ?? read
  } catch {
    throw new Broken('form')
  }
  if (!formats.includes(record?.format) || !Array.isArray(record.entries)) throw new Broken('form')
  const entries = record.entries
  const head = await checkEntries(record.candidateId, entries)
  if (record.head && !same(decoded(record.head), head)) throw new Broken('head')
  const asked = await checkQuestions(entries, record.questionSets ?? [])
  const anchors = record.anchors ?? []
  let signatures = true
  let last = 0
  for (const anchor of anchors) {
    if (anchor.number <= last) throw new Broken('anchor', anchor.number)
    signatures = await checkAnchor(record, anchor) && signatures
    last = anchor.number
  }
  return {
    candidate: record.candidateId, entries, anchors, signatures, asked,
    erased: entries.filter((e) => e.wordsHash && !e.words).length,
  }
}

/** Checks that entries are a candidate's from the first on, and answers the hash of the last. */
async function checkEntries(candidate, entries) {
  let previous = await digest('visavis candidate record', bytesOf(candidate))
  for (const [i, e] of entries.entries()) {
    if (e.number !== i + 1 || !same(decoded(e.previous), previous)) throw new Broken('order', i + 1)
    const hash = await digest('visavis candidate record entry', eight(e.number), moment(e.at), bytesOf(e.actor), bytesOf(e.action),
      bytesOf(e.data), decoded(e.wordsHash), previous)
    if (!same(decoded(e.hash), hash)) throw new Broken('entry', e.number)
    if (e.words) {
      const words = await digest('visavis candidate record words', decoded(e.words.salt), bytesOf(e.words.text))
      if (!same(decoded(e.wordsHash), words)) throw new Broken('words', e.number)
    }
    previous = hash
  }
  return previous
}

/** Checks that questions are those whose hashes entries name, and answers the sets that they name, with the questions' keys. */
async function checkQuestions(entries, documents) {
  const asked = new Map()
  for (const { data } of entries) {
    const set = JSON.parse(data).questionSet
    if (set && !asked.has(set.hash)) asked.set(set.hash, { ...set, keys: null })
  }
  for (const { hash, document } of documents) {
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', bytesOf(document)))
    const set = asked.get(hash)
    if (!set || set.keys || [...sum].map((byte) => byte.toString(16).padStart(2, '0')).join('') !== hash) throw new Broken('questions')
    set.keys = JSON.parse(document).questions.map(({ key }) => key)
  }
  return [...asked.values()]
}

/** Checks that an anchor holds the record, and answers whether its signature could be checked too. */
async function checkAnchor({ organizationId, candidateId, entries }, a) {
  const held = entries[a.length - 1]
  if (!held) throw new Broken('cut', a.number)
  let hash = await digest('visavis candidate record leaf', bytesOf(candidateId), eight(a.length), decoded(held.hash))
  for (const step of a.path) {
    const pair = step.left ? [decoded(step.hash), hash] : [hash, decoded(step.hash)]
    hash = await digest('visavis candidate record node', ...pair)
  }
  if (!same(hash, decoded(a.root))) throw new Broken('anchor', a.number)
  const after = entries[a.length]
  const at = Date.parse(a.at)
  if (Date.parse(held.at) > at + clocksApart) throw new Broken('order', held.number)
  if (after && Date.parse(after.at) < at - clocksApart) throw new Broken('dated', after.number)
  const signed = await digest('visavis candidate record anchor', bytesOf(organizationId), eight(a.number), moment(a.at), eight(a.leaves),
    decoded(a.root), decoded(a.previous))
  return await checkSignature(a, signed)
}

async function checkSignature(a, signed) {
  let key
  try {
    key = await crypto.subtle.importKey('raw', decoded(a.publicKey), { name: 'Ed25519' }, false, ['verify'])
  } catch (e) {
    if (e.name === 'NotSupportedError') return false // an older browser
    throw new Broken('anchor', a.number)
  }
  if (!await crypto.subtle.verify({ name: 'Ed25519' }, key, decoded(a.signature), signed)) throw new Broken('anchor', a.number)
  return true
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** The bytes of base58, of a public key with what names its kind. */
function fromBase58(text) {
  let number = 0n
  for (const letter of text) {
    const digit = alphabet.indexOf(letter)
    if (digit < 0) throw new Broken('keys')
    number = number * 58n + BigInt(digit)
  }
  const hex = number.toString(16).padStart(68, '0')
  return Uint8Array.from(hex.match(/../g), (pair) => Number.parseInt(pair, 16))
}

/** Checks that the keys that signed stand in a DID document, as text. */
export function checkKeys(text, anchors) {
  const known = {}
  try {
    const document = JSON.parse(text)
    for (const m of document.verificationMethod) {
      if (m.publicKeyMultibase?.startsWith('z')) known[m.id.slice(document.id.length + 1)] = fromBase58(m.publicKeyMultibase.slice(1))
    }
  } catch {
    throw new Broken('keys')
  }
  for (const a of anchors) {
    const key = known[a.keyId]
    if (!key || key.length !== 34 || key[0] !== 0xed || key[1] !== 1 || !same(key.slice(2), decoded(a.publicKey))) throw new Broken('signer', a.number)
  }
}
