/** What the tests of the page tool add to the journalling page: elements that are hard to click, and things to read. */

const extra = `
<style>
  #cover { position: absolute; left: 0; top: 0; width: 100%; height: 100% }
  .framed { position: relative; display: inline-block }
</style>
<p id="story">Seen <span style="display: none">not seen</span> text, grüße 世界.</p>
<span class="framed"><button type="button" id="covered">Under it</button><span id="cover"></span></span>
<button type="button" id="unseen" style="visibility: hidden">Unseen</button>
<button type="button" id="flat" style="width: 0; height: 0; padding: 0; border: 0; overflow: hidden; margin: 0"></button>
<button type="button" id="asks" onclick="setTimeout(() => alert('Really?'))">Ask</button>
<a id="away" href="?left">Leave</a>
<input id="secret" type="password" value="hush" data-kind="word">
<iframe id="inner" srcdoc="<p>Inside the frame</p>" width="200" height="40"></iframe>
<ul>${Array.from({ length: 250 }, (_, index) => `<li class="row" data-n="${index}">Row ${index}</li>`).join('')}</ul>
<div style="overflow: auto; height: 80px"><div style="height: 2000px"></div><button type="button" id="deep">Deep down</button></div>
`

/** Adds the elements to the page's text. */
export const withWebFixture = (html: string): string => html.replace('<script>', `${extra}<script>`)

/** A TCP port of the loopback address that nobody listens on now. */
export const freePort = (): number => {
  const listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  const { port } = listener
  listener.stop(true)
  return port
}
