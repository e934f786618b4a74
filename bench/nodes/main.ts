/** Starts two servers that share one PostgreSQL server, behind a proxy, to try them out. */
import { NODES_USAGE, readPort } from './read-port.ts'
import { startNodes, USER } from './start-nodes.ts'

const port = readPort(process.argv.slice(2))
if (typeof port !== 'number') {
  console[port.isWanted ? 'log' : 'error'](port.text)
  process.exit(port.isWanted ? 0 : 2)
}
const { proxy, nodes, close } = await startNodes(2, port).catch((error: NodeJS.ErrnoException) => {
  console.error(
    error.code === 'EADDRINUSE'
      ? `another process has port ${port}; name another port\n\n${NODES_USAGE}`
      : `the servers cannot be started: ${error.message}`,
  )
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
