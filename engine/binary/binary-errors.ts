import { defineErrors, errorsWith } from '../base/errors.ts'

export const BinaryErrors = defineErrors('BINARY', {
  ...errorsWith({ errCode: 1046, http: 503 })({
    DISK: (problem: string) => `${problem}; nothing of this upload was kept`,
    TOO_MANY_UPLOADS: (limit: number) =>
      `${limit} uploads are under way, which is the limit (upload.maxConcurrent); try again in a moment`,
    TOO_MUCH_UPLOADED: (limitBytes: number) =>
      `uploads hold ${limitBytes} bytes, which is the limit (upload.maxPendingBytes); try again when some have expired`,
    TOO_MUCH_OF_GUESTS: (limitBytes: number) =>
      `uploads of guests hold ${limitBytes} bytes, which is the limit (upload.maxGuestBytes); log in, or try again when some have expired`,
  }),
  ...errorsWith({ errCode: 1046, http: 500 })({
    /** The log names the file. */
    BYTES_LOST: (attribute: string) =>
      `the bytes of ${attribute} are missing or damaged on the disk of the server; its log says more`,
  }),
  ...errorsWith({ errCode: 1200, http: 429 })({
    TOO_MUCH_OF_NETWORK: (limitBytes: number) =>
      `uploads of guests of your network hold ${limitBytes} bytes, which is their limit (upload.guestBytesPerAddress); log in, or try again when some have expired`,
  }),
})
