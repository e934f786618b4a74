/** Figures in readable form. */

/** `98,400`, `7.91`: three or four significant digits. */
export const rate = (perSecond: number): string =>
  perSecond.toLocaleString('en', { maximumSignificantDigits: perSecond >= 1000 ? 4 : 3 })

/** Milliseconds: `0.142`, `12.3`. */
export const milliseconds = (ms: number): string => ms.toLocaleString('en', { maximumSignificantDigits: 3 })

/** `4.1×`, `0.65×`. */
export const ratio = (factor: number): string => `${factor.toLocaleString('en', { maximumSignificantDigits: 3 })}×`

/** `312 MB`. */
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6).toLocaleString('en')} MB`
