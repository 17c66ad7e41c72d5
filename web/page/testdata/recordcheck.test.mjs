import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'

import { Broken, check, checkKeys } from './recordcheck.mjs'

const text = readFileSync('record.json', 'utf8')
const changed = (change) => {
  const record = JSON.parse(text)
  change(record)
  return JSON.stringify(record)
}

test('a record holds, alone and in the answer that it came with', async () => {
  const found = await check(text)
  assert.equal(found.entries.length, 12)
  assert.equal(found.anchors.length, 2)
  assert.equal(found.signatures, true)
  assert.equal((await check(JSON.stringify({ data: { record: JSON.parse(text) } }))).entries.length, 12)
})

test('both forms are read', async () => {
  assert.equal((await check(changed((r) => { r.format = 'visavis-candidate-record-2' }))).entries.length, 12)
  await assert.rejects(check(changed((r) => { r.format = 'visavis-candidate-record-3' })), Broken)
})

test('so it does once its words are erased', async () => {
  const found = await check(changed((r) => r.entries.forEach((e) => delete e.words)))
  assert.equal(found.erased, 4)
})

const tamperings = {
  entry: (r) => { r.entries[3].action += 'x' },
  order: (r) => { r.entries.splice(4, 1) },
  words: (r) => { r.entries[1].words.text = 'Something else' },
  cut: (r) => { r.entries = r.entries.slice(0, 7) },
  anchor: (r) => { r.anchors[1].root = r.anchors[0].root },
  head: (r) => { r.head = r.entries[0].hash },
  form: (r) => { r.entries[0].at = 'today' },
}
for (const [key, tamper] of Object.entries(tamperings)) {
  test(`${key} is found`, async () => {
    await assert.rejects(check(changed(tamper)), (e) => e instanceof Broken && e.key === key)
  })
}

test('another signature, key, time or place is found', async () => {
  const swap = (a, key, other) => { a[key] = other }
  for (const tamper of [
    (r) => swap(r.anchors[0], 'signature', r.anchors[1].signature), (r) => swap(r.anchors[1], 'at', '2027-01-01T00:00:00Z'),
    (r) => swap(r, 'organizationId', 'org_another'), (r) => swap(r.anchors[1], 'leaves', 8), (r) => r.anchors.reverse(),
  ]) {
    await assert.rejects(check(changed(tamper)), Broken)
  }
})

test('what is no record is told so', async () => {
  for (const other of ['', '{}', 'null', '[]', '{"format": "visavis-candidate-record-1"}']) {
    await assert.rejects(check(other), (e) => e instanceof Broken && e.key === 'form')
  }
})

test('keys are those of a DID document', async () => {
  const { anchors } = await check(text)
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  const base58 = (bytes) => {
    let number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
    let digits = ''
    for (; number > 0n; number /= 58n) digits = alphabet[Number(number % 58n)] + digits
    return digits
  }
  const documentOf = (key) => JSON.stringify({
    id: 'did:web:x', verificationMethod: [{ id: `did:web:x#${anchors[0].keyId}`, publicKeyMultibase: `z${base58([0xed, 1, ...key])}` }],
  })
  const key = Buffer.from(anchors[0].publicKey, 'base64url')
  checkKeys(documentOf(key), anchors)
  key[0] ^= 1
  assert.throws(() => checkKeys(documentOf(key), anchors), (e) => e.key === 'signer')
  assert.throws(() => checkKeys('{}', anchors), (e) => e.key === 'keys')
})
