import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { loadUws, type UwsModule } from '../../kernel/transport/uws-module.ts'
import { answerParent } from './answer-parent.ts'
import { cpu, memory } from './memory.ts'
import type { BoundQuestions, FixedAnswers } from './questions.ts'

/** uWebSockets.js and nothing else: sends bytes that were prepared. */
let answers: FixedAnswers = new Map()
let app: TemplatedApp | undefined

const answerOf = (req: HttpRequest): Uint8Array => {
  const query = req.getQuery()
  const answer = answers.get(query ? `${req.getUrl()}?${query}` : req.getUrl()) ?? answers.get(undefined)
  if (!answer) throw new Error(`no answer for ${req.getUrl()}`)
  return answer
}

const send = (res: HttpResponse, answer: Uint8Array): void => {
  res.writeHeader('Content-Type', 'application/json; charset=UTF-8')
  res.end(answer)
}

answerParent<BoundQuestions>({
  start: () => {
    const uws = loadOlderOrCurrent()
    app = uws.App()
    app.get('/*', (res, req) => send(res, answerOf(req)))
    app.post('/*', (res, req) => {
      const answer = answerOf(req)
      res.onAborted(() => {})
      res.onData((_part, isLast) => {
        if (isLast) send(res, answer)
      })
    })
    return new Promise((resolve, reject) => {
      app!.listen('127.0.0.1', 0, (socket: us_listen_socket | false) => {
        if (socket) resolve({ port: uws.us_socket_local_port(socket) })
        else reject(new Error('no free port'))
      })
    })
  },
  answers: newAnswers => {
    answers = newAnswers
    return null
  },
  memory,
  cpu,
  close: () => {
    app?.close()
    return null
  },
})

/** Loads the build that our server uses: the current one, or the older one if the current one does not load. */
function loadOlderOrCurrent(): UwsModule {
  try {
    return loadUws('uws', 65_536)
  } catch {
    return loadUws('uws-node20', 65_536)
  }
}
