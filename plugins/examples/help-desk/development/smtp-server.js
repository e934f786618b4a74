import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * A mail server for development and tests: it checks the password, and gives each mail to `onMail` as text. Nothing is delivered.
 * @param {{ port?: number, password: string, onMail: (mail: string) => void }} options
 */
export async function startSmtpServer({ port = 0, password, onMail }) {
  const sockets = new Set()
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    const take = conversation({ password, onMail, say: line => socket.write(`${line}\r\n`) })
    let pending = ''
    socket.setEncoding('utf8').on('data', chunk => {
      const lines = (pending + chunk).split('\r\n')
      pending = lines.pop()
      lines.forEach(take)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: server.address().port,
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise(done => server.close(done))
    },
  }
}

/** Answers the lines of one connection. */
function conversation({ password, onMail, say }) {
  let mail
  let isKnown = false
  say('220 help desk of development')
  return line => {
    if (mail) {
      if (line !== '.') return void mail.push(line)
      onMail(mail.join('\n'))
      mail = undefined
      return say('250 taken')
    }
    const [command, , credentials = ''] = line.split(' ')
    if (command === 'EHLO') return say('250-help-desk\r\n250 AUTH PLAIN')
    if (command === 'QUIT') return say('221 bye')
    if (command === 'AUTH') {
      isKnown = Buffer.from(credentials, 'base64').toString().split('\0')[2] === password
      return say(isKnown ? '235 welcome' : '535 wrong password')
    }
    if (!isKnown) return say('530 who are you?')
    if (command === 'DATA') mail = []
    say(mail ? '354 go on' : '250 ok')
  }
}
