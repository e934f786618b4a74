import { once } from 'node:events'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { WebSocket } from 'undici'

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: Record<string, unknown>
  readonly error?: { readonly message: string }
}

interface Script {
  readonly scriptId: string
  readonly url: string
  readonly sourceMapURL: string
}

interface Place {
  readonly scriptId: string
  readonly lineNumber: number
  readonly columnNumber: number
}

interface Frame {
  readonly callFrameId: string
  readonly location: Place
}

/** A thread of plugin code at a breakpoint. */
interface Stop {
  /** File and line, counted from 1, by the source map. */
  readonly file: string
  readonly line: number
  evaluate(expression: string): Promise<unknown>
  resume(): Promise<void>
}

/** A debugger of the threads that a server has when it attaches, which speaks the protocol of the inspector as editors do. */
export class Inspector {
  readonly #socket: WebSocket
  readonly #events = new EventTarget()
  readonly #answers = new Map<number, (message: Message) => void>()
  readonly #threads: string[] = []
  /** Threads at breakpoints that no test has asked for. */
  readonly #paused: { readonly session: string; readonly frame: Frame }[] = []
  /** Scripts with source maps, by thread. */
  readonly #scripts: { readonly session: string; readonly script: Script }[] = []
  #lastId = 0

  /** Attaches to the threads of a server. @param address the one that `--inspect` prints */
  static async attach(address: string): Promise<Inspector> {
    const inspector = new Inspector(new WebSocket(address))
    await once(inspector.#socket as unknown as EventTarget, 'open')
    await inspector.#send('NodeWorker.enable', { waitForDebuggerOnStart: false })
    // Tells the scripts that the threads have loaded.
    await Promise.all(inspector.#threads.map(session => inspector.#ask(session, 'Debugger.enable')))
    return inspector
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.addEventListener('message', ({ data }) => this.#receive(JSON.parse(String(data)) as Message))
  }

  close(): void {
    this.#socket.close()
  }

  /** Sets a breakpoint in all threads that have loaded a file. @returns addresses of the scripts that have it */
  async breakAt(url: string, line: number): Promise<string[]> {
    const set = this.#scripts.map(async ({ session, script }) => {
      const { scriptSource } = await this.#ask(session, 'Debugger.getScriptSource', { scriptId: script.scriptId })
      const at = placeOf(script, String(scriptSource), url, line)
      if (!at) return []
      await this.#ask(session, 'Debugger.setBreakpoint', { location: at })
      return [script.url]
    })
    return (await Promise.all(set)).flat()
  }

  /** Waits for a thread to reach a breakpoint. */
  async stopped(): Promise<Stop> {
    if (this.#paused.length === 0) await once(this.#events, 'paused')
    const { session, frame } = this.#paused.shift()!
    const { callFrameId, location } = frame
    const { script } = this.#scripts.find(
      each => each.session === session && each.script.scriptId === location.scriptId,
    )!
    const found = mapOf(script).findEntry(location.lineNumber, location.columnNumber)
    return {
      file: 'originalSource' in found ? found.originalSource : '',
      line: 'originalLine' in found ? found.originalLine + 1 : 0,
      evaluate: async expression => {
        const { result } = await this.#ask(session, 'Debugger.evaluateOnCallFrame', { callFrameId, expression })
        return (result as { value: unknown }).value
      },
      resume: async () => void (await this.#ask(session, 'Debugger.resume')),
    }
  }

  #receive({ id, method, params = {}, ...answer }: Message): void {
    if (id !== undefined) this.#answers.get(id)?.({ id, ...answer })
    else if (method === 'NodeWorker.attachedToWorker') this.#threads.push(String(params.sessionId))
    else if (method === 'NodeWorker.receivedMessageFromWorker') this.#fromThread(String(params.sessionId), params)
  }

  #fromThread(session: string, { message }: Record<string, unknown>): void {
    const { id, method, params = {}, ...answer } = JSON.parse(String(message)) as Message
    if (id !== undefined) this.#answers.get(id)?.({ id, ...answer })
    else if (method === 'Debugger.paused') this.#pause(session, params)
    else if (method === 'Debugger.scriptParsed' && String(params.sourceMapURL).startsWith('data:'))
      this.#scripts.push({ session, script: params as unknown as Script })
  }

  #pause(session: string, { callFrames }: Record<string, unknown>): void {
    this.#paused.push({ session, frame: (callFrames as Frame[])[0]! })
    this.#events.dispatchEvent(new Event('paused'))
  }

  #send(method: string, params: object = {}, id = ++this.#lastId): Promise<Record<string, unknown>> {
    const answer = this.#answer(id, method)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return answer
  }

  /** Asks a thread. */
  #ask(sessionId: string, method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = ++this.#lastId
    const answer = this.#answer(id, method)
    void this.#send('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) })
    return answer
  }

  #answer(id: number, method: string): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      this.#answers.set(id, ({ result = {}, error }) => {
        this.#answers.delete(id)
        if (error) reject(new Error(`${method}: ${error.message}`))
        else resolve(result)
      })
    })
  }
}

const mapOf = ({ sourceMapURL }: Script): SourceMap =>
  new SourceMap(JSON.parse(Buffer.from(sourceMapURL.split(',')[1]!, 'base64').toString()) as SourceMapPayload)

/** First place of a script that its source map traces to a line of a file. */
function placeOf(script: Script, source: string, url: string, line: number): Place | undefined {
  const map = mapOf(script)
  if (!map.payload.sources.includes(url)) return undefined
  for (const [lineNumber, text] of source.split('\n').entries()) {
    for (let columnNumber = 0; columnNumber < text.length; columnNumber++) {
      const found = map.findEntry(lineNumber, columnNumber)
      if (!('originalLine' in found) || found.generatedLine !== lineNumber) continue
      if (found.originalSource === url && found.originalLine === line - 1)
        return { scriptId: script.scriptId, lineNumber, columnNumber: found.generatedColumn }
    }
  }
  return undefined
}
