import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'

export interface TlsFiles {
  readonly keyFile: string
  readonly certFile: string
  readonly passphrase?: string | undefined
}

export interface TlsIdentity extends Pick<SecureContextOptions, 'key' | 'cert' | 'passphrase'> {
  /** First certificate of the chain. */
  readonly certificate: X509Certificate
}

/** Reads the files. @throws {Error} naming the files, if they are unusable or do not match */
export async function readTls({ keyFile, certFile, passphrase }: TlsFiles): Promise<TlsIdentity> {
  try {
    const [key, cert] = await Promise.all([readFile(keyFile), readFile(certFile)])
    createSecureContext({ key, cert, passphrase })
    return { key, cert, passphrase, certificate: new X509Certificate(cert) }
  } catch (cause) {
    throw new Error(`TLS cannot use key ${keyFile} and certificate ${certFile}: ${(cause as Error).message}`, { cause })
  }
}
