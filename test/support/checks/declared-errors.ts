import { AnswerErrors } from '../../../engine/answer/answer-errors.ts'
import { FollowErrors } from '../../../engine/follow/follow-errors.ts'
import { BinaryErrors } from '../../../engine/binary/binary-errors.ts'
import { EngineErrors } from '../../../engine/base/engine-errors.ts'
import { EntitySetErrors } from '../../../engine/entity-set/entity-set-errors.ts'
import type { ErrorDefinition } from '../../../engine/base/errors.ts'
import { FunctionErrors } from '../../../engine/author/declare/function-errors.ts'
import { LanguageErrors } from '../../../engine/author/data-api/language-errors.ts'
import { PermissionErrors } from '../../../engine/permission/permission-errors.ts'
import { RemoteErrors } from '../../../engine/data/remote-errors.ts'
import { PoolErrors } from '../../../engine/placement/pool/pool-errors.ts'
import { AggregateErrors } from '../../../engine/query/aggregate/aggregate-errors.ts'
import { ParseErrors } from '../../../engine/query/parse/parse-errors.ts'
import { QueryErrors } from '../../../engine/query/contract/query-errors.ts'
import { SerialiseErrors } from '../../../engine/answer/serialise-errors.ts'
import { WriteErrors } from '../../../engine/write/contract/write-errors.ts'
import { WriterErrors } from '../../../engine/write/contract/writer-errors.ts'
import { WebhookErrors } from '../../../kernel/webhook-errors.ts'
import { AuthErrors } from '../../../kernel/auth/auth-errors.ts'
import { KernelErrors } from '../../../kernel/errors.ts'
import { PageErrors } from '../../../kernel/session/page-errors.ts'
import { SharedErrors } from '../../../engine/cluster/shared-errors.ts'
import { SessionErrors } from '../../../kernel/session/session-errors.ts'
import { EdgeErrors } from '../../../kernel/transport/edge-errors.ts'
import { UrlErrors } from '../../../kernel/url/url-errors.ts'
import { BinaryRequestErrors } from '../../../plugins/binary/errors.ts'
import { BriefErrors } from '../../../plugins/brief/errors.ts'
import { ClientErrors } from '../../../plugins/client/errors.ts'
import { ComputeErrors } from '../../../plugins/compute/errors.ts'
import { DeleteErrors } from '../../../plugins/delete/errors.ts'
import { DirectoryErrors } from '../../../plugins/directory/errors.ts'
import { EntitySetRequestErrors } from '../../../plugins/entity-set/errors.ts'
import { FormatErrors } from '../../../plugins/format/errors.ts'
import { BackupErrors } from '../../../plugins/backup/errors.ts'
import { ImportErrors } from '../../../plugins/import/errors.ts'
import { InfoErrors } from '../../../plugins/info/errors.ts'
import { JobErrors } from '../../../plugins/jobs/errors.ts'
import { LockErrors } from '../../../plugins/lock/errors.ts'
import { MigrateErrors } from '../../../plugins/migrate/errors.ts'
import { MetricsErrors } from '../../../plugins/metrics/errors.ts'
import { OidcErrors } from '../../../plugins/oidc/errors.ts'
import { PagingErrors } from '../../../plugins/paging/errors.ts'
import { PostQueryErrors } from '../../../plugins/post-query/errors.ts'
import { UpdateErrors } from '../../../plugins/update/errors.ts'
import { WebhooksErrors } from '../../../plugins/webhooks/errors.ts'
import { UploadErrors } from '../../../plugins/upload/errors.ts'
import { sources } from './sources.ts'

export interface DeclaredError extends ErrorDefinition {
  /** Registry and name: `QUERY.TIMEOUT`. */
  readonly name: string
  /** Message with the names of its parameters: `the query was stopped after {milliseconds} ms, …`. */
  readonly form: string
}

const REGISTRIES: Readonly<Record<string, { readonly definitions: Readonly<Record<string, ErrorDefinition>> }>> = {
  AGGREGATE: AggregateErrors,
  ANSWER: AnswerErrors,
  AUTH: AuthErrors,
  BINARY: BinaryErrors,
  BINARY_REQUEST: BinaryRequestErrors,
  BRIEF: BriefErrors,
  CLIENT: ClientErrors,
  COMPUTE: ComputeErrors,
  DELETE: DeleteErrors,
  DIRECTORY: DirectoryErrors,
  EDGE: EdgeErrors,
  ENGINE: EngineErrors,
  ENTITY_SET: EntitySetErrors,
  ENTITY_SET_REQUEST: EntitySetRequestErrors,
  FOLLOW: FollowErrors,
  FORMAT: FormatErrors,
  FUNCTIONS: FunctionErrors,
  BACKUP: BackupErrors,
  IMPORT: ImportErrors,
  INFO: InfoErrors,
  KERNEL: KernelErrors,
  LANGUAGE: LanguageErrors,
  JOBS: JobErrors,
  LOCK: LockErrors,
  MIGRATE: MigrateErrors,
  METRICS: MetricsErrors,
  OIDC: OidcErrors,
  PAGING: PagingErrors,
  PAGE: PageErrors,
  PARSE: ParseErrors,
  PERMISSION: PermissionErrors,
  POOL: PoolErrors,
  REMOTE: RemoteErrors,
  POST_QUERY: PostQueryErrors,
  QUERY: QueryErrors,
  SERIALISE: SerialiseErrors,
  SESSION: SessionErrors,
  SHARED: SharedErrors,
  UPDATE: UpdateErrors,
  UPLOAD: UploadErrors,
  URL: UrlErrors,
  WEBHOOK: WebhookErrors,
  WEBHOOKS: WebhooksErrors,
  WRITE: WriteErrors,
  WRITER: WriterErrors,
}

/** Every error that the product declares. @throws {Error} if {@link REGISTRIES} lacks a registry of the source */
export function declaredErrors(): DeclaredError[] {
  const inSource = sources('.ts')
    .filter(({ path }) => /^(?:engine|kernel|plugins)\//.test(path) && !path.includes('/examples/'))
    .flatMap(({ text }) => [...text.matchAll(/= defineErrors\('(\w+)'/g)].map(([, prefix]) => prefix!))
  const missing = inSource.filter(prefix => !REGISTRIES[prefix])
  if (missing.length > 0) throw new Error(`test/support/checks/declared-errors.ts lacks ${missing.join(', ')}`)
  return inSource.flatMap(prefix =>
    Object.entries(REGISTRIES[prefix]!.definitions).map(([name, definition]) => ({
      ...definition,
      name: `${prefix}.${name}`,
      form: formOf(`${prefix}.${name}`, definition.message),
    })),
  )
}

/** Calls a message function with the names of its parameters, which the bundler may have numbered. */
function formOf(error: string, message: (...args: never[]) => string): string {
  const [, parameters = ''] = /^\(([^)]*)\)/.exec(String(message)) ?? []
  const names = parameters.split(',').flatMap(name => name.trim().replace(/\d+$/, '') || [])
  const args = names.map(name =>
    name === 'known' ? Object.assign([`{known}`], { toString: () => '{known}' }) : `{${name}}`,
  )
  try {
    return message(...(args as never[]))
  } catch (cause) {
    throw new Error(`the message of ${error} has to take texts, and a list as a parameter called known`, { cause })
  }
}
