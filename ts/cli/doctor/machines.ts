/** What virtual machines run on here: a tiny guest is started to know it, once for each boot of this machine. */
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { Failure } from '@backlot/contract/failure'
import { placesOf } from '@backlot/contract/places'
import { accelerationAt } from '@backlot/vmhost'
import { type CheckResult, limited, missing, works } from './finding.ts'

export const virtualMachines = async (): Promise<CheckResult> => {
  try {
    const { accelerator, version, refusal, slowdown } = await accelerationAt(placesOf(process.env))
    if (accelerator === 'kvm') return works(`${version} runs guests with KVM.`)
    return limited(
      `${version} runs guests without KVM: their loops take about ${slowdown} times as long as this processor's own. KVM: ${refusal}`,
      kvmMend(),
    )
  } catch (error) {
    const { code, message } = Failure.from(error)
    return missing(
      message,
      code === 'no_accelerator'
        ? 'apt-get install --reinstall qemu-system-x86 seabios'
        : 'apt-get install qemu-system-x86 qemu-utils',
    )
  }
}

/** What brings KVM, or null where the processor, or the machine that this one is a guest of, has none. */
const kvmMend = (): string | null => {
  if (existsSync('/dev/kvm')) return mayOpen('/dev/kvm') ? null : 'sudo usermod --append --groups kvm "$(id -un)"'
  const [flag] = /\b(vmx|svm)\b/.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? []
  return flag === undefined ? null : `sudo modprobe ${flag === 'vmx' ? 'kvm_intel' : 'kvm_amd'}`
}

const mayOpen = (path: string): boolean => {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
    return true
  } catch {
    return false
  }
}
