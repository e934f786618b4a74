import type { Logger } from 'pino'
import { FileWatch } from './base/file-watch.ts'
import type { TlsFiles } from './transport/tls-files.ts'
import type { Transport } from './transport/transport.ts'

const LOOK_MS = 5_000

/** Makes the transport read its TLS files again when they have changed. */
export class CertificateRenewal {
  readonly #transport: Pick<Transport, 'renewCertificate'>
  readonly #files: TlsFiles
  readonly #log: Pick<Logger, 'info' | 'error'>
  readonly #watch: FileWatch
  #renewing: Promise<void> = Promise.resolve()

  /** @param lookMs interval between checks; changed files are read once they stay the same for one interval */
  constructor(
    transport: Pick<Transport, 'renewCertificate'>,
    files: TlsFiles,
    log: Pick<Logger, 'info' | 'error'>,
    lookMs = LOOK_MS,
  ) {
    this.#transport = transport
    this.#files = files
    this.#log = log
    this.#watch = new FileWatch([files.keyFile, files.certFile], () => void this.renew(), lookMs)
  }

  /** Reads the files now. Problems with them are logged, and the server keeps the present certificate. */
  renew(): Promise<void> {
    this.#renewing = this.#renewing.then(() => this.#renew())
    return this.#renewing
  }

  async close(): Promise<void> {
    this.#watch.close()
    await this.#renewing
  }

  async #renew(): Promise<void> {
    await this.#watch.note()
    const { certFile } = this.#files
    try {
      const { validTo } = await this.#transport.renewCertificate()
      this.#log.info({ certFile, validTo }, 'the certificate was read again')
    } catch (error) {
      this.#log.error(`the certificate stays as it was: ${(error as Error).message}`)
    }
  }
}
