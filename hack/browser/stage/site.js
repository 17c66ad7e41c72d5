// Somebody's website, with the widget's tag on its page.

import { once } from 'node:events'
import { createServer } from 'node:http'

const page = ({ lang, head, body }) => `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The Tulip Garden</title>
<link rel="icon" href="data:,">
${head}
</head>
<body>
<main>
<h1>The Tulip Garden</h1>
<p>Two hundred kinds of tulips, an orangery, and a tea house by the pond.</p>
<p><a href="#visit">Plan your visit</a></p>
${body}
<div id="visit"><h2>Visit us</h2><p>Take line 4 to the last stop. The garden is behind the church.</p></div>
</main>
</body>
</html>`

const look = `<style>
body { margin: 0; font: 18px/1.6 Georgia, serif; color: #26301f; background: #f4f1e6; }
main { max-width: 640px; margin: 48px auto; padding: 0 24px; }
#visit { margin-top: 900px; padding-bottom: 60px; }
</style>`

/**
 * Serves a page on loopback. policy is its Content-Security-Policy; without one it
 * has a look of its own.
 * @returns {Promise<{origin: string, foreign: string, close: () => void}>} origin is its address by the name localhost, foreign by its number
 */
export async function serve({ lang = 'en', policy = '', body = '' }) {
  const server = createServer((_, answer) => {
    answer.setHeader('Content-Type', 'text/html; charset=utf-8')
    if (policy) answer.setHeader('Content-Security-Policy', policy)
    answer.end(page({ lang, body, head: policy ? '' : look }))
  })
  server.listen(0)
  await once(server, 'listening')
  const { port } = server.address()
  return {
    origin: `http://localhost:${port}`, foreign: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
