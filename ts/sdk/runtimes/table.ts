/** The runtimes there are. */
import type { Fields } from '../basics.ts'
import { AbsentRuntime } from './absent.ts'
import { ContainerRuntime, features as container } from './container/runtime.ts'
import { EmulatorRuntime } from './emulator/runtime.ts'
import type { Isolation, RuntimeFeatures } from './features.ts'
import { LocalRuntime } from './local.ts'
import { QemuRuntime } from './qemu/runtime.ts'
import type { Runtime } from './runtime.ts'
import { VmHostRuntime } from './vmhost/runtime.ts'
import { features as vm } from './vmhost/vm-runtime.ts'

const byAddress =
  'Start `backlot computer` where the sandbox shall be and connect by address, `Sandbox.connect(name, { httpUrl })`, ' +
  'or extend `Runtime`.'
const everywhere = 'or name a VM host on such a machine: `runtimes.vmhost({ url, token })`.'

/** VMs of programs that keep none ready. */
const otherVm: RuntimeFeatures = { ...vm, pool: { unsupported: 'It keeps no pools; use `vmhost` or `qemu`.' } }

const macVm: RuntimeFeatures = {
  ...otherVm,
  os: ['macos', 'linux'],
  suspend: 'disk',
  fork: { unsupported: 'Lume and Tart copy VMs that are stopped, not those that run.' },
  snapshot: { unsupported: 'Lume and Tart save no state of a VM beside its disk.' },
}

const windowsVm: RuntimeFeatures = { ...otherVm, os: ['windows', 'linux'] }

/** A runtime that this version does not hold. */
const notYet = (name: string, features: RuntimeFeatures): Runtime =>
  new AbsentRuntime(name, { features, reason: `This version of Backlot does not hold it.`, remedy: byAddress })

/** A runtime of another system; on that system, one that this version does not hold. */
const onlyOn = (name: string, features: RuntimeFeatures, system: string, platform: string, what: string): Runtime =>
  globalThis.process?.platform === platform
    ? notYet(name, features)
    : new AbsentRuntime(name, {
        features,
        reason: `It is ${what}, and this machine runs ${globalThis.process?.platform ?? 'no such system'}.`,
        remedy: `Run this program on ${system}, ${everywhere}`,
      })

/** The runtimes there are, for those that need settings; a name alone means the defaults. */
export const runtimes = {
  /**
   * A private desktop in namespaces of this Linux; `isolation` is the weakest to accept. Where namespaces do not work, `landlock`
   * keeps programs to their files, and with `none` they have all rights of this user. @default 'host-programs'
   */
  local(options?: { isolation?: Isolation }): Runtime {
    return new LocalRuntime(options)
  },
  /** Docker, by `host` as in `DOCKER_HOST`; `build` as `docker build` takes it. @default docker's context, or the socket that answers */
  container(options?: { host?: string; build?: { base?: string; network?: string } }): Runtime {
    return new ContainerRuntime(options)
  },
  /** A VM host, here or elsewhere. @default `BACKLOT_HOST_URL`, `BACKLOT_HOST_TOKEN` */
  vmhost(options?: { url?: string; token?: string }): Runtime {
    return new VmHostRuntime(options)
  },
  /** QEMU on this machine, without a service. @default the fastest `accel` that works */
  qemu(options?: { accel?: 'kvm' | 'hvf' | 'whpx' | 'tcg' }): Runtime {
    return new QemuRuntime(options)
  },
  /** Pods of a cluster; `pod` is merged into each one's spec. @default the current context, or the cluster that this program is in */
  kubernetes(_options?: { kubeconfig?: string; context?: string; namespace?: string; pod?: Fields }): Runtime {
    return notYet('kubernetes', {
      ...container,
      suspend: { unsupported: 'A pod cannot be paused; delete it, and create it again.' },
      fork: { unsupported: 'A running pod cannot be copied; create more of its image.' },
      snapshot: { unsupported: 'A running pod cannot be saved; build its state into an image.' },
      pool: true,
      network: ['none', 'internet'],
      mounts: { unsupported: 'Folders of this machine are not those of the cluster; use `files.upload`.' },
    })
  },
  /**
   * Emulators of the Android SDK on this machine: `sdkRoot` is its folder, `device` a profile of `avdmanager list device`. With
   * `acceptLicenses` you agree to the licences of the SDK, and what is missing of it is installed. @default ANDROID_HOME, or the usual place
   */
  emulator(options?: { sdkRoot?: string; device?: string; acceptLicenses?: boolean }): Runtime {
    return new EmulatorRuntime(options)
  },
  /** Lume on a Mac. */
  lume(_options?: { url?: string }): Runtime {
    return onlyOn(
      'lume',
      macVm,
      'a Mac with Apple silicon',
      'darwin',
      'for a Mac with Apple silicon on which Lume serves',
    )
  },
  /** Tart on a Mac. */
  tart(): Runtime {
    return onlyOn('tart', macVm, 'a Mac with Apple silicon', 'darwin', 'for a Mac with Apple silicon that has Tart')
  },
  /** Hyper-V on Windows. */
  hyperv(): Runtime {
    return onlyOn('hyperv', windowsVm, 'Windows', 'win32', 'for Windows Pro or Server with Hyper-V turned on')
  },
  /** QEMU in WSL2 on Windows. */
  wsl2(): Runtime {
    return onlyOn('wsl2', otherVm, 'Windows', 'win32', 'for Windows with WSL2 and its nested virtualization')
  },
} as const

/** A key of `runtimes`. */
export type RuntimeName = keyof typeof runtimes

/** Those of this machine, in the order in which one is looked for that fits. */
export const ofThisMachine: readonly RuntimeName[] = ['local', 'container', 'vmhost', 'qemu', 'emulator']
