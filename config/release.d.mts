interface ReleaseDocuments {
  readonly version: string
  readonly changelog: string
  readonly security: string
  readonly tags: readonly string[]
  /** Output of `git status --porcelain`. */
  readonly status: string
}

export function releaseProblems(documents: ReleaseDocuments): string[]
export function notesOf(changelog: string): string
