import { createReadStream } from 'node:fs'
import { Agent, request } from 'undici'
import { fileOf } from '../own-server/file.ts'
import { answerParent } from './answer-parent.ts'
import type { UploadQuestions } from './questions.ts'

/** Sends files. */
answerParent<UploadQuestions>({
  async upload({ port, count, bytes }) {
    const files = Array.from({ length: count }, (_, i) => fileOf(bytes, i))
    const dispatcher = new Agent({ connections: count, headersTimeout: 0 })
    const url = `http://127.0.0.1:${port}/rest/$upload?$binary=true`
    const startedAt = performance.now()
    const ids = await Promise.all(
      files.map(async body => {
        const answer = await request(url, { method: 'POST', body, dispatcher })
        const text = await answer.body.text()
        if (answer.statusCode !== 200) throw new Error(`an upload is answered with ${answer.statusCode}: ${text}`)
        return (JSON.parse(text) as { ID: string }).ID
      }),
    )
    return { ids, seconds: (performance.now() - startedAt) / 1000 }
  },
  async import({ port, dataClass, file }) {
    const startedAt = performance.now()
    const answer = await request(`http://127.0.0.1:${port}/rest/$import/${dataClass}?$format=csv`, {
      method: 'POST',
      body: createReadStream(file),
      headersTimeout: 0,
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`the import is answered with ${answer.statusCode}: ${text}`)
    const { inserted } = JSON.parse(text) as { inserted: number }
    return { inserted, seconds: (performance.now() - startedAt) / 1000 }
  },
  close: () => null,
})
