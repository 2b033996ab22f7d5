/** Every way a Backlot call can fail: one row for each code, from which the edges derive status, text and exit code. */

interface Kind {
  /** When it is met, for the reference page. */
  readonly when: string
  /** Exit code of the shell form. */
  readonly exit: number
  /** Status on HTTP routes of our own, 400 when absent; operations of the VM host's specification answer 400 to all. */
  readonly status?: number
}

const kind = <const Code extends string>(rows: Record<Code, Kind>): Record<Code, Kind> => rows

/** The closed list of failures, keyed by code. */
export const failures = kind({
  invalid_json: { when: 'The text is not JSON, or not a JSON object.', exit: 2 },
  unknown_tool: { when: 'No tool has that name.', exit: 64 },
  tool_not_allowed: { when: '`--read-only` or `--allow` keeps this tool from being called.', exit: 1 },
  argument_not_allowed: {
    when: '`--read-only` keeps this argument from being used: it names a file to write.',
    exit: 1,
  },
  missing_argument: { when: 'A required argument is absent.', exit: 1 },
  unknown_argument: { when: 'The tool takes no argument of that name.', exit: 1 },
  invalid_argument: {
    when: 'An argument has the wrong type, is out of range or is none of the accepted values.',
    exit: 1,
  },
  invalid_environment: { when: 'An environment variable holds a value that cannot be used.', exit: 1 },
  recording_not_started: {
    when: 'The folder of a recording cannot be made, or another recording writes there.',
    exit: 1,
  },
  recording_not_found: { when: 'The folder holds no turns of a recording, or cannot be read.', exit: 1 },
  film_not_exported: { when: 'ffmpeg made no film of a recording, or the file cannot be written.', exit: 1 },
  replay_failed: { when: 'A turn of a recording failed when it was played again.', exit: 1 },
  secret_not_recorded: { when: 'The turn typed a secret, which a recording does not hold.', exit: 1 },
  session_ended: { when: 'The call names a session that has ended.', exit: 1 },
  cancelled: { when: 'The caller cancelled the call.', exit: 1 },
  paused_by_person: { when: 'The person has paused all actions; looking works.', exit: 1 },
  unsupported_platform: { when: 'The native core for this platform is absent or cannot be loaded.', exit: 1 },
  window_not_found: { when: 'No window has that id.', exit: 1 },
  window_not_of_process: { when: 'The window belongs to another process than the one named.', exit: 1 },
  process_has_no_window: { when: 'No window was named and the process has none.', exit: 1 },
  window_not_visible: {
    when: 'A pixel action needs a window on the screen, and it is minimised or elsewhere.',
    exit: 1,
  },
  condition_not_met: { when: 'What was waited for did not happen in time.', exit: 1 },
  window_manager_refused: {
    when: 'The window manager did not activate, move or size the window as asked, or there is none.',
    exit: 1,
  },
  point_outside_window: { when: 'The coordinates lie outside the window.', exit: 1 },
  zoom_required: { when: '`from_zoom` is true and the process or the window has no zoom picture.', exit: 1 },
  window_covered: {
    when: 'Another window lies over the point inside the same frame, where no pointer gets through.',
    exit: 1,
  },
  unknown_key: { when: 'No key has that name.', exit: 1 },
  unsupported_key: { when: 'The key exists on other platforms only.', exit: 1 },
  unknown_modifier: { when: 'No modifier has that name.', exit: 1 },
  application_in_use: {
    when: 'The person works in another window of an application that reads all its keys in one.',
    exit: 1,
  },
  text_not_typable: { when: 'Keys cannot bring some of the characters to the window unchanged.', exit: 1 },
  input_unavailable: { when: 'The X server lacks what input in the background is made of.', exit: 1 },
  too_many_agents: { when: 'The X server has no room for the pointer and keyboard of another agent.', exit: 1 },
  agent_closed: { when: "The agent's pointer was closed before the call.", exit: 1 },
  overlay_unavailable: { when: 'The X server lacks what a cursor is shown with.', exit: 1 },
  cursor_image_unreadable: { when: 'The image for a cursor cannot be read, is too large or shows nothing.', exit: 1 },
  target_required: { when: 'An action names neither an element nor a point.', exit: 1 },
  target_ambiguous: { when: 'An action names both an element and a point.', exit: 1 },
  stale_element: { when: 'The element index is not of the latest snapshot, or the element is gone.', exit: 1 },
  element_disabled: { when: 'The element does not take input now.', exit: 1 },
  element_not_focusable: { when: 'Keys are meant for an element that does not take the focus.', exit: 1 },
  accessibility_unavailable: { when: 'The accessibility bus cannot be reached.', exit: 1 },
  not_accessible: { when: 'The application is not on the accessibility bus.', exit: 1 },
  accessibility_timeout: { when: 'The application did not answer the accessibility bus in time.', exit: 1 },
  accessibility_failed: { when: 'The accessibility connection broke.', exit: 1 },
  unknown_element: { when: 'The snapshot has no element of that index.', exit: 1 },
  action_not_supported: { when: 'The element offers no such action.', exit: 1 },
  action_refused: { when: 'The toolkit took the action and answered that it did not do it.', exit: 1 },
  text_not_supported: { when: 'The element takes no text through accessibility.', exit: 1 },
  value_not_supported: { when: 'The element takes no value, or none of that kind.', exit: 1 },
  value_not_accepted: { when: 'The element has no such option, or the value is out of its range.', exit: 1 },
  menu_not_found: { when: 'The window has no menu that can be read.', exit: 1 },
  menu_item_not_found: { when: 'A menu has no item of that name, or the path ends at a submenu.', exit: 1 },
  menu_item_ambiguous: { when: 'A menu has several items of that name.', exit: 1 },
  menu_closed: { when: 'The toolkit operates the items of open menus alone.', exit: 1 },
  not_on_this_platform: { when: 'The action exists on another platform only.', exit: 1 },
  page_not_found: { when: 'The window shows no web page that can be reached.', exit: 1 },
  page_ambiguous: { when: 'Several pages could be the one that the window shows.', exit: 1 },
  page_needs_debugging_port: { when: 'The browser listens for no debugger, and the action needs one.', exit: 1 },
  page_busy: { when: 'Another client debugs the browser, which takes one at a time.', exit: 1 },
  page_not_responding: { when: 'The page does not answer in time: its own script runs, or it hangs.', exit: 1 },
  page_dialog_open: { when: 'A dialog of the page is open, and nothing goes on before it is answered.', exit: 1 },
  page_gone: { when: 'The page was closed, or left for another, in the middle of the call.', exit: 1 },
  script_failed: { when: 'The script threw, or is no JavaScript.', exit: 1 },
  script_timeout: { when: 'The script, or the promise that it gave, took longer than the limit.', exit: 1 },
  page_element_not_found: { when: 'No element of the page matches the selector.', exit: 1 },
  page_element_not_clickable: {
    when: 'The element that matches is covered, invisible, disabled, without size or out of reach.',
    exit: 1,
  },
  screenshot_not_written: { when: 'The picture cannot be written to the file that was named.', exit: 1 },
  config_unreadable: { when: 'The configuration file cannot be read or holds something else.', exit: 1 },
  config_not_written: { when: 'The configuration file cannot be written.', exit: 1 },
  unknown_image: { when: 'No image on this machine and no recipe has that name.', exit: 1 },
  packages_unavailable: { when: 'The packages that an image is made of cannot be fetched.', exit: 1 },
  image_not_built: { when: 'A step of building an image failed, or its program is absent.', exit: 1 },
  no_accelerator: { when: 'QEMU runs no guest here, neither with KVM nor without.', exit: 1 },
  usage: { when: 'A command is called with a flag or an argument that it does not take.', exit: 64 },
  unknown_command: { when: 'The executable has no command and no tool of that name.', exit: 64 },
  unknown_method: { when: 'A line on the socket names no method of the daemon.', exit: 64 },
  message_too_long: { when: 'A line on the socket is longer than the limit.', exit: 1 },
  socket_refused: { when: "The folder or the file of the socket is not the caller's own.", exit: 1 },
  already_running: {
    when: 'A second daemon is started on the socket of a living one, or a second VM host looks after the VMs of a home.',
    exit: 1,
  },
  not_running: { when: 'No daemon listens on the socket.', exit: 1 },
  daemon_unavailable: { when: 'The daemon did not start or does not answer.', exit: 1 },
  daemon_mismatch: { when: 'The daemon has another version, display or session bus than the caller.', exit: 1 },
  daemon_lost: { when: 'The daemon ended in the middle of a call, whose outcome is unknown.', exit: 1 },
  display_unavailable: { when: 'No display can be opened under that name.', exit: 1 },
  display_lost: { when: 'The connection to the display is gone.', exit: 1 },
  display_refused: { when: 'The X server refused a request.', exit: 1 },
  process_not_found: { when: 'No process has that pid.', exit: 1 },
  protected_process: {
    when: 'The process keeps this desktop or the driver alive and is not ended.',
    exit: 1,
  },
  process_not_killed: { when: 'The process may not be ended by this user, or it did not end.', exit: 1 },
  app_not_found: { when: 'No application has that bundle_id or name.', exit: 1 },
  app_not_named: { when: 'Neither bundle_id nor name says what to launch.', exit: 1 },
  launch_failed: { when: 'The program could not be started, or ended at once with an error.', exit: 1 },
  terminal_not_found: { when: 'The application wants a terminal and none is installed.', exit: 1 },
  capture_failed: { when: 'The pixels of a window or of the screen cannot be read.', exit: 1 },
  film_not_written: { when: 'The film of a display cannot be written where it was to be.', exit: 1 },
  clipboard_timeout: { when: 'The program that owns the clipboard does not answer.', exit: 1 },
  clipboard_too_large: { when: 'The clipboard holds more than 64 MiB in one form.', exit: 1 },
  invalid_body: { when: 'The body of a request is absent, not JSON, too large, or a field of it is wrong.', exit: 1 },
  unknown_operation: { when: 'No operation has that method and path.', exit: 1, status: 404 },
  foreign_host: {
    when: 'The `Host` of a request is not the address that the service listens on.',
    exit: 1,
    status: 403,
  },
  foreign_origin: { when: 'A web page that is not ours sent the request.', exit: 1, status: 403 },
  from_guest: {
    when: 'A guest asks the service that runs it, which asks nobody for a token.',
    exit: 1,
    status: 403,
  },
  unauthorized: {
    when: 'The service asks for a token, and the request carries none or another.',
    exit: 1,
    status: 401,
  },
  token_required: { when: 'A service is to listen beyond this machine without asking for a token.', exit: 1 },
  no_console: { when: 'The service listens on a Unix socket, where no browser reaches its console.', exit: 1 },
  no_screen: { when: 'The VM does not run, or runs without its display.', exit: 1, status: 409 },
  not_a_socket: { when: 'A plain request asks for what only a WebSocket is given.', exit: 1, status: 426 },
  cannot_listen: { when: 'The address is taken, or is none of this machine.', exit: 1 },
  host_unreachable: { when: 'No VM host answers at the address.', exit: 1 },
  invalid_directory: { when: 'A folder cannot be used: relative, no folder, not to be made or not writable.', exit: 1 },
  location_exists: { when: 'A storage location has that name or that folder already.', exit: 1 },
  location_not_found: { when: 'No storage location has that name.', exit: 1 },
  location_not_removable: { when: 'The location is the default or the home directory.', exit: 1 },
  disk_not_found: { when: 'No file has the path of a disk, or of one that it lies on.', exit: 1 },
  disk_exists: { when: 'A file has the path of a disk that is to be made.', exit: 1 },
  disk_unreadable: { when: 'The file of a disk cannot be opened or read.', exit: 1 },
  disk_not_written: { when: 'The file of a disk cannot be made or written.', exit: 1 },
  disk_corrupt: { when: 'A disk contradicts itself or its format.', exit: 1 },
  disk_unsupported: { when: 'A disk is sound but uses what Backlot does not do.', exit: 1 },
  disk_in_use: { when: 'A hypervisor or a tool has the disk open that is to be changed.', exit: 1 },
  disk_not_shrunk: { when: 'A disk would become smaller than it is, or than the one that it lies on.', exit: 1 },
  hypervisor_unreachable: { when: "Nobody listens on a hypervisor's socket.", exit: 1 },
  hypervisor_timeout: { when: 'A hypervisor did not answer in time.', exit: 1 },
  hypervisor_lost: { when: 'The connection to a hypervisor ended, in the middle of a command perhaps.', exit: 1 },
  hypervisor_garbled: { when: "What answers on a hypervisor's socket does not speak its protocol.", exit: 1 },
  hypervisor_refused: { when: 'A hypervisor answered a command with an error.', exit: 1 },
  job_failed: { when: 'Work that a hypervisor does on its own ended with an error.', exit: 1 },
  job_not_found: { when: 'A hypervisor has no job of that name.', exit: 1 },
  vm_not_found: { when: 'No VM has that name where it was looked for.', exit: 1, status: 404 },
  vm_exists: { when: 'A VM, or something else, has that name there already.', exit: 1 },
  vm_damaged: { when: 'A file of a VM cannot be read or holds something else.', exit: 1 },
  vm_running: {
    when: 'The VM runs, and what is asked needs it stopped; or it is to be run again.',
    exit: 1,
    status: 409,
  },
  vm_not_running: { when: 'The VM does not run, so that it cannot be stopped.', exit: 1, status: 409 },
  agent_unavailable: {
    when: 'No guest agent answers in the VM, or it refuses the command.',
    exit: 1,
    status: 409,
  },
  guest_timeout: { when: 'A command in a guest took longer than it was allowed.', exit: 1, status: 409 },
  vm_busy: { when: 'Something else that takes long is being done with the VM.', exit: 1, status: 409 },
  vm_not_stopped: { when: 'The hypervisor of a VM did not end, whatever was tried.', exit: 1 },
  hypervisor_failed: { when: 'The hypervisor ended before the VM ran.', exit: 1 },
  port_in_use: { when: 'Another program listens on a port that a VM needs.', exit: 1 },
  host_memory: { when: 'The host has not the memory that a VM asks for.', exit: 1 },
  disk_full: { when: 'There is no room left for a file that is needed.', exit: 1 },
  disk_tool_failed: { when: '`qemu-img` failed on a disk, for a reason that it gives.', exit: 1 },
  file_not_found: { when: 'A file that a VM is made from, or boots from, is not there or cannot be read.', exit: 1 },
  image_not_found: { when: 'No image on this machine has that name.', exit: 1, status: 404 },
  image_damaged: { when: 'The description of an image cannot be read or names files that are not there.', exit: 1 },
  download_failed: { when: 'A file cannot be fetched from its address.', exit: 1 },
  macos_only: { when: 'The option or operation is for guests with macOS.', exit: 1 },
  macos_unavailable: { when: 'A guest with macOS is to be made on a host that cannot run one.', exit: 1 },
  location_in_use: {
    when: 'VMs of the location run or are being made, or disks elsewhere depend on its files.',
    exit: 1,
  },
  storage_unreadable: { when: 'The folder of a storage location cannot be read.', exit: 1 },
  storage_unusable: { when: 'The system refuses to make, change or remove files that are needed.', exit: 1 },
  operation_not_found: { when: 'No operation has that id, or it was long ago.', exit: 1, status: 404 },
  operation_over: { when: 'The operation has ended, so that nothing can be cancelled.', exit: 1, status: 409 },
  logs_unreadable: { when: 'The log file cannot be read.', exit: 1 },
  missing_program: { when: 'A program that Backlot starts is not installed.', exit: 1 },
  desktop_not_started: { when: 'A part of a private desktop ended or kept silent before it was ready.', exit: 1 },
  desktop_lost: { when: 'A part of a private desktop ended while it was in use.', exit: 1 },
  user_without_name: { when: 'The user id has no entry in the user database, which D-Bus needs.', exit: 1 },
  internal: { when: 'A defect in Backlot.', exit: 1, status: 500 },
})

/** A failure's code. */
export type FailureCode = keyof typeof failures

/** A failed call: `code` is stable, `message` names the thing and ends with the next step, `data` holds the facts. */
export class Failure extends Error {
  override readonly name = 'Failure'

  constructor(
    readonly code: FailureCode,
    message: string,
    readonly data: Readonly<Record<string, unknown>> = {},
  ) {
    super(message)
  }

  /** Gives any thrown value its code: failures stay as they are, coded errors of the native core keep their code. */
  static from(error: unknown): Failure {
    if (error instanceof Failure) return error
    const { code, message } = error as { code?: unknown; message?: unknown }
    const text = typeof message === 'string' ? message : String(error)
    return typeof code === 'string' && Object.hasOwn(failures, code)
      ? new Failure(code as FailureCode, text)
      : new Failure('internal', text)
  }
}
