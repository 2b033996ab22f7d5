/** The least that an Elysia server can be: the floor of the service. */
import { Elysia } from 'elysia'

const app = new Elysia().get('/', () => []).listen({ hostname: '127.0.0.1', port: 0 })
console.log(`http://127.0.0.1:${app.server?.port}`)
