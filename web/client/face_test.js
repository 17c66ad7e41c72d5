import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Face } from './face.js'
import { Life } from './life.js'
import { MouthPainter } from './mouth.js'
import { rest, shapes, visemesOf, VisemeTrack } from './visemes.js'

/** A face as the server sends one, with straight lips. */
const line = (...points) => points
const rig = {
  frame: { left: 45, top: 50, side: 910 }, middle: 500, brow: 400, eye: 448, nose: 557, mouth: 610, chin: 698,
  upperLid: line([536, 452], [560, 432], [582, 428], [605, 434], [628, 447]), lowerLid: line([536, 452], [560, 459], [582, 461], [605, 457], [628, 447]),
  gaze: [581, 444], irisSize: 20, lashes: 0.5, upperLip: line([437, 610], [500, 596], [563, 610]), betweenLips: line([437, 610], [500, 613], [563, 610]),
  lowerLip: line([437, 610], [500, 632], [563, 610]), lobe: [690, 520], scale: 0.5,
  tones: {
    wall: ['#ffffff', '#000000'], white: '#ffffff', skin: '#cc9988', shade: '#bb8877', deep: '#996655', line: '#442211', light: '#eebbaa', blush: '#cc7766',
    lid: '#bb8877', lash: '#221111', lipTop: ['#aa5555', '#884444'], lipBottom: ['#aa5555', '#bb6666'], lipShine: '#eecccc', lipRim: '#bb7777', lipSeam: '#552222',
  },
  parts: { face: { x: 0, y: 0, width: 100, height: 120, left: 400, top: 500 }, iris: { x: 0, y: 0, width: 20, height: 20, left: 561, top: 424 } },
}

/** A canvas that notes what is called on it. */
function recorder(width = 400, height = 400) {
  const calls = []
  const fade = { addColorStop() {} }
  const context = new Proxy({}, {
    get: (kept, name) => name in kept ? kept[name] : (...given) => {
      calls.push([name, ...given])
      return String(name).startsWith('create') ? fade : undefined
    },
    set: (kept, name, value) => { kept[name] = value; return true },
  })
  return { width, height, clientWidth: width, clientHeight: height, calls, getContext: () => context, getBoundingClientRect: () => ({ left: 0, top: 0, width, height }) }
}

/** A face whose frames a test asks for. */
function make(seams = {}) {
  let now = 0, seed = 5
  const frames = []
  const canvas = recorder()
  const face = new Face(canvas, { rig, sheet: {} }, {
    now: () => now, request: (draw) => frames.push(draw), cancel: () => { frames.length = 0 }, make: (w, h) => recorder(w, h),
    random: () => (seed = seed * 16807 % 2147483647) / 2147483647, ...seams,
  })
  return { face, canvas, frames, pass(ms) { now += ms; frames.splice(0).forEach((draw) => draw()) } }
}

const opening = (mouth) => {
  const { upperInner, lowerInner } = new MouthPainter(rig).lips(mouth, 0)
  const middle = upperInner.length >> 1
  return lowerInner[middle][1] - upperInner[middle][1]
}

test('every Oculus viseme has a mouth, and no two the same', () => {
  const names = 'sil PP FF TH DD kk CH SS nn RR aa E I O U'.split(' ')
  assert.deepEqual(Object.keys(shapes), names)
  assert.equal(new Set(names.map((name) => JSON.stringify(shapes[name]))).size, 15)
})

test('lips close on PP and open on aa', () => {
  assert.ok(opening(shapes.PP) < 0.5)
  assert.ok(opening(shapes.aa) > 30)
  assert.ok(opening(shapes.aa) > opening(shapes.O) && opening(shapes.O) > opening(shapes.SS))
  const { half } = new MouthPainter(rig).lips(shapes.U, 0)
  assert.ok(half < 0.7 * 63, 'round lips are narrow')
})

test('even a short PP between vowels closes the lips', () => {
  const track = new VisemeTrack()
  track.add([{ t: 0, v: 'sil' }, { t: 100, v: 'aa' }, { t: 220, v: 'PP' }, { t: 250, v: 'aa' }, { t: 400, v: 'sil' }])
  assert.ok(track.at(235).gap < 0.05)
  assert.equal(track.at(235).press, 1)
  assert.ok(track.at(170).gap > 0.7 && track.at(330).gap > 0.7)
})

test('neighbors run into each other, ahead more than behind', () => {
  const track = new VisemeTrack()
  track.add([{ t: 0, v: 'SS' }, { t: 200, v: 'U' }, { t: 400, v: 'sil' }])
  assert.ok(track.at(150).wide < track.at(60).wide, 'lips round before U sounds')
  assert.ok(track.at(150).wide > shapes.U.wide)
  assert.equal(track.at(2000).gap, 0)
  for (let t = 1, last = track.at(0).gap; t < 700; t++) {
    const { gap } = track.at(t)
    assert.ok(Math.abs(gap - last) < 0.06, `the mouth jumps at ${t}`)
    last = gap
  }
})

test('a track that comes in parts goes on, and an unknown viseme does no harm', () => {
  const track = new VisemeTrack()
  assert.equal(track.at(10), rest)
  track.add([{ t: 0, v: 'aa', w: 1 }, { t: 90, v: 'what' }])
  track.at(50)
  track.add([{ t: 100, v: 'PP' }, { t: 180, v: 'O' }])
  assert.ok(track.at(140).gap < 0.05)
  assert.ok(track.at(240).wide < -0.4)
})

test('without sounds the mouth follows the letters of words', () => {
  const track = new VisemeTrack()
  track.add(visemesOf([{ t: 0, d: 400, text: 'Mama' }, { t: 800, d: 300, text: '你好' }]))
  assert.ok(track.at(40).gap < 0.1, 'm')
  assert.ok(track.at(150).gap > 0.4, 'a')
  assert.equal(track.at(650).gap, 0, 'between words')
  let widest = 0
  for (let t = 800; t < 1100; t += 10) widest = Math.max(widest, track.at(t).gap)
  assert.ok(widest > 0.25)
})

test('eyes blink as often as people do, and close', () => {
  let seed = 3
  const life = new Life(() => (seed = seed * 16807 % 2147483647) / 2147483647)
  let blinks = 0, closed = false
  for (let now = 0; now < 300_000; now += 16) {
    const { shut } = life.at(now)
    if (shut > 0.95 && !closed) blinks++
    closed = shut > 0.95 || closed && shut > 0.3
  }
  assert.ok(blinks / 5 >= 10 && blinks / 5 <= 24, `${blinks / 5} a minute`)
})

test('who thinks looks away, and who speaks looks at the visitor', () => {
  const average = (state) => {
    let seed = 9, sum = 0
    const life = new Life(() => (seed = seed * 16807 % 2147483647) / 2147483647)
    life.state = state
    for (let now = 0; now < 60_000; now += 16) {
      const { gazeX, gazeY } = life.at(now)
      sum += Math.hypot(gazeX, gazeY) / 3750
    }
    return sum
  }
  assert.ok(average('thinking') > 0.5)
  assert.ok(average('speaking') < 0.2 && average('listening') < 0.1)
})

test('eyes follow who points, and come back', () => {
  const life = new Life(() => 0.5)
  life.state = 'listening'
  for (let now = 1; now < 1000; now += 16) life.at(now)
  life.pointer = { x: 1, y: 0, at: 1000 }
  const gaze = (from, to) => {
    let pose
    for (let now = from; now < to; now += 16) pose = life.at(now)
    return pose.gazeX
  }
  assert.ok(gaze(1000, 1500) > 0.25)
  assert.ok(Math.abs(gaze(1500, 4000)) < 0.1)
})

test('nothing sways for whom that is too much, but the mouth speaks', () => {
  const life = new Life(() => 0.4)
  life.still = true
  life.state = 'speaking'
  life.gesture('nod', 10)
  for (let now = 1; now < 20_000; now += 16) {
    const { yaw, pitch, roll, breath } = life.at(now, Math.abs(Math.sin(now / 100)))
    assert.deepEqual([yaw, pitch, roll, breath], [0, 0, 0, 0])
  }
  const { face, pass } = make({ still: true })
  face.speech = () => shapes.aa
  face.start()
  pass(16)
  assert.equal(face.mouth, shapes.aa)
})

test('a gesture shows and passes', () => {
  const life = new Life(() => 0.4)
  const smile = (from, to) => {
    let pose
    for (let now = from; now < to; now += 16) pose = life.at(now)
    return pose.smile
  }
  const before = smile(1, 1000)
  life.gesture('smile', 1000)
  life.gesture('what', 1000)
  assert.ok(smile(1000, 2200) > before + 0.5)
  assert.ok(smile(2200, 6000) < before + 0.05)
})

test('a face draws frame after frame, and none once it is stopped', () => {
  const { face, canvas, frames, pass } = make()
  face.start()
  for (let i = 0; i < 5; i++) pass(16)
  assert.ok(canvas.calls.some(([name]) => name === 'clip'), 'eyes are drawn')
  assert.equal(face.figures.frames, 5)
  face.stop()
  assert.equal(frames.length, 0)
  assert.ok(!face.awake)
})

test('a face sleeps while its page is hidden', (t) => {
  const page = Object.assign(new EventTarget(), { hidden: false })
  globalThis.document = page
  t.after(() => delete globalThis.document)
  const { face, canvas, frames, pass } = make()
  face.start()
  pass(16)
  page.hidden = true
  page.dispatchEvent(new Event('visibilitychange'))
  assert.equal(frames.length, 0)
  const before = canvas.calls.length
  pass(1000)
  assert.equal(canvas.calls.length, before)
  page.hidden = false
  page.dispatchEvent(new Event('visibilitychange'))
  assert.equal(frames.length, 1)
  face.stop()
})

test('a dense screen gets a dense picture, but not more than can be drawn', (t) => {
  globalThis.devicePixelRatio = 3
  t.after(() => delete globalThis.devicePixelRatio)
  const { face, canvas } = make()
  face.start()
  assert.equal(canvas.width, 800)
  face.resize(2000, 2000)
  assert.ok(canvas.width * canvas.height <= 1_610_000)
  face.stop()
})
