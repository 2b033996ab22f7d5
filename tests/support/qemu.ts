/** QEMU's own programs, the witnesses for what Backlot makes of disks and says to hypervisors. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './until.ts'

/** A folder that is removed with all that is in it. */
export class Scratch implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'backlot-disks-'))

  /** The path of a file in it. */
  at(name: string): string {
    return join(this.folder, name)
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** What a program of QEMU's prints; throws what it says on stderr where it fails with a status that is not accepted. */
export function qemu(command: readonly string[], accepted: readonly number[] = [0]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: 'ignore' })
  if (!accepted.includes(exitCode)) throw new Error(`${command.join(' ')}: ${exitCode}: ${stderr}${stdout}`)
  return stdout.toString()
}

/** What `qemu-img check` says of a disk; its exit code tells the same in other words. */
export function qemuCheck(path: string): { corruptions: number; leaks: number } {
  const said = JSON.parse(qemu(['qemu-img', 'check', '--output=json', path], [0, 2, 3])) as Record<string, number>
  return { corruptions: said.corruptions ?? 0, leaks: said.leaks ?? 0 }
}

/** A hypervisor without a machine, which answers on its QMP socket within milliseconds. */
export async function bareHypervisor(
  scratch: Scratch,
  ...flags: string[]
): Promise<AsyncDisposable & { socket: string; pid: number }> {
  const socket = scratch.at(`qmp-${crypto.randomUUID().slice(0, 8)}`)
  const bare = ['-M', 'none', '-nodefaults', '-display', 'none', '-S']
  const child = Bun.spawn(['qemu-system-x86_64', ...bare, '-qmp', `unix:${socket},server=on,wait=off`, ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await until('the socket of the hypervisor', async () => {
    if (child.exitCode !== null) throw new Error(`QEMU ended: ${await new Response(child.stderr).text()}`)
    return existsSync(socket)
  })
  return {
    socket,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      // One that is stopped takes no other signal.
      child.kill('SIGKILL')
      await child.exited
    },
  }
}
