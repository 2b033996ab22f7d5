/** The commands of each name of the executable; a module is loaded when its command is called. */
import type { Command } from './command.ts'
import type { ProgramName } from './executable.ts'

type Load = () => Promise<{ readonly command: Command }>

const shared: Readonly<Record<string, Load>> = {
  mcp: () => import('./commands/mcp.ts'),
  call: () => import('./commands/call.ts'),
  'list-tools': () => import('./commands/list-tools.ts'),
  describe: () => import('./commands/describe.ts'),
  doctor: () => import('./commands/doctor.ts'),
  recording: () => import('./commands/recording.ts'),
  'mcp-config': () => import('./commands/mcp-config.ts'),
}

const registry: Readonly<Record<ProgramName, Readonly<Record<string, Load>>>> = {
  backlot: {
    ...shared,
    demo: () => import('./commands/demo.ts'),
    desktop: () => import('./commands/desktop.ts'),
    serve: () => import('./commands/serve.ts'),
    computer: () => import('./commands/computer.ts'),
    host: () => import('./commands/host.ts'),
    image: () => import('./commands/image.ts'),
    vm: () => import('./commands/vm.ts'),
    sandbox: () => import('./commands/sandbox.ts'),
    login: () => import('./commands/login.ts'),
    whoami: () => import('./commands/whoami.ts'),
    completion: () => import('./commands/completion.ts'),
    local: () => import('./commands/local.ts'),
    lume: () => import('./commands/lume.ts'),
  },
  'backlot-driver': {
    ...shared,
    serve: () => import('./commands/driver-serve.ts'),
    status: () => import('./commands/driver-status.ts'),
    stop: () => import('./commands/driver-stop.ts'),
    config: () => import('./commands/driver-config.ts'),
    pause: () => import('./commands/driver-pause.ts'),
    resume: () => import('./commands/driver-resume.ts'),
  },
}

/** Names of the commands, in the order of the help. */
export const commandNames = (program: ProgramName): readonly string[] => Object.keys(registry[program])

/** The command of that name, if there is one. */
export const loadCommand = async (program: ProgramName, name: string): Promise<Command | undefined> => {
  const commands = registry[program]
  return Object.hasOwn(commands, name) ? (await commands[name]?.())?.command : undefined
}
