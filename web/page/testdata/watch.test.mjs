import assert from 'node:assert'
import { test } from 'node:test'
import { Watch } from './watch.mjs'

function setup() {
  const box = new EventTarget()
  const page = Object.assign(new EventTarget(), { hidden: false })
  const view = new EventTarget()
  const sent = []
  let time = 1000
  const watch = new Watch(box, (kind, fields = {}) => sent.push([kind, fields]), { page, view, now: () => time })
  const away = (ms, end = () => {
    page.hidden = false
    page.dispatchEvent(new Event('visibilitychange'))
  }) => {
    page.hidden = true
    page.dispatchEvent(new Event('visibilitychange'))
    time += ms
    end()
  }
  const put = (kind, member, text) => box.dispatchEvent(Object.assign(new Event(kind), { [member]: { getData: () => text } }))
  return { box, page, view, sent, watch, away, put }
}

test('notes nothing before and after the interview', () => {
  const { sent, watch, away, put } = setup()
  away(500)
  put('paste', 'clipboardData', 'early')
  watch.start()
  watch.start()
  watch.stop()
  away(500)
  put('paste', 'clipboardData', 'late')
  assert.deepEqual(sent, [['watching', {}]])
})

test('notes how much was pasted or dropped, and never what', () => {
  const { sent, watch, put } = setup()
  watch.start()
  put('paste', 'clipboardData', 'Ein Seil \u{1F600}')
  put('drop', 'dataTransfer', 'ab')
  put('paste', 'clipboardData', '')
  assert.deepEqual(sent.slice(1), [['pasted', { characters: 10 }], ['pasted', { characters: 2 }]])
})

test('notes for how long the page was left', () => {
  const { page, view, sent, watch, away } = setup()
  watch.start()
  away(1500)
  away(2000, () => view.dispatchEvent(new Event('pagehide')))
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  away(300, () => watch.stop())
  assert.deepEqual(sent.slice(1), [['left', { durationMs: 1500 }], ['left', { durationMs: 2000 }], ['left', { durationMs: 300 }]])
})
