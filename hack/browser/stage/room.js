// A LiveKit server for tests: the real one (LIVEKIT_SERVER), on loopback, behind TLS.

import { spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { createServer as createTLSServer } from 'node:tls'
import { until } from './api.js'

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

/**
 * Starts the server, and answers what a media connection to it is made of.
 * @returns {Promise<{url: string, apiKey: string, secret: string, close: () => void}>}
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
    close: () => {
      front.close()
      for (const socket of sockets) socket.destroy()
      server.kill('SIGKILL')
    },
  }
}
