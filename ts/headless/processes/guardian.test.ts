import { afterEach, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGuardian } from './guardian.ts'

const sockets = '/tmp/.X11-unix'
const number = 7741
const socket = join(sockets, `X${number}`)
const path = process.env.PATH
let folder = ''
let server: ReturnType<typeof Bun.listen> | undefined

afterEach(() => {
  process.env.PATH = path
  server?.stop(true)
  rmSync(socket, { force: true })
  rmSync(folder, { recursive: true, force: true })
})

/** What a killed server leaves: its socket, on which nobody listens. */
const deadDesktop = (): string => {
  folder = mkdtempSync(join(tmpdir(), 'backlot-guardian-'))
  const desktop = join(folder, 'desktop-1-2-3-4')
  mkdirSync(desktop)
  mkdirSync(sockets, { recursive: true, mode: 0o1777 })
  writeFileSync(join(desktop, 'display'), `${number}\n`)
  writeFileSync(socket, '')
  return desktop
}

const listen = () => {
  server = Bun.listen({ unix: socket, socket: { data() {} } })
}

/** Has the guardian wait after its nth look for a listener, until `meanwhile` has been done. */
const afterLook = async (look: number, guarded: string, meanwhile: () => void): Promise<void> => {
  const programs = join(folder, 'programs')
  mkdirSync(programs)
  const script = `#!/bin/sh
case "$*" in
  *X${number}*) ;;
  *) exec ${Bun.which('grep')} "$@" ;;
esac
${Bun.which('grep')} "$@"
status=$?
echo look >>'${folder}/looks'
[ $(wc -l <'${folder}/looks') -ne ${look} ] || { touch '${folder}/reached'; while [ ! -e '${folder}/go' ]; do sleep 0.01; done; }
exit $status
`
  writeFileSync(join(programs, 'grep'), script)
  chmodSync(join(programs, 'grep'), 0o755)
  process.env.PATH = `${programs}:${path}`
  const ended = startGuardian(guarded).end()
  while (!existsSync(join(folder, 'reached'))) await Bun.sleep(5)
  meanwhile()
  writeFileSync(join(folder, 'go'), '')
  await ended
}

const connects = async (): Promise<boolean> => {
  const client = await Bun.connect({ unix: socket, socket: { data() {} } })
  client.end()
  return true
}

test('the socket of a dead X server goes with its desktop', async () => {
  const desktop = deadDesktop()
  await startGuardian(desktop).end()
  expect([existsSync(socket), existsSync(desktop)]).toEqual([false, false])
})

test('the socket of a server that took the number meanwhile stays', async () => {
  const desktop = deadDesktop()
  await afterLook(1, desktop, () => {
    rmSync(socket)
    listen()
  })
  expect(await connects()).toBe(true)
  expect(readdirSync(sockets).filter((name) => name.startsWith(`X${number}`))).toEqual([`X${number}`])
})

test('a server that takes the number while the old socket is put aside keeps its own', async () => {
  const desktop = deadDesktop()
  await afterLook(2, desktop, listen)
  expect(await connects()).toBe(true)
  expect(readdirSync(sockets).filter((name) => name.startsWith(`X${number}`))).toEqual([`X${number}`])
})
