/**
 * What `./dev bench sdk` has a runtime measure: prints milliseconds as JSON. Its arguments: rounds, and the addresses of three
 * servers, for the bare call, HTTP and WebSocket; this machine has its own. So none finds a server that another has just used.
 */
import { performance } from 'node:perf_hooks'
import { HTTPTransport, LocalTransport, WebSocketTransport } from '@backlot/sdk'

const [, , rounds = '200', bareUrl = '', httpUrl = '', socketUrl = ''] = process.argv
const body = JSON.stringify({ command: 'get_environment', params: {} })

/** The call as a program without the SDK makes it. */
const bare = async (): Promise<unknown> => {
  const response = await fetch(`${bareUrl}/cmd`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  })
  return JSON.parse((await response.text()).slice('data: '.length))
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

const http = new HTTPTransport(httpUrl)
const socket = new WebSocketTransport(socketUrl)
const local = new LocalTransport()
await Promise.all([socket.connect(), local.connect()])

const calls = {
  bare,
  http: () => http.send('get_environment'),
  websocket: () => socket.send('get_environment'),
  local: () => local.send('get_environment'),
}
const many = (call: () => Promise<unknown>) => () => Promise.all(Array.from({ length: 200 }, call))
const samples: Record<string, number[]> = {}
const measure = async (what: string, work: () => Promise<unknown>) => {
  samples[what] ??= []
  samples[what]?.push(await timed(work))
}
/** In another order each time: none always follows the same, and the load of the machine falls on all alike. */
const shuffled = () =>
  Object.entries(calls)
    .map(([name, call]) => ({ name, call, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
for (let round = 0; round < Number(rounds); round++) {
  for (const { name, call } of shuffled()) await measure(name, call)
}
for (let round = 0; round < Math.max(5, Number(rounds) / 20); round++) {
  for (const { name, call } of shuffled()) await measure(`${name} 200`, many(call))
}
for (let round = 0; round < 20; round++) await measure('connect', () => http.connect())
await Promise.all([socket.disconnect(), local.disconnect()])
process.stdout.write(JSON.stringify(samples))
