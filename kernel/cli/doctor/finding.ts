/** Finding of `tesser doctor` about one topic. `limited`: works, but more slowly or with a part missing. */
export interface Finding {
  readonly topic: string
  readonly state: 'ok' | 'limited' | 'broken'
  readonly text: string
  /** Action that helps; only for a state other than `ok`. */
  readonly remedy?: string
}

export const success = (topic: string, text: string): Finding => ({ topic, state: 'ok', text })

export const limitation = (topic: string, text: string, remedy: string): Finding => ({
  ...{ topic, state: 'limited', text, remedy },
})

export const fault = (topic: string, text: string, remedy: string): Finding => ({
  ...{ topic, state: 'broken', text, remedy },
})
