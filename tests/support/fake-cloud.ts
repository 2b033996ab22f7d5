/** A cloud of ours for tests: it speaks the paths of the cloud API, and its VMs are real computer servers on this machine. */

import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Subprocess, spawn } from 'bun'
import { backlotCommand } from './backlot.ts'
import { end, stateOf } from './process-runtime.ts'
import { until } from './until.ts'

/** A request that reached the cloud. */
export interface CloudRequest {
  readonly method: string
  readonly path: string
  readonly authorization: string | null
  readonly body: unknown
}

/** A running cloud; disposing of it ends its VMs. */
export interface FakeCloud extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** What was asked so far. */
  readonly requests: CloudRequest[]
  /** Process of a VM's computer server. */
  pidOf(name: string): number | undefined
  /** Answers the next requests that match with these instead, one each. */
  answerWith(method: string, path: string, ...answers: (() => Response)[]): void
}

interface Vm {
  readonly name: string
  readonly os: string
  readonly created_at: string
  status: string
  server: Subprocess<'ignore', 'pipe', 'ignore'>
  port: number | undefined
}

/** Starts a cloud with one user, whose key is `key`. */
export const startCloud = (key: string, folder: string): FakeCloud => {
  const vms = new Map<string, Vm>()
  const requests: CloudRequest[] = []
  const planned: { method: string; path: string; answers: (() => Response)[] }[] = []
  let isOver = false

  const startServer = (name: string): Vm['server'] => {
    const home = join(folder, name)
    mkdirSync(home, { recursive: true })
    return spawn(backlotCommand('computer', '--port', '0'), {
      env: { PATH: process.env.PATH, HOME: home, BACKLOT_HOME: home, TMPDIR: home, BACKLOT_COMPUTER_KEY: key },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
  }
  /** A VM is ready once its server says its address, as clouds say it some time after the request. */
  const watch = async (vm: Vm) => {
    const { server } = vm
    const { value } = await server.stdout.getReader().read()
    // One that was deleted meanwhile says nothing.
    if (isOver || server !== vm.server || value === undefined) return
    vm.port = Number(new URL(new TextDecoder().decode(value).trim()).port)
    vm.status = vm.status === 'provisioning' ? 'ready' : 'running'
  }
  const shown = ({ name, os, status, created_at, port }: Vm) => ({
    name,
    os,
    status,
    created_at,
    host: '127.0.0.1',
    password: 'word-of-the-screen',
    endpoints:
      port === undefined
        ? []
        : [
            { name: 'computer-server', host: '127.0.0.1', port },
            { name: 'vnc', host: 'screens.example', port: 6901 },
          ],
    region: 'us-east-1',
  })

  const operate = async (method: string, name: string, verb: string | undefined): Promise<Response> => {
    const vm = vms.get(name)
    if (vm === undefined) return Response.json({ message: `no VM ${name}` }, { status: 404 })
    switch (`${method} ${verb ?? ''}`) {
      case 'GET ':
        return Response.json(shown(vm))
      case 'DELETE ':
        vms.delete(name)
        await end(vm.server.pid)
        return new Response(null, { status: 204 })
      case 'POST stop':
        vm.status = 'stopping'
        process.kill(vm.server.pid, 'SIGSTOP')
        void until('the VM to stop', () => stateOf(vm.server.pid) === 'T').then(() => {
          vm.status = 'stopped'
        })
        return Response.json({ status: 'stopping' }, { status: 202 })
      case 'POST run':
        process.kill(vm.server.pid, 'SIGCONT')
        vm.status = 'running'
        return Response.json({ status: 'starting' }, { status: 202 })
      case 'POST restart':
        await end(vm.server.pid)
        vm.status = 'restarting'
        vm.port = undefined
        vm.server = startServer(name)
        void watch(vm)
        return Response.json({}, { status: 202 })
      case 'POST snapshot':
        return Response.json({ id: `snapshot-of-${name}`, size_bytes: 4096, created_at: '2026-01-02T03:04:05Z' })
      default:
        return Response.json({ message: 'no such operation' }, { status: 405 })
    }
  }

  const create = (body: Readonly<Record<string, unknown>>): Response => {
    const name = String(body.name)
    if (vms.has(name)) return Response.json({ message: `${name} exists` }, { status: 409 })
    const server = startServer(name)
    const vm: Vm = {
      name,
      os: String(body.os),
      created_at: new Date().toISOString(),
      status: 'provisioning',
      server,
      port: undefined,
    }
    vms.set(name, vm)
    void watch(vm)
    return Response.json(shown(vm), { status: 202 })
  }

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url)
      const { method } = request
      if (pathname === '/cli-auth') {
        return Response.redirect(`${searchParams.get('callback_url')}?token=${encodeURIComponent(key)}`, 302)
      }
      const authorization = request.headers.get('authorization')
      const body = await request.json().catch(() => undefined)
      requests.push({ method, path: pathname, authorization, body })
      const plan = planned.find((each) => each.method === method && each.path === pathname && each.answers.length > 0)
      if (plan !== undefined) return (plan.answers.shift() as () => Response)()
      if (authorization !== `Bearer ${key}`)
        return Response.json({ message: `bad key ${authorization}` }, { status: 401 })
      if (pathname === '/v1/whoami') return Response.json({ id: 'user-1', email: 'someone@example.org', plan: 'small' })
      if (pathname === '/v1/vms') {
        return method === 'POST'
          ? create(body as Record<string, unknown>)
          : Response.json({ vms: [...vms.values()].map(shown) })
      }
      const [, name = '', verb] = /^\/v1\/vms\/([^/]+)(?:\/([^/]+))?$/.exec(pathname) ?? []
      return operate(method, decodeURIComponent(name), verb)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    pidOf: (name) => vms.get(name)?.server.pid,
    answerWith: (method, path, ...answers) => void planned.push({ method, path, answers }),
    async [Symbol.asyncDispose]() {
      isOver = true
      await server.stop(true)
      await Promise.all([...vms.values()].map((vm) => end(vm.server.pid)))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
