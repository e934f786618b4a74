/** A text without line ends, and without the blanks around them. Linear: one match for each run of blanks. */
export const inOneLine = (text: string): string => text.replace(/\s+/g, run => (/[\r\n]/.test(run) ? ' ' : run))
