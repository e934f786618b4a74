import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

export interface TlsFiles {
  readonly keyFile: string
  readonly certFile: string
  readonly passphrase?: string | undefined
}

export interface TlsIdentity extends Pick<SecureContextOptions, 'key' | 'cert' | 'passphrase'> {
  /** The first of the chain. */
  readonly certificate: X509Certificate
}

/** Content of the files. @throws {Error} they cannot be used, or do not belong together; it names them */
export async function readTls({ keyFile, certFile, passphrase }: TlsFiles): Promise<TlsIdentity> {
  try {
    const [key, cert] = await Promise.all([readFile(keyFile), readFile(certFile)])
    createSecureContext({ key, cert, passphrase })
    return { key, cert, passphrase, certificate: new X509Certificate(cert) }
  } catch (cause) {
    throw new Error(`TLS cannot use key ${keyFile} and certificate ${certFile}: ${(cause as Error).message}`, { cause })
  }
}
