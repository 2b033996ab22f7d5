/** The packages from PyPI that tests of the VM host use as they are. */
export const pythonClients = {
  pylume: 'pylume==0.2.1',
  computer: 'cua-computer==0.4.10',
  sandbox: 'cua-sandbox==0.8.0',
  schemathesis: 'schemathesis==4.32.5',
} as const
