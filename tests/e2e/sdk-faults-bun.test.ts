import { testFaults } from '../support/sdk/faults.ts'

testFaults('bun')
