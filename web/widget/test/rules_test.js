import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../src/api.js'
import { listed, openAt } from '../src/hours.js'
import { matchesPath } from '../src/proactive.js'
import { contrast, on, palette } from '../src/theme.js'

const hours = {
  timezone: 'Europe/Berlin',
  open: [{ day: 'monday', from: '09:00', to: '12:00' }, { day: 'monday', from: '13:00', to: '24:00' }, { day: 'sunday', from: '00:00', to: '24:00' }],
}

test('it is open at the times of its own zone', () => {
  for (const [now, want] of [
    ['2026-06-01T06:59:59Z', false], ['2026-06-01T07:00:00Z', true], ['2026-06-01T09:59:00Z', true], ['2026-06-01T10:00:00Z', false],
    ['2026-06-01T21:59:00Z', true], ['2026-06-01T22:00:00Z', false], ['2026-05-30T22:00:00Z', true], ['2026-12-07T07:30:00Z', false],
  ]) assert.equal(openAt(hours, new Date(now)), want, now)
  assert.ok(openAt({ timezone: 'UTC', open: [] }, new Date()))
})

test('the hours are listed by day', () => {
  assert.deepEqual(listed(hours, 'de'), [['Montag', '09:00–12:00, 13:00–24:00'], ['Sonntag', '00:00–24:00']])
})

test('paths are told apart', () => {
  for (const [path, patterns, want] of [
    ['/', [], true], ['/pricing', ['/pricing'], true], ['/pricing/eu', ['/pricing'], false], ['/pricing/eu', ['/pricing*'], true],
    ['/a/x/b', ['/a/*/b'], true], ['/a.b', ['/a?b'], false], ['/axb', ['/a.b'], false], ['/b', ['/a', '/b'], true],
  ]) assert.equal(matchesPath(path, patterns), want, `${path} ${patterns}`)
})

test('words on the accent can be read, whatever it is', () => {
  for (let grey = 0; grey < 256; grey++) {
    const colour = '#' + grey.toString(16).padStart(2, '0').repeat(3)
    assert.ok(contrast(on(colour), colour) >= 4.5, colour)
  }
})

test('by night a light theme is dark, and a dark one its own', () => {
  const light = { accent: '#3355dd', background: '#ffffff', text: '#111111' }
  const dark = { accent: '#3355dd', background: '#101820', text: '#ffffff' }
  assert.equal(palette(light, false).background, '#ffffff')
  assert.equal(palette(light, true).background, '#14171f')
  assert.equal(palette(dark, true).background, '#101820')
})

test('a refusal has a reason that visitors understand', () => {
  for (const [status, error, want] of [
    [0, undefined, 'unreachable'], [409, { details: { reason: 'closed' } }, 'closed'], [409, { details: { reason: 'visitor_sessions' } }, 'visits'],
    [429, { code: 'concurrency_limit' }, 'busy'], [503, {}, 'busy'], [402, {}, 'unavailable'], [403, { details: null }, 'unavailable'],
  ]) assert.equal(new Refusal(status, error).reason, want)
  assert.equal(new Refusal(400, { param: 'body.contact.email' }).field, 'email')
  assert.equal(new Refusal(400, { param: 'body.key' }).field, '')
})
