/**
 * Starts two servers that share one PostgreSQL server, behind a proxy, to try them out:
 *
 *   npm run nodes [-- PORT]
 *
 * PostgreSQL must be installed; the database is temporary. Ctrl-C stops everything.
 */
import { startNodes, USER } from './start-nodes.ts'

const PORT = 8080

const { proxy, nodes, close } = await startNodes(2, Number(process.argv[2] ?? PORT)).catch((error: Error) => {
  console.error(`the servers cannot be started: ${error.message}`)
  process.exit(1)
})
console.log(`proxy    ${proxy.url}`)
for (const { name, url, pid } of nodes) console.log(`${name}    ${url}    kill -9 ${pid}`)
const restUrl = `${proxy.url}/rest`
console.log(`
Requests to the proxy go to one server after the other:

  curl -c jar -H 'username-4D: ${USER.name}' -H 'password-4D: ${USER.password}' -X POST '${restUrl}/$directory/login'
  curl -b jar '${restUrl}/$directory/currentUser'
  curl -b jar '${restUrl}/Movie?$filter="rating>8"&$method=entityset&$top=1'
  curl -b jar -X POST '${restUrl}/Movie(1)?$lock=true'

The explorer: ${proxy.url}/explorer/. Ctrl-C ends everything.`)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close().then(() => process.exit()))
