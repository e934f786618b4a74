/** nginx in front of a test server, with the file for operators: `config/deploy/nginx.conf`. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { programOf } from '../base/programs.ts'

const FILE = 'config/deploy/nginx.conf'
const CERTIFICATES = resolve('test/edge/fixtures')

/** Ports of 127.0.0.1: one in place of 80, which redirects, one in place of 443, and one that serves the same over HTTP/1.1 without TLS. */
interface Ports {
  redirect: number
  tls: number
  plain: number
}

export interface Nginx {
  ports: Ports
  close(): Promise<void>
}

/** True if the servers of protocol tests run behind nginx: TESSER_TEST_PROXY=nginx. Read each time, because a test may set it for others. */
export function isBehindNginx(): boolean {
  const name = process.env.TESSER_TEST_PROXY
  if (name === undefined || name === 'nginx') return name !== undefined
  throw new Error(`TESSER_TEST_PROXY is "${name}"; there is nginx`)
}

/**
 * Starts nginx for a server on a port of 127.0.0.1, in a separate process and folder. It ends with this process at the latest,
 * however this one ends.
 * @param site the file for operators, or a changed one
 */
export async function startNginx(upstreamPort: number, site = readFileSync(FILE, 'utf8')): Promise<Nginx> {
  const program = programOf('nginx')
  if (!program) throw new Error('TESSER_TEST_PROXY is "nginx", which is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'tesser-nginx-'))
  const file = join(folder, 'nginx.conf')
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  for (;;) {
    const [redirect, tls, plain] = await freePorts()
    const ports = { redirect, tls, plain }
    writeFileSync(file, configuration(folder, upstreamPort, ports, site))
    // The shell waits for the end of its input, which ends with this process, and then ends nginx.
    const script = '"$0" -e stderr -c "$1" & cat; kill $!; wait'
    const shell = spawn('sh', ['-c', script, program, file], { stdio: ['pipe', 'ignore', 'pipe'] })
    const closed = new Promise<void>(resolve => shell.once('close', () => resolve()))
    const close = async () => {
      shell.stdin.end()
      await closed
      removeFolder()
    }
    const problem = await listening(shell.stderr)
    if (problem === undefined) return { ports, close }
    await close()
    // Another process has taken one of the ports in the meantime.
    if (!problem.includes('Address already in use')) throw new Error(`nginx does not start: ${problem}`)
  }
}

/** A whole configuration around the file for operators, with the ports and paths of a test. */
export function configuration(
  folder: string,
  upstreamPort: number,
  { redirect, tls, plain }: Ports,
  site = readFileSync(FILE, 'utf8'),
): string {
  const changed = site
    .replace('127.0.0.1:8080', `127.0.0.1:${upstreamPort}`)
    .replaceAll(/listen \[::\].*\n/g, '')
    .replace('listen 80;', `listen 127.0.0.1:${redirect};`)
    .replace('listen 443 ssl http2;', `listen 127.0.0.1:${tls} ssl http2; listen 127.0.0.1:${plain};`)
    .replace(/(ssl_certificate) .*;/, `$1 ${CERTIFICATES}/localhost.cert.pem;`)
    .replace(/(ssl_certificate_key) .*;/, `$1 ${CERTIFICATES}/localhost.key.pem;`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  return `daemon off; master_process off; pid ${folder}/pid; error_log stderr notice; worker_rlimit_nofile 4096;
events { worker_connections 1024; }
http { access_log off; ${temporary}
${changed}
}
`
}

async function freePorts(): Promise<[number, number, number]> {
  const listen = () => {
    const server = createServer()
    return new Promise<Server>(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
  }
  // All at once, so that the ports differ.
  const servers = await Promise.all([listen(), listen(), listen()])
  const ports = servers.map(server => (server.address() as AddressInfo).port)
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  return ports as [number, number, number]
}

/** Waits until nginx listens: its version is the first notice after that. @returns its output if it cannot listen */
function listening(log: NodeJS.ReadableStream): Promise<string | undefined> {
  let text = ''
  return new Promise(resolve => {
    log.on('data', data => {
      text += data
      if (/\[notice\] .* nginx\//.test(text)) resolve(undefined)
      else if (/\[emerg\].*\n/.test(text)) resolve(text)
    })
    log.on('end', () => resolve(text))
  })
}
