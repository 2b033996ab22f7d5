/** `backlot local start`: a sandbox for as long as its program lives, or until it is deleted. */
import { fstatSync } from 'node:fs'
import { codeOf, Failure } from '@backlot/contract/failure'
import { privateDesktop } from '@backlot/contract/limits'
import { linesOf } from '@backlot/contract/lines'
import { whenParentEnds } from '@backlot/headless'
import { createSandbox, type MadeSandbox, type SandboxInfo, sandboxesFolder } from '@backlot/local'
import { print, printJson } from '../terminal/output.ts'
import { startProgress } from '../terminal/progress.ts'
import { startDetached } from './detached.ts'
import { readNewSandbox } from './new-sandbox.ts'
import { type FailureLine, failureLine, inputEnds, removeUnlessHeld, signalled, supervise } from './supervise.ts'

const { width, height } = privateDesktop.size

export const startUsage = `backlot local start [--name NAME] [--ephemeral] [--isolation LEVEL] [--network NETWORK]
              [--mount HOST:PATH[:ro]]… [--cpu N] [--memory-mb N] [--disk-gb N] [--size WxH]
              [--label KEY=VALUE]… [--ttl-ms N] [--timeout-ms N] [--distro NAME [--strict]]
              [--env-from-input] [--snapshot ID] [--unsafe-no-isolation]

  --name NAME           1 to 63 of a-z, 0-9 and "-"; two words and a number when absent.
  --ephemeral           Stay, and end and remove the sandbox with this command: at a signal, at the end of its parent,
                        or at the end of its standard input where that is a pipe.
  --isolation LEVEL     The weakest to accept: own-root, host-programs, landlock, none. host-programs when absent.
                        landlock is for where namespaces are refused: no mounts, no --disk-gb, and network internet alone.
  --unsafe-no-isolation A desktop whose programs have all rights of this user, where nothing else works or is wanted.
  --network NETWORK     internet (when absent), loopback or none: with these two it reaches nothing but itself.
  --mount HOST:PATH     A folder or file of this machine and where the sandbox sees it, with :ro only to read. Also as
                        JSON: {"host_path":…,"path":…,"read_only":…}.
  --cpu N               Processors, such as 1.5. What cannot be limited here is told in the sandbox's warnings.
  --memory-mb N         Mebibytes of memory.
  --disk-gb N           Gibibytes of files of its own.
  --size WxH            Pixels of its screen; ${width}x${height} when absent.
  --label KEY=VALUE     A pair to find it by.
  --ttl-ms N            Milliseconds after which it ends, and is removed, by itself.
  --env-from-input      Read variables for its programs from standard input, as a JSON object: arguments are no secret.
  --distro NAME         The distribution that is wanted, such as ubuntu; where the programs of this machine are of
                        another one, a warning says so, or with --strict the start is refused.
  --snapshot ID         Begin with the files of a snapshot, and with the variables of the sandbox that it is of.
  --timeout-ms N        Milliseconds until it must be ready; ${privateDesktop.startTimeoutMs} when absent.

Prints one line of JSON when the sandbox is ready: host, api_port and api_key lead to its computer server.`

/** Starts a sandbox; gives the exit status. */
export const start = async (args: readonly string[]): Promise<number> => {
  const { wanted, timeoutMs } = await readNewSandbox(args)
  using progress = startProgress()
  progress.show('starting a sandbox')
  const made = await createSandbox(sandboxesFolder(), wanted)
  if (!wanted.ephemeral) {
    try {
      const info = await startSupervisor(made, timeoutMs)
      progress.show('')
      await printJson(info)
      return 0
    } catch (error) {
      await made.folder.remove()
      throw error
    } finally {
      made.lock.release()
    }
  }
  const ending = Promise.race([signalled(['SIGTERM', 'SIGINT', 'SIGHUP']), inputEnds(isPipe(0)), whenParentEnds()])
  let isReady = false
  try {
    await supervise({
      made,
      timeoutMs,
      ending,
      isWanted: async () => true,
      async announce(info) {
        isReady = true
        made.lock.release()
        progress.show('')
        await printJson(info)
      },
    })
  } catch (error) {
    if (!isReady) {
      await made.folder.remove()
      made.lock.release()
    }
    if (Failure.from(error).code !== 'cancelled') throw error
  }
  return 0
}

const isPipe = (file: number): boolean => {
  const stat = fstatSync(file)
  return stat.isFIFO() || stat.isSocket()
}

/** Starts a process that looks after a sandbox and outlives this one; settles when the sandbox is ready. */
export const startSupervisor = async (
  { folder }: Pick<MadeSandbox, 'folder'>,
  timeoutMs: number,
): Promise<SandboxInfo> => {
  const child = startDetached(['supervise', folder.name, String(timeoutMs)], 'pipe')
  const lines = linesOf(child.stdout)
  const text = (await lines.next()).value
  const answer = text === undefined ? null : (JSON.parse(text) as SandboxInfo | { error: FailureLine })
  if (answer !== null && !('error' in answer)) {
    // Where this one dies before it says so, the start is undone.
    child.stdin.write('keep\n')
    await child.stdin.end()
    if ((await lines.next()).value === 'kept') {
      child.unref()
      return answer
    }
  }
  await child.exited
  if (answer === null || !('error' in answer)) {
    throw new Failure('sandbox_not_started', `The supervisor of "${folder.name}" ended; start the sandbox again.`)
  }
  const { code, message, data } = answer.error
  throw new Failure(codeOf(code), message, data)
}

/** `backlot local supervise NAME MS`: what `start` and `resume` start; nobody else calls it. */
export const superviseNamed = async (folder: MadeSandbox['folder'], timeoutMs: number): Promise<number> => {
  const record = folder.readRecord()
  if (record === null) return 1
  // Who started it holds the other end, and says that the sandbox is to stay.
  const answer = Bun.stdin.stream().getReader().read()
  const left = answer.then(({ value }) => (value === undefined ? undefined : new Promise<never>(() => {})))
  let isKept = record.is_whole
  try {
    await supervise({
      made: { folder, record },
      timeoutMs,
      ending: Promise.race([signalled(['SIGTERM']), left]),
      async isWanted(info) {
        await print(JSON.stringify(info))
        return (await answer).value !== undefined
      },
      async announce() {
        isKept = true
        await print('kept')
      },
    })
    return 0
  } catch (error) {
    await printJson(failureLine(error))
    return 1
  } finally {
    if (!isKept) await removeUnlessHeld(folder)
  }
}
