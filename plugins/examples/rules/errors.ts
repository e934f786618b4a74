/** An error that stops a save or a drop when an event returns it. */
export const refusal = (errCode: number, message: string, attribute?: string) => ({
  errCode,
  message,
  ...(attribute && { attribute }),
  seriousError: true,
})
