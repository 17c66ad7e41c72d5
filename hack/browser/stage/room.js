// A LiveKit server for tests: the real one (LIVEKIT_SERVER), on loopback, behind TLS.

import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { createServer as createTLSServer } from 'node:tls'
import { until } from './api.js'

/** As whom the avatar is in a room. */
const persona = 'persona'
const key = { apiKey: 'APItests', secret: 'secret-of-a-media-server-0123456789' }

/** A port that is free now. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

async function freeUDPPort() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  socket.close()
  return port
}

/** A token of the server's own operations on a room, good for a minute. */
function adminToken(room) {
  const now = Math.floor(Date.now() / 1000)
  const parts = [{ alg: 'HS256', typ: 'JWT' }, { iss: key.apiKey, nbf: now - 5, exp: now + 60, video: { roomList: true, roomAdmin: true, room } }]
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${createHmac('sha256', key.secret).update(signed).digest('base64url')}`
}

/** Calls one of the server's own operations. */
async function operate(port, operation, body) {
  const answer = await fetch(`http://127.0.0.1:${port}/twirp/livekit.RoomService/${operation}`, {
    method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${adminToken(body.room)}` }, body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${operation}: ${answer.status} ${await answer.text()}`)
  return answer.json()
}

/**
 * Starts the server, and answers what a media connection to it is made of.
 * @returns {Promise<{url: string, apiKey: string, secret: string, putOut: () => Promise<number>, close: () => void}>} putOut puts
 *   every visitor out of every room, and says how many those were
 */
export async function mediaServer() {
  const [port, udp] = await Promise.all([freePort(), freeUDPPort()])
  const server = spawn(process.env.LIVEKIT_SERVER, ['--config-body', `
port: ${port}
bind_addresses: [127.0.0.1]
rtc: {udp_port: ${udp}, tcp_port: 0, node_ip: 127.0.0.1, use_external_ip: false, enable_loopback_candidate: true, ips: {includes: [127.0.0.0/8]}}
keys: {${key.apiKey}: ${key.secret}}
logging: {level: error}
`], { stdio: 'ignore' })
  await until(() => fetch(`http://127.0.0.1:${port}`).then(({ ok }) => ok, () => false), (ok) => ok, 20_000)
  const [cert, certKey] = await Promise.all(['VISAVIS_CERTIFICATE', 'VISAVIS_CERTIFICATE_KEY'].map((name) => readFile(process.env[name])))
  const sockets = new Set()
  const front = createTLSServer({ cert, key: certKey }, (socket) => {
    const behind = connect(port, '127.0.0.1')
    for (const [one, other] of [[socket, behind], [behind, socket]]) {
      sockets.add(one)
      one.on('close', () => { sockets.delete(one); other.destroy() }).on('error', () => {}).pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    url: `wss://127.0.0.1:${front.address().port}`, ...key,
    async putOut() {
      let put = 0
      for (const { name: room } of (await operate(port, 'ListRooms', {})).rooms) {
        for (const { identity } of (await operate(port, 'ListParticipants', { room })).participants) {
          if (identity === persona) continue
          await operate(port, 'RemoveParticipant', { room, identity })
          put++
        }
      }
      return put
    },
    close: () => {
      front.close()
      for (const socket of sockets) socket.destroy()
      server.kill('SIGKILL')
    },
  }
}
