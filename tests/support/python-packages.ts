/** The packages from PyPI that tests of our servers use as they are. */
export const pythonClients = {
  pylume: 'pylume==0.2.1',
  computer: 'cua-computer==0.4.10',
  // It asks for a newer Python than Debian 12 has, and runs with that one.
  newestComputer: ['--ignore-requires-python', 'cua-computer==0.5.19'],
  sandbox: 'cua-sandbox==0.8.0',
  firstSandbox: 'cua-sandbox==0.1.1',
  oras: 'oras==0.2.43',
  schemathesis: 'schemathesis==4.32.5',
} as const
