const MAX_SUBJECTS = 20

/** Sentences about tables and columns. Sentences that say the same about several subjects are merged. */
export class Notes {
  private readonly subjects = new Map<string, string[]>()

  /** @param ending end of a sentence that begins with the subject: `is a string` */
  add(subject: string, ending: string): void {
    const existingSubjects = this.subjects.get(ending)
    if (existingSubjects) existingSubjects.push(subject)
    else this.subjects.set(ending, [subject])
  }

  lines(): string[] {
    return [...this.subjects].map(([ending, subjects]) => {
      const more = subjects.length - MAX_SUBJECTS
      const names = subjects.slice(0, MAX_SUBJECTS).join(', ') + (more > 0 ? ` and ${more} more` : '')
      return subjects.length === 1 ? `${names} ${ending}` : `each of ${names} ${ending}`
    })
  }
}
