import assert from 'node:assert/strict'
import { test } from 'node:test'

import { featuresOf } from './features.js'
import { Mesh } from './mesh.js'
import { Portrait, viewOf, weightsOf } from './portrait.js'
import { rest, shapes } from './visemes.js'
import { fill } from './warp.js'

const landmarks = {
  leftEye: [0.41, 0.43], rightEye: [0.59, 0.43], mouthLeft: [0.43, 0.6], mouthRight: [0.57, 0.6], mouthTop: [0.5, 0.585], mouthBottom: [0.5, 0.64], chin: [0.5, 0.71],
}
const still = { shut: 0, squint: 0, gazeX: 0, gazeY: 0, yaw: 0, pitch: 0, roll: 0, brow: 0, worry: 0, smile: 0.2, breath: 0, shrug: 0 }

/** Landmarks that lean, around the middle between the eyes. */
function leaning(degrees) {
  const [x, y] = [0.5, 0.43], turn = degrees * Math.PI / 180
  const of = ([px, py]) => [x + (px - x) * Math.cos(turn) - (py - y) * Math.sin(turn), y + (px - x) * Math.sin(turn) + (py - y) * Math.cos(turn)]
  return Object.fromEntries(Object.entries(landmarks).map(([name, at]) => [name, of(at)]))
}

const make = (marks = landmarks, size = 600) => new Mesh({ width: size, height: size, landmarks: marks })

/** How large triangles are, as shares of what they are at rest; below zero they are turned over. */
function shares(mesh, at) {
  const area = (p, [a, b, c]) => (p[2 * b] - p[2 * a]) * (p[2 * c + 1] - p[2 * a + 1]) - (p[2 * c] - p[2 * a]) * (p[2 * b + 1] - p[2 * a + 1])
  const out = []
  for (let i = 0; i < mesh.triangles.length; i += 3) {
    const corners = mesh.triangles.subarray(i, i + 3)
    out.push(area(at, corners) / area(mesh.rest, corners))
  }
  return out
}

/** How far the lips are apart in the middle, in pixels. */
function gap(mesh, mouth) {
  const moved = mesh.pose(weightsOf(still, { ...rest, ...mouth }, mesh.half))
  const middle = mesh.seam.upper.length >> 1
  return moved[2 * mesh.seam.lower[middle] + 1] - moved[2 * mesh.seam.upper[middle] + 1]
}

test('a mesh is the picture where nothing moves, and covers all of it', () => {
  for (const degrees of [0, 12, -15]) {
    const mesh = make(leaning(degrees))
    assert.deepEqual(mesh.pose({}), mesh.rest)
    assert.ok(shares(mesh, mesh.rest).every((s) => s === 1 || Number.isFinite(s)), 'no triangle is empty')
    let whole = 0
    const p = mesh.rest
    for (let i = 0; i < mesh.triangles.length; i += 3) {
      const [a, b, c] = mesh.triangles.subarray(i, i + 3)
      const twice = (p[2 * b] - p[2 * a]) * (p[2 * c + 1] - p[2 * a + 1]) - (p[2 * c] - p[2 * a]) * (p[2 * b + 1] - p[2 * a + 1])
      assert.ok(twice > 0, 'no triangle is turned over')
      whole += twice / 2
    }
    assert.ok(Math.abs(whole - 600 * 600) < 60, `${whole} of 360000 pixels are covered`)
  }
})

test('lips part with vowels and meet for P', () => {
  const mesh = make()
  assert.ok(gap(mesh, shapes.aa) > 0.12 * mesh.axes.size)
  assert.ok(gap(mesh, shapes.aa) > gap(mesh, shapes.O) && gap(mesh, shapes.O) > gap(mesh, shapes.SS))
  assert.equal(gap(mesh, shapes.PP), 0)
  assert.equal(gap(mesh, rest), 0)
})

test('the jaw takes the chin along, and leaves the eyes', () => {
  const mesh = make()
  const near = ([x, y]) => {
    let best = 0
    for (let i = 0; i < mesh.rest.length / 2; i++) if (Math.hypot(mesh.rest[2 * i] - x, mesh.rest[2 * i + 1] - y) < Math.hypot(mesh.rest[2 * best] - x, mesh.rest[2 * best + 1] - y)) best = i
    return best
  }
  const moved = mesh.pose(weightsOf(still, shapes.aa, mesh.half))
  const down = (mark) => {
    const i = near([mark[0] * 600, mark[1] * 600])
    return moved[2 * i + 1] - mesh.rest[2 * i + 1]
  }
  assert.ok(down(landmarks.chin) > 6)
  assert.ok(Math.abs(down(landmarks.leftEye)) < 0.5)
})

test('nothing tears: no triangle turns over or becomes huge, however a face stands', () => {
  const extremes = []
  for (const viseme of ['sil', 'aa', 'O', 'U', 'I', 'FF']) {
    for (const yaw of [-1, 1]) for (const smile of [-0.4, 1]) extremes.push([{ ...still, yaw, smile, pitch: yaw, roll: -yaw, brow: 1, worry: 0.6, breath: 1, shut: -0.2, gazeX: yaw, gazeY: 0.5 }, shapes[viseme]])
  }
  for (const degrees of [0, 12]) {
    const mesh = make(leaning(degrees))
    for (const [pose, mouth] of extremes) {
      const found = shares(mesh, mesh.pose(weightsOf(pose, mouth, mesh.half)))
      const turned = found.filter((s) => s <= 0).length
      assert.ok(turned < 12, `${turned} of ${found.length} triangles are turned over`)
      assert.ok(Math.max(...found) < 6, `a triangle is ${Math.max(...found)} times as large`)
    }
  }
})

test('the borders of a picture stay where they are', () => {
  const mesh = make()
  const moved = mesh.pose(weightsOf({ ...still, yaw: 1, pitch: 1, roll: 1, breath: 1, shrug: 1 }, shapes.aa, mesh.half))
  for (let i = 0; i < moved.length; i += 2) {
    const [x, y] = [mesh.rest[i], mesh.rest[i + 1]]
    if (x === 0 || x === 600 || y === 0 || y === 600) assert.ok(Math.hypot(moved[i] - x, moved[i + 1] - y) < 0.01, `${x}, ${y} moves`)
  }
})

test('faces of all places and sizes, even odd ones, make a mesh', () => {
  const odd = [
    { ...landmarks, leftEye: [0, 0.1], rightEye: [0.02, 0.1] },
    { ...landmarks, chin: [0.5, 1], mouthBottom: [0.5, 0.99], mouthLeft: [0, 0.98], mouthRight: [1, 0.98], mouthTop: [0.5, 0.97] },
    { leftEye: [0, 0], rightEye: [1, 0], mouthLeft: [0.2, 0.5], mouthRight: [0.8, 0.5], mouthTop: [0.5, 0.4], mouthBottom: [0.5, 0.6], chin: [0.5, 1] },
  ]
  for (const marks of odd) {
    for (const [width, height] of [[170, 256], [1024, 600]]) {
      const mesh = new Mesh({ width, height, landmarks: marks })
      assert.ok(mesh.rest.length / 2 < 65_536, `${mesh.rest.length / 2} vertices`)
      assert.ok(mesh.pose(weightsOf({ ...still, yaw: 1 }, shapes.aa, mesh.half)).every(Number.isFinite))
    }
  }
})

test('what is no face makes no mesh', () => {
  const wrong = [
    { leftEye: landmarks.rightEye, rightEye: landmarks.leftEye }, { rightEye: landmarks.leftEye }, { chin: [0.5, 0.5] }, { chin: [0.5, 0.63] },
    { mouthLeft: landmarks.mouthRight, mouthRight: landmarks.mouthLeft }, { mouthTop: [0.5, 0.2] }, { mouthBottom: [0.5, 0.58] },
    { leftEye: [-0.1, 0.43] }, { chin: [0.5, 1.2] }, { chin: [0.5, NaN] }, { mouthTop: null }, { leftEye: undefined }, { rightEye: ['x', 0.4] },
  ]
  for (const marks of wrong) {
    assert.throws(() => make({ ...landmarks, ...marks }), /no face/, JSON.stringify(marks))
    const canvas = () => assert.fail('nothing is drawn of it')
    assert.throws(() => new Portrait({ rig: { mesh: true, width: 600, height: 600, landmarks: { ...landmarks, ...marks } }, sheet: { width: 600, height: 600 } }, canvas), /no face/)
  }
})

test('a picture covers the canvas, but never without hair or chin', () => {
  const mesh = make(), picture = { width: 600, height: 600 }
  for (const [width, height] of [[600, 600], [400, 800], [1200, 500], [320, 320]]) {
    const { zoom, x, y } = viewOf({ width, height }, picture, mesh, false)
    const seen = (b) => y + zoom * (mesh.axes.y + b * mesh.axes.size)
    assert.ok(seen(mesh.chin) < height && seen(-1.2) > -1, `${width} by ${height}: from ${seen(-1.2)} to ${seen(mesh.chin)}`)
    assert.ok(600 * zoom + y >= height - 1 && y <= 0.5, 'there is nothing above or below')
    assert.ok(600 * zoom >= width - 1 ? x <= 0.5 && x + 600 * zoom >= width - 0.5 : x > 0)
  }
})

test('eyes and lips are made out in the pixels', () => {
  const width = 400, height = 400
  const data = new Uint8ClampedArray(4 * width * height)
  const set = (x, y, color) => data.set([...color, 255], 4 * (y * width + x))
  const unit = 0.18 * width
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      set(x, y, [224, 172, 150])
      for (const [ex, ey] of [landmarks.leftEye, landmarks.rightEye]) {
        const [dx, dy] = [(x - ex * width) / unit, (y - ey * height) / unit]
        if ((dx / 0.25) ** 2 + (dy / 0.1) ** 2 < 1) set(x, y, dx * dx + dy * dy < 0.006 ? [40, 30, 25] : [236, 236, 238])
        if (Math.abs(dx) < 0.24 && Math.abs(dy + 0.1) < 0.015) set(x, y, [30, 20, 20])
      }
      const s = (x / width - 0.5) / 0.07
      const top = 0.6 - 0.015 * (1 - s * s), low = 0.6 + 0.04 * (1 - s * s), meet = top + 0.4 * (low - top)
      if (Math.abs(s) < 1 && y / height > top && y / height < low) set(x, y, Math.abs(y / height - meet) < 0.003 ? [60, 20, 24] : [190, 90, 95])
    }
  }
  const features = featuresOf({ width, height, data }, landmarks)
  assert.ok(Math.abs(features.seam - 0.4) < 0.06, `lips meet at ${features.seam}`)
  for (const { left, right, high, low } of features.eyes) {
    assert.ok(Math.abs(right - left - 0.5) < 0.08, `an eye is ${right - left} wide`)
    assert.ok(Math.abs(high - 0.115) < 0.03 && Math.abs(low - 0.1) < 0.03, `lids are at ${high} and ${low}`)
  }
  assert.equal(features.cut, false)
})

test('what is drawn without WebGL is the picture, moved', () => {
  const size = 64
  const source = { width: size, height: size, data: new Uint32Array(size * size).map((_, i) => 0xff000000 | (i % size) * 4) }
  const out = { width: size, height: size, data: new Uint32Array(size * size) }
  const from = Float32Array.from([0, 0, size, 0, 0, size, size, size]), triangles = Uint16Array.from([0, 1, 2, 1, 3, 2])
  fill(out, source, triangles, from, from)
  assert.ok(out.data.every((v) => v >>> 24 === 0xff), 'there are no holes')
  for (const x of [1, 20, 40, 60]) assert.ok(Math.abs((out.data[30 * size + x] & 255) - 4 * x) <= 4, `${out.data[30 * size + x] & 255} at ${x}`)
  out.data.fill(0)
  fill(out, source, triangles, from.map((v, i) => i % 2 ? v : v + 10), from)
  assert.equal(out.data[30 * size + 5], 0, 'where nothing is, nothing is drawn')
  assert.ok(Math.abs((out.data[30 * size + 50] & 255) - 160) <= 4)
  assert.doesNotThrow(() => fill(out, source, triangles, from.map((v) => 50 * v - 1000), from))
})
