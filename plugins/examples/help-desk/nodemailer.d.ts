/** The part of nodemailer that this example uses; `@types/nodemailer` has everything. */
declare module 'nodemailer' {
  interface Transport {
    sendMail(mail: Record<'from' | 'to' | 'subject' | 'text' | 'messageId', string>): Promise<unknown>
    close(): void
  }
  export function createTransport(options: object): Transport
}
