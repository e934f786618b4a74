import { defineErrors } from '../base/errors.ts'

export const BinaryErrors = defineErrors('BINARY', {
  DISK: {
    errCode: 1046,
    http: 503,
    message: (problem: string) => `${problem}; nothing of this upload was kept`,
  },
  /** The log names the file. */
  BYTES_LOST: {
    errCode: 1046,
    http: 500,
    message: (attribute: string) =>
      `the bytes of ${attribute} are missing or damaged on the disk of the server; its log says more`,
  },
  TOO_MANY_UPLOADS: {
    errCode: 1046,
    http: 503,
    message: (limit: number) =>
      `${limit} uploads are under way, which is the limit (upload.maxConcurrent); try again in a moment`,
  },
  TOO_MUCH_UPLOADED: {
    errCode: 1046,
    http: 503,
    message: (limitBytes: number) =>
      `uploads hold ${limitBytes} bytes, which is the limit (upload.maxPendingBytes); try again when some have expired`,
  },
  TOO_MUCH_OF_GUESTS: {
    errCode: 1046,
    http: 503,
    message: (limitBytes: number) =>
      `uploads of guests hold ${limitBytes} bytes, which is the limit (upload.maxGuestBytes); log in, or try again when some have expired`,
  },
  TOO_MUCH_OF_NETWORK: {
    errCode: 1200,
    http: 429,
    message: (limitBytes: number) =>
      `uploads of guests of your network hold ${limitBytes} bytes, which is their limit (upload.guestBytesPerAddress); log in, or try again when some have expired`,
  },
})
