import { addressOf, type ProtocolFault, RestError } from '../base/rest.ts'

/** Seconds for which an upload waits for the save that attaches it. */
const TIMEOUT = 600

/**
 * Uploads a file, by `XMLHttpRequest`, which reports progress.
 * @returns the id with which a save attaches it
 * @throws {RestError} the server refuses the upload
 */
export function upload(
  file: Blob,
  kind: 'image' | 'blob',
  signal: AbortSignal,
  report: (progress: number) => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const parameters = kind === 'image' ? { $rawPict: file.type || true } : { $binary: true }
    request.open('POST', addressOf('$upload', { ...parameters, $timeout: TIMEOUT }))
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => report(total > 0 ? loaded / total : 1)
    request.onload = () => {
      const answer = request.response as { ID?: string; __ERROR?: ProtocolFault[] } | null
      if (request.status === 200 && answer?.ID) resolve(answer.ID)
      else reject(new RestError(request.status, answer?.__ERROR ?? [], answer))
    }
    request.onerror = () => reject(new TypeError('the upload was interrupted'))
    request.onabort = () => reject(new DOMException('the upload was given up', 'AbortError'))
    signal.addEventListener('abort', () => request.abort())
    request.setRequestHeader('Content-Type', kind === 'image' && file.type ? file.type : 'application/octet-stream')
    request.send(file)
  })
}
