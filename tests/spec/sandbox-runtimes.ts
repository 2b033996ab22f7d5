/** Requirements of transports, runtimes, the layer executor, the computer server and the Android container. */
import { needsAndroid } from './reasons.ts'
import type { Rows } from './requirement.ts'

export const sandboxRuntimes = {
  'sandbox.runtime-info.host': 'RuntimeInfo has a host.',
  'sandbox.runtime-info.api-port': 'RuntimeInfo has an api_port.',
  'sandbox.runtime-info.vnc-port': 'RuntimeInfo may have a vnc_port.',
  'sandbox.runtime-info.api-key': 'RuntimeInfo may have an api_key.',
  'sandbox.runtime-info.container-id': 'RuntimeInfo may have a container_id.',
  'sandbox.runtime-info.name': 'RuntimeInfo may have a name.',
  'sandbox.runtime-info.qmp-port': 'RuntimeInfo may have a qmp_port.',
  'sandbox.runtime-info.environment': 'RuntimeInfo may have an environment.',
  'sandbox.runtime-info.agent-type': 'RuntimeInfo may have an agent_type.',
  'sandbox.runtime-info.guest-server-port': 'RuntimeInfo has a guest_server_port, 8000 by default.',
  'sandbox.runtime-info.ssh-port': 'RuntimeInfo may have an ssh_port.',
  'sandbox.runtime-info.ssh-username': 'RuntimeInfo may have an ssh_username.',
  'sandbox.runtime-info.ssh-password': 'RuntimeInfo may have an ssh_password.',
  'sandbox.runtime-info.ssh-key-filename': 'RuntimeInfo may have an ssh_key_filename.',
  'sandbox.runtime-info.vnc-host': 'RuntimeInfo may have a vnc_host.',
  'sandbox.runtime-info.vnc-password': 'RuntimeInfo may have a vnc_password.',
  'sandbox.runtime-info.grpc-port': 'RuntimeInfo may have a grpc_port.',

  'sandbox.transport': 'A transport has connect, disconnect, send, screenshot, get_screen_size and get_environment.',
  'sandbox.transport.tunnel':
    'A transport with tunnels overrides forward_tunnel; close_tunnel does nothing by default.',
  'sandbox.transport.display-url': 'get_display_url is refused by transports that expose no display.',
  'sandbox.transport.cloud': 'CloudTransport takes its eight parameters and adds delete, suspend, resume, restart.',
  'sandbox.transport.http': 'HTTPTransport takes base_url, api_key, container_name, timeout and posts to /cmd.',
  'sandbox.transport.websocket': 'WebSocketTransport takes url and api_key.',
  'sandbox.transport.local': 'LocalTransport sends commands to the automation of the host.',
  'sandbox.runtime.start': 'A runtime starts an image under a name and gives RuntimeInfo.',
  'sandbox.runtime.stop': 'A runtime stops a name.',
  'sandbox.runtime.is-ready': 'is_ready waits until the sandbox is ready, 120 s by default.',
  'sandbox.runtime.suspend-resume': 'A runtime suspends a name and resumes it with RuntimeInfo.',
  'sandbox.runtime.list': 'A runtime lists records with at least name and status.',
  'sandbox.layers.constructor': 'LayerExecutor takes base_url and a timeout of 600 s.',
  'sandbox.layers.run-command': 'run_command runs a command with its own timeout.',
  'sandbox.layers.execute-layer': 'execute_layer executes one layer and gives its result.',
  'sandbox.layers.execute-layers': 'execute_layers goes one by one and raises on the first failure.',
  'sandbox.create-overlay': 'create_overlay makes a qcow2 overlay with the given backing file and gives its path.',

  'sandbox.server.cmd': 'POST /cmd takes command and params and answers as an event stream.',
  'sandbox.server.command': '`command` is the name of the command.',
  'sandbox.server.params': '`params` is an object and may be empty.',
  'sandbox.server.get-screen-size': 'The command get_screen_size takes empty params.',
  'sandbox.server.launch': 'The command launch takes `app`, on Android the id of a package.',
  'sandbox.server.set-wallpaper': 'The command set_wallpaper takes `path` on the device and `target`.',
  'sandbox.server.transports': 'The SDK talks to the computer server over HTTP or WebSocket.',

  'sandbox.android.image': {
    text: 'The image runs an Android 11 emulator with a computer server.',
    deferred: needsAndroid,
  },
  'sandbox.android.web-vnc': 'The image gives VNC in a browser.',
  'sandbox.android.snapshot': {
    text: 'The image supports memory snapshots.',
    deferred: `the memory is the emulator's; that the entry saves and loads it is tested with a stand-in; ${needsAndroid}`,
  },
  'sandbox.android.kvm': 'The container needs Linux with KVM and /dev/kvm attached.',
  'sandbox.android.emulator-device': 'EMULATOR_DEVICE is the name of the device profile.',
  'sandbox.android.web-vnc-env': 'WEB_VNC, true by default, turns VNC in the browser on.',
  'sandbox.android.port-6080': 'Port 6080 serves VNC in the browser.',
  'sandbox.android.port-8000': 'Port 8000 serves the computer server, with its description at /docs.',
  'sandbox.android.launch': {
    text: 'It is started detached with both ports published, the device attached and any name.',
    deferred: `the line is tested by a real engine with stand-ins for the emulator and /dev/kvm (tests/soak); ${needsAndroid}`,
  },

  'sandbox.errors.display-url': 'get_display_url fails on transports without a display: HTTP and adb.',
  'sandbox.errors.first-layer': 'The first failing layer ends execute_layers.',

  'sandbox.limits.http-timeout': 'HTTPTransport times out after 30.0 s by default.',
  'sandbox.limits.layer-timeout': 'LayerExecutor times out after 600 s by default.',
  'sandbox.limits.ready-timeout': 'is_ready times out after 120 s by default.',
  'sandbox.limits.guest-port': 'The computer server listens on 8000 in a guest by default.',
} as const satisfies Rows
