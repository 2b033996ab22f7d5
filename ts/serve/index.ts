/** What every HTTP server of ours needs. */

export { bearerKey, isKey, type Rules } from './access/guard.ts'
export { pagePolicy, secured } from './headers.ts'
export { readInput } from './input.ts'
export {
  type BoundServer,
  type Key,
  type ListeningServer,
  type ListenOptions,
  listen,
  type RequestHandler,
  type Service,
} from './listen.ts'
export { openApi, refusals } from './openapi.ts'
export { assetsOf } from './pages/assets.ts'
export { docsAnswer } from './pages/pages.ts'
export { refusedPage } from './pages/refused-page.ts'
export { addOperations, endpointsOf, guardedApp, pathOf, type Refusal, routeOf } from './routes.ts'
export { joinScreen, type ScreenAddress, screenHandler } from './screen.ts'
export { type EventSink, eventStream } from './sockets/event-stream.ts'
export type { SocketHandler, UpgradeWebSocket, WebSocketOfServer } from './sockets/web-sockets.ts'
