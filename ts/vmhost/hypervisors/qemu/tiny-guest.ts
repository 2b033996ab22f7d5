/**
 * A guest of one sector, which shows that an accelerator runs guests and how quickly: started by the firmware, it goes
 * from real mode through paging to long mode, writes `B` to port 0xe9, runs a loop, writes `E`, and ends QEMU through
 * isa-debug-exit at port 0xf4.
 */

/** Rounds of the loop. */
export const loopRounds = 2 ** 24

/** Exit status of QEMU when the guest got through: isa-debug-exit makes `2 n + 1` of the 16 that it writes. */
export const guestExitStatus = 33

/** Machine code (x86) and what it says; loaded at 0x7c00. */
const instructions: readonly (readonly [string, string])[] = [
  ['fa', 'cli'],
  ['31c0', 'xor ax, ax'],
  ['8ed8', 'mov ds, ax'],
  ['8ec0', 'mov es, ax'],
  ['8ed0', 'mov ss, ax'],
  ['bc007c', 'mov sp, 0x7c00'],
  ['fc', 'cld'],
  ['bf0010', 'mov di, 0x1000'],
  ['b90018', 'mov cx, 0x1800'],
  ['f3ab', 'rep stosw: three empty page tables'],
  ['66c706001003200000', 'mov dword [0x1000], 0x2003'],
  ['66c706002003300000', 'mov dword [0x2000], 0x3003'],
  ['66c706003083000000', 'mov dword [0x3000], 0x83: the first 2 MiB, as they are'],
  ['0f0116b87c', 'lgdt [0x7cb8]'],
  ['0f20e0', 'mov eax, cr4'],
  ['6683c820', 'or eax, PAE'],
  ['0f22e0', 'mov cr4, eax'],
  ['66b800100000', 'mov eax, 0x1000'],
  ['0f22d8', 'mov cr3, eax'],
  ['66b9800000c0', 'mov ecx, EFER'],
  ['0f32', 'rdmsr'],
  ['660d00010000', 'or eax, LME'],
  ['0f30', 'wrmsr'],
  ['0f20c0', 'mov eax, cr0'],
  ['660d01000080', 'or eax, PG | PE'],
  ['0f22c0', 'mov cr0, eax'],
  ['ea697c0800', 'jmp 8:0x7c69, the next instruction, in 64-bit code'],
  ['b042', "mov al, 'B'"],
  ['e6e9', 'out 0xe9, al'],
  ['b900000001', 'mov ecx, loopRounds'],
  ['b801000000', 'mov eax, 1'],
  ['bc00600000', 'mov esp, 0x6000: in the page of the code it would have TCG translate that again'],
  ['e80f000000', 'round: call step'],
  ['ffc9', 'dec ecx'],
  ['75f7', 'jnz round'],
  ['b045', "mov al, 'E'"],
  ['e6e9', 'out 0xe9, al'],
  ['b010', 'mov al, 16'],
  ['e6f4', 'out 0xf4, al'],
  ['f4', 'halt: hlt'],
  ['ebfd', 'jmp halt'],
  ['69c00d661900', 'step: imul eax, eax, 1664525'],
  ['055ff36e3c', 'add eax, 1013904223'],
  ['89c2', 'mov edx, eax'],
  ['c1ea16', 'shr edx, 22'],
  ['89049500400000', 'mov [rdx * 4 + 0x4000], eax'],
  ['c3', 'ret'],
  ['0000000000000000', 'at 0x7ca8: no segment'],
  ['00000000009a2000', 'segment of 64-bit code'],
  ['0f00a87c0000', 'limit and place of the two'],
]

/** A floppy disk of 1.44 MB that boots it. */
export const tinyGuestDisk = (): Uint8Array => {
  const disk = new Uint8Array(1_474_560)
  disk.set(Buffer.from(instructions.map(([bytes]) => bytes).join(''), 'hex'))
  disk.set([0x55, 0xaa], 510)
  return disk
}

/** Milliseconds that this processor takes for the same loop, compiled by the JavaScript engine; the best of three. */
export const hostLoopMs = (): number => {
  const share = loopRounds / 4
  const times = Array.from({ length: 4 }, () => {
    const started = performance.now()
    spin(share)
    return performance.now() - started
  })
  // The first is taken up by compiling.
  return Math.min(...times.slice(1)) * 4
}

const cells = new Int32Array(1024)

const spin = (rounds: number): void => {
  let value = 1
  for (let round = rounds; round > 0; round--) {
    value = (Math.imul(value, 1664525) + 1013904223) | 0
    cells[value >>> 22] = value
  }
}
