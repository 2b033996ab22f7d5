/** The console of the fake emulator: lines of text on a port of loopback, each answered by text and `OK` or `KO`. */
import { createServer, type Socket } from 'node:net'

/** What a command does: the lines that it answers. It throws what is refused. */
export type ConsoleCommands = Readonly<Record<string, (words: readonly string[]) => string[] | Promise<string[]>>>

/** Listens; a caller has to know the token before it may do anything. */
export const listenConsole = (port: number, token: string, commands: ConsoleCommands): void => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    void converse(socket, token, commands)
  })
  server.listen(port, '127.0.0.1')
}

const converse = async (socket: Socket, token: string, commands: ConsoleCommands): Promise<void> => {
  const say = (text: string) => socket.write(`${text}\r\n`)
  let isKnown = token === ''
  if (!isKnown)
    say(`Android Console: Authentication required\r\nAndroid Console: type 'auth <auth_token>' to authenticate`)
  say('OK')
  for await (const line of linesOf(socket)) {
    const [name = '', ...words] = line.trim().split(/\s+/)
    if (name === '') continue
    if (name === 'quit' || name === 'exit') break
    if (name === 'auth') {
      isKnown ||= words[0] === token
      say(
        isKnown
          ? "Android Console: type 'help' for a list of commands\r\nOK"
          : 'KO: missing or wrong authentication token',
      )
      continue
    }
    const [command, given] = Object.hasOwn(commands, `${name} ${words[0]}`)
      ? [commands[`${name} ${words[0]}`], words.slice(1)]
      : Object.hasOwn(commands, `${name} ${words.slice(0, 2).join(' ')}`)
        ? [commands[`${name} ${words.slice(0, 2).join(' ')}`], words.slice(2)]
        : [commands[name], words]
    if (!isKnown || command === undefined) {
      say("KO: unknown command, try 'help'")
      continue
    }
    try {
      for (const each of await command(given)) say(each)
      say('OK')
    } catch (error) {
      say(`KO: ${(error as Error).message}`)
    }
  }
  socket.end()
}

async function* linesOf(socket: Socket): AsyncGenerator<string> {
  let rest = ''
  for await (const bytes of socket) {
    const lines = (rest + String(bytes)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
