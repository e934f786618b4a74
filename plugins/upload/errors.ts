import { defineErrors, errorsWith } from '../../engine/index.ts'

export const UploadErrors = defineErrors('UPLOAD', {
  ...errorsWith({ errCode: 1813, http: 400 })({
    NO_KIND: () =>
      'say what is uploaded: $rawPict=true (or its type, such as image/png) for an image, $binary=true else',
  }),
  ...errorsWith({ errCode: 1824, http: 415 })({
    UNKNOWN_PICTURE_TYPE: (received: string) =>
      `${received} is not a supported image type; send PNG, JPEG, GIF, TIFF, WebP or SVG, for example`,
  }),
  ...errorsWith({ errCode: 1806, http: 415 })({
    NOT_RAW: (contentType: string) =>
      `the body is ${contentType}; send the bytes of the file alone, as the whole body, or multipart/form-data`,
  }),
  ...errorsWith({ errCode: 1806, http: 400 })({
    BAD_FORM: (problem: string) =>
      `the form cannot be read (${problem}); send a FormData, or the bytes of the file as the body`,
    FILES_OF_FORM: (received: string) => `the form has ${received}; send one file at a time`,
    EMPTY: () => 'the body is empty; send the bytes of the file as the body',
    TIMEOUT: (received: string) =>
      `$timeout=${received} is not a valid lifetime; send a whole number of seconds, 1 or more`,
  }),
})
