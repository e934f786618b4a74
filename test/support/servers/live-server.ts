import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { outputUrl } from '../../../engine/base/output-root.ts'

/** A server in a separate process, which sends its port, and can be stopped and killed. */
export class LiveServer {
  /** Output of all its processes. */
  output = ''
  port = 0
  protected child: ChildProcess | undefined
  private agent = new Agent()

  /** @param program file from `test/durability` @param execArgv options of Node */
  constructor(
    private readonly program: string,
    private readonly args: () => readonly string[],
    private readonly execArgv: readonly string[] = [],
  ) {}

  async start(): Promise<void> {
    const program = fileURLToPath(outputUrl(`test/durability/${this.program}`))
    const options = { execArgv: [...process.execArgv, ...this.execArgv], silent: true }
    this.child = fork(program, this.args(), options)
    this.child.stdout!.on('data', data => {
      this.output += data
    })
    this.child.stderr!.pipe(process.stderr, { end: false })
    const ended = once(this.child, 'exit').then(([code]) => Promise.reject(new Error(`the server ended with ${code}`)))
    ended.catch(() => {})
    const [port] = await Promise.race([once(this.child, 'message'), ended])
    this.port = port as number
    this.agent = new Agent()
  }

  async stop(): Promise<void> {
    await this.agent.destroy()
    this.child!.send('stop')
    const [code, signal] = await once(this.child!, 'exit')
    if (code !== 0) throw new Error(`the server did not stop but ended with ${signal ?? code}`)
  }

  /** Resident memory of the process, in bytes. */
  async rss(): Promise<number> {
    this.child!.send('rss')
    const [bytes] = await once(this.child!, 'message')
    return bytes as number
  }

  async kill(): Promise<void> {
    this.child!.kill('SIGKILL')
    await once(this.child!, 'exit')
    await this.agent.destroy()
  }

  async send(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: Uint8Array | object) {
    const answer = await request(`http://127.0.0.1:${this.port}/rest${path}`, {
      method,
      dispatcher: this.agent,
      body: body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body),
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, bytes }
  }
}
