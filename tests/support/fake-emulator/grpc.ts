/** The gRPC interface of the fake emulator, served by gRPC's own library off the messages of `emulator-controller.proto`. */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as grpc from '@grpc/grpc-js'
import { fromJSON } from '@grpc/proto-loader'
import { common, parse } from 'protobufjs'
import { screen } from './device.ts'
import messages from './emulator-controller.proto' with { type: 'text' }

type Call = grpc.ServerUnaryCall<Record<string, unknown>, unknown>
type Answer = grpc.sendUnaryData<unknown>

/** Listens on loopback; settles when it does. Each call is written to `grpc` of the state, a line of JSON each. */
export const listenGrpc = async (port: number, token: string, state: string): Promise<void> => {
  const { root } = parse(messages, { keepCase: true })
  root.addJSON(common.get('google/protobuf/empty.proto')?.nested ?? {})
  const definition = fromJSON(root.toJSON(), { keepCase: true, enums: String, defaults: true })
  const service = definition['android.emulation.control.EmulatorController'] as grpc.ServiceDefinition
  const file = (name: string) => join(state, name)
  const answering =
    (name: string, answer: (request: Record<string, unknown>) => unknown) => (call: Call, done: Answer) => {
      if (token !== '' && call.metadata.get('authorization')[0] !== `Bearer ${token}`) {
        done({ code: grpc.status.UNAUTHENTICATED, details: 'The token is wrong' })
        return
      }
      appendFileSync(file('grpc'), `${JSON.stringify({ name, ...call.request })}\n`)
      if (existsSync(file(`refuse.${name}`))) {
        done({ code: grpc.status.UNIMPLEMENTED, details: readFileSync(file(`refuse.${name}`), 'utf8') })
        return
      }
      done(null, answer(call.request))
    }
  const server = new grpc.Server({ 'grpc.max_send_message_length': -1 })
  server.addService(service, {
    getStatus: answering('getStatus', () => ({ version: 'fake', uptime: 1, booted: existsSync(file('booted')) })),
    getScreenshot: answering('getScreenshot', () => ({
      format: { format: 'PNG', ...screen },
      image: readFileSync(file('screen.png')),
      seq: 1,
    })),
    sendTouch: answering('sendTouch', () => ({})),
    sendKey: answering('sendKey', ({ text }) => {
      if (typeof text === 'string') appendFileSync(file('typed'), text)
      return {}
    }),
    setClipboard: answering('setClipboard', ({ text }) => {
      writeFileSync(file('clipboard'), String(text))
      return {}
    }),
    getClipboard: answering('getClipboard', () => ({
      text: existsSync(file('clipboard')) ? readFileSync(file('clipboard'), 'utf8') : '',
    })),
  })
  await new Promise<void>((settle, fail) => {
    server.bindAsync(`127.0.0.1:${port}`, grpc.ServerCredentials.createInsecure(), (error) =>
      error === null ? settle() : fail(error),
    )
  })
}
