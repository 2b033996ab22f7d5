/** The commands of the computer server as they are sent; `./dev gen` writes this of their declarations. */

/** Parameters and results of the commands of the computer server, by name. */
export interface Commands {
  /** Tell the versions of the protocol and of Backlot. */
  readonly version: {
    readonly params: object
    readonly result: { protocol: number; package: string }
  }
  /** Tell what kind of computer it is. */
  readonly get_environment: {
    readonly params: object
    readonly result: { environment: 'linux' | 'mac' | 'windows' | 'android' }
  }
  /** Tell which desktop environment runs. */
  readonly get_desktop_environment: {
    readonly params: object
    readonly result: {
      /** Such as `xfce`; the name of the window manager where there is none. */
      environment: string
      /** The same. */
      desktop_environment: string
    }
  }
  /** Set the picture behind the windows. */
  readonly set_wallpaper: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
      /** Which screen, where there are two; `home` when absent. */
      target?: 'home' | 'lock' | 'both'
    }
    readonly result: object
  }
  /** Open a file or an address with the application for it. */
  readonly open: {
    readonly params: {
      /** Path or address. */
      target: string
    }
    readonly result: {
      /** The process that was started. */
      pid: number
    }
  }
  /** Start an application. */
  readonly launch: {
    readonly params: {
      /** Its name, its command, or a package on Android. */
      app: string
      /** What it is given. */
      args?: string[]
      /** Seconds that its window is waited for; 0 when absent. */
      wait?: number
    }
    readonly result: {
      /** The process that was started. */
      pid: number
      /** The window that came; null where none was waited for, or came. */
      window_id: number | null
      /** False where the process has ended, as where it handed over to another. */
      running: boolean
    }
  }
  /** Take a picture of the whole screen. */
  readonly screenshot: {
    readonly params: {
      /** Format; `png` when absent. */
      format?: 'png' | 'jpeg' | 'jpg'
      /** Quality of a JPEG; 95 when absent. */
      quality?: number
    }
    readonly result: {
      /** The picture, in base64. */
      image_data: string
      format: 'png' | 'jpeg'
      /** Pixels. */
      width: number
      /** Pixels. */
      height: number
    }
  }
  /** Tell how large the screen is. */
  readonly get_screen_size: {
    readonly params: object
    readonly result: { size: { width: number; height: number } }
  }
  /** Turn a place in a screenshot into one on the screen. */
  readonly to_screen_coordinates: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x: number
      /** Down from the top, in screen pixels. */
      y: number
    }
    readonly result: { coordinates: number[] }
  }
  /** Turn a place on the screen into one in a screenshot. */
  readonly to_screenshot_coordinates: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x: number
      /** Down from the top, in screen pixels. */
      y: number
    }
    readonly result: { coordinates: number[] }
  }
  /** Tell where the pointer is. */
  readonly get_cursor_position: {
    readonly params: object
    readonly result: { position: { x: number; y: number } }
  }
  /** Click, with the left button where no other is named. */
  readonly left_click: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
      /** Keys held meanwhile, such as `ctrl`. */
      modifiers?: string[]
    }
    readonly result: object
  }
  /** Click with the right button. */
  readonly right_click: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Keys held meanwhile, such as `ctrl`. */
      modifiers?: string[]
    }
    readonly result: object
  }
  /** Click with the middle button. */
  readonly middle_click: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Keys held meanwhile, such as `ctrl`. */
      modifiers?: string[]
    }
    readonly result: object
  }
  /** Click twice, as fast as it takes to count as one double click. */
  readonly double_click: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
      /** Keys held meanwhile, such as `ctrl`. */
      modifiers?: string[]
    }
    readonly result: object
  }
  /** Click three times, which selects a line in most editors. */
  readonly triple_click: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
      /** Keys held meanwhile, such as `ctrl`. */
      modifiers?: string[]
    }
    readonly result: object
  }
  /** Press a button and keep it down. */
  readonly mouse_down: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
    }
    readonly result: object
  }
  /** Let a button go. */
  readonly mouse_up: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
    }
    readonly result: object
  }
  /** Move the pointer. */
  readonly move_cursor: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x: number
      /** Down from the top, in screen pixels. */
      y: number
    }
    readonly result: object
  }
  /** Press a button, move along a path, let it go. */
  readonly drag: {
    readonly params: {
      /** Places `[x, y]` on the way. */
      path?: number[][]
      /** Across from the left, in screen pixels. */
      start_x?: number
      /** Down from the top, in screen pixels. */
      start_y?: number
      /** Across from the left, in screen pixels. */
      end_x?: number
      /** Down from the top, in screen pixels. */
      end_y?: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
      /** Seconds from the press to the release; 0.5 when absent. */
      duration?: number
    }
    readonly result: object
  }
  /** Press a button where the pointer is, move to a place, let it go. */
  readonly drag_to: {
    readonly params: {
      /** Across from the left, in screen pixels. */
      x: number
      /** Down from the top, in screen pixels. */
      y: number
      /** Button; `left` when absent. */
      button?: 'left' | 'middle' | 'right'
      /** Seconds from the press to the release; 0.5 when absent. */
      duration?: number
    }
    readonly result: object
  }
  /** Turn the wheel. */
  readonly scroll: {
    readonly params: {
      /** Right; with `scroll_x` or `scroll_y` the place to scroll at, in screen pixels; otherwise notches of the wheel. */
      x?: number
      /** Up; with `scroll_x` or `scroll_y` the place to scroll at, in screen pixels; otherwise notches of the wheel. */
      y?: number
      /** Right; otherwise notches of the wheel. */
      scroll_x?: number
      /** Up; otherwise notches of the wheel. */
      scroll_y?: number
    }
    readonly result: object
  }
  /** Turn the wheel up. */
  readonly scroll_up: {
    readonly params: {
      /** Notches of the wheel; 1 when absent. */
      clicks?: number
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
    }
    readonly result: object
  }
  /** Turn the wheel down. */
  readonly scroll_down: {
    readonly params: {
      /** Notches of the wheel; 1 when absent. */
      clicks?: number
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
    }
    readonly result: object
  }
  /** Turn the wheel in a direction. */
  readonly scroll_direction: {
    readonly params: {
      /** Which way. */
      direction: 'up' | 'down' | 'left' | 'right'
      /** Notches of the wheel; 1 when absent. */
      clicks?: number
      /** Across from the left, in screen pixels. */
      x?: number
      /** Down from the top, in screen pixels. */
      y?: number
    }
    readonly result: object
  }
  /** Type a text, with the keys of the keyboard and whatever characters it has; line breaks are Return. */
  readonly type_text: {
    readonly params: {
      /** The text. */
      text: string
      /** Seconds after each character; none when absent. */
      delay?: number
    }
    readonly result: object
  }
  /** Press a key and let it go. */
  readonly press_key: {
    readonly params: {
      /** Name of a key, as X11, browsers or people call it, in any case: `Return`, `enter`, `page_down`, `a`. */
      key: string
    }
    readonly result: object
  }
  /** Press a key and keep it down, until `key_up` or the end of the server. */
  readonly key_down: {
    readonly params: {
      /** Name of a key, as X11, browsers or people call it, in any case: `Return`, `enter`, `page_down`, `a`. */
      key: string
    }
    readonly result: object
  }
  /** Let a key go. */
  readonly key_up: {
    readonly params: {
      /** Name of a key, as X11, browsers or people call it, in any case: `Return`, `enter`, `page_down`, `a`. */
      key: string
    }
    readonly result: object
  }
  /** Press keys one after the other, then let them go in reverse. */
  readonly hotkey: {
    readonly params: {
      /** Names of keys, such as `["ctrl", "c"]`. */
      keys: string[] | string
    }
    readonly result: object
  }
  /** Read the text of the clipboard. */
  readonly copy_to_clipboard: {
    readonly params: object
    readonly result: {
      /** The text; empty where the clipboard holds none. */
      content: string
      /** The same. */
      result: string
    }
  }
  /** Put a text into the clipboard. */
  readonly set_clipboard: {
    readonly params: {
      /** The text. */
      text: string
    }
    readonly result: object
  }
  /** Run a shell command and wait for its end; what it leaves in the background goes on. */
  readonly run_command: {
    readonly params: {
      /** What `sh -c` runs. */
      command?: string
      /** The same, as some clients name it. */
      command_args?: string
      /** Seconds until all its processes are ended; none when absent. */
      timeout?: number
      /** Folder to run in; the home folder when absent. */
      cwd?: string
      /** Variables beside those of the server. */
      env?: { [name: string]: string }
      /** What it reads; nothing when absent. */
      stdin?: string
      /** True where what it reads comes by `command_input`, to whose end it waits. */
      stdin_open?: boolean
    }
    readonly result: {
      /** What is no UTF-8 becomes U+FFFD. */
      stdout: string
      stderr: string
      /** Exit status; 128 + N where signal N ended it. */
      return_code: number
      /** The same. */
      returncode: number
      /** True where an output was longer than is kept; its end is given then. */
      truncated?: boolean
    }
  }
  /** Give a running command more to read; its `run_command` said `stdin_open`. */
  readonly command_input: {
    readonly params: {
      /** Process of the command, as the event `started` of its stream gave it. */
      pid: number
      /** Bytes, in base64; none when absent. */
      data_b64?: string
      /** True where nothing follows. */
      end?: boolean
    }
    readonly result: object
  }
  /** Send a signal to a running command and to all that it started. */
  readonly command_signal: {
    readonly params: {
      /** Process of the command, as the event `started` of its stream gave it. */
      pid: number
      /** Such as `SIGINT`; `SIGTERM` when absent. */
      signal?: string
    }
    readonly result: object
  }
  /** Tell whether a path names a file. */
  readonly file_exists: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: { exists: boolean }
  }
  /** Tell whether a path names a folder. */
  readonly directory_exists: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: { exists: boolean }
  }
  /** List what is in a folder. */
  readonly list_dir: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: {
      /** Names, sorted. */
      files: string[]
      entries: {
        name: string
        is_dir: boolean
        /** Bytes. */
        size: number
        /** A device, pipe or socket counts as a file. */
        type: 'file' | 'directory' | 'symlink'
        /** ISO 8601, UTC. */
        modified_at: string
        /** Where a link leads, as it is written. */
        target?: string
      }[]
    }
  }
  /** Tell what is at a path. */
  readonly stat: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: {
      name: string
      /** Absolute. */
      path: string
      /** Bytes. */
      size: number
      /** A device, pipe or socket counts as a file. */
      type: 'file' | 'directory' | 'symlink'
      /** ISO 8601, UTC. */
      modified_at: string
      /** Where a link leads, as it is written. */
      target?: string
    }
  }
  /** Move or rename a file or folder; a file that is there is replaced. */
  readonly move_path: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      from: string
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      to: string
    }
    readonly result: object
  }
  /** Remove what is at a path: a file, a link, an empty folder, or a folder with all that is in it. */
  readonly remove_path: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
      /** A folder may hold something. */
      recursive?: boolean
    }
    readonly result: object
  }
  /** Read a file as UTF-8. */
  readonly read_text: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: {
      /** What is no UTF-8 becomes U+FFFD. */
      content: string
    }
  }
  /** Write a file; what was there before is replaced whole or not at all. */
  readonly write_text: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
      content: string
      /** Add to the end of the file instead. */
      append?: boolean
    }
    readonly result: object
  }
  /** Read a file or a part of it, at most 64 MiB at a time. */
  readonly read_bytes: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
      /** Bytes from the beginning; 0 when absent. */
      offset?: number
      /** Bytes; up to the end when absent. */
      length?: number
    }
    readonly result: {
      /** The bytes, in base64. */
      content_b64: string
      /** The same. */
      content: string
    }
  }
  /** Write bytes to a file; what was there before is replaced whole or not at all. */
  readonly write_bytes: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
      /** The bytes, in base64. */
      content_b64: string
      /** Add to the end of the file instead. */
      append?: boolean
    }
    readonly result: object
  }
  /** Tell how long a file is. */
  readonly get_file_size: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: {
      /** Bytes. */
      size: number
    }
  }
  /** Delete a file. */
  readonly delete_file: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: object
  }
  /** Make a folder, with those above it; one that is there already is fine. */
  readonly create_dir: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: object
  }
  /** Delete a folder with all that is in it. */
  readonly delete_dir: {
    readonly params: {
      /** Path of a file or folder; `~` is the home folder, a relative one counts from there. */
      path: string
    }
    readonly result: object
  }
  /** Tell which window is active. */
  readonly get_current_window_id: {
    readonly params: object
    readonly result: { window_id: number }
  }
  /** List the windows of an application. */
  readonly get_application_windows: {
    readonly params: {
      /** Its name, in any case. */
      app: string
    }
    readonly result: {
      /** Ids, the front one first. */
      windows: number[]
    }
  }
  /** List the windows, the front one first. */
  readonly list_windows: {
    readonly params: {
      /** A part of the name of their application, in any case. */
      app?: string
    }
    readonly result: {
      windows: {
        window_id: number
        app_name: string
        /** Empty where it has none. */
        title: string
        bounds: { x: number; y: number; width: number; height: number }
        /** True where it has the focus. */
        active: boolean
      }[]
    }
  }
  /** Tell the title of a window. */
  readonly get_window_name: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: { name: string }
  }
  /** Tell how large a window is. */
  readonly get_window_size: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: { width: number; height: number; size: { width: number; height: number } }
  }
  /** Tell where a window is. */
  readonly get_window_position: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: { x: number; y: number; position: { x: number; y: number } }
  }
  /** Resize a window. */
  readonly set_window_size: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
      /** Pixels. */
      width: number
      /** Pixels. */
      height: number
    }
    readonly result: object
  }
  /** Move a window. */
  readonly set_window_position: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
      /** Screen pixels. */
      x: number
      /** Screen pixels. */
      y: number
    }
    readonly result: object
  }
  /** Move and resize a window, as far as is given. */
  readonly set_window_bounds: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
      /** Screen pixels. */
      x?: number
      /** Screen pixels. */
      y?: number
      /** Pixels. */
      width?: number
      /** Pixels. */
      height?: number
    }
    readonly result: object
  }
  /** Maximise a window. */
  readonly maximize_window: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: object
  }
  /** Minimise a window. */
  readonly minimize_window: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: object
  }
  /** Bring a window to the front and make it active. */
  readonly activate_window: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: object
  }
  /** Ask a window to close. */
  readonly close_window: {
    readonly params: {
      /** Id of a window; the active one when absent. */
      window_id?: number | string
    }
    readonly result: object
  }
  /** Tell the title of the active window. */
  readonly get_active_window_title: {
    readonly params: object
    readonly result: {
      /** Empty where no window is active. */
      result: string
    }
  }
  /** Tell where the active window is and how large. */
  readonly get_active_window_bounds: {
    readonly params: object
    readonly result: { bounds: { x: number; y: number; width: number; height: number } }
  }
  /** Read the accessibility tree of everything on the screen. */
  readonly get_accessibility_tree: {
    readonly params: object
    readonly result: {
      tree: {
        role: string
        /** The name that it shows; may be empty. */
        title: string
        value: string | null
        enabled: boolean
        /** Screen pixels. */
        position: { x: number; y: number }
        size: { width: number; height: number }
        bounds: { x: number; y: number; width: number; height: number }
        actions: string[]
        children: unknown[]
      }
      /** True where an application did not answer or had more than is read. */
      truncated: boolean
    }
  }
  /** Find an element by its role, title or value; texts match in part and in any case. */
  readonly find_element: {
    readonly params: { role?: string; title?: string; value?: string }
    readonly result: {
      element: {
        role: string
        /** The name that it shows; may be empty. */
        title: string
        value: string | null
        enabled: boolean
        /** Screen pixels. */
        position: { x: number; y: number }
        size: { width: number; height: number }
        bounds: { x: number; y: number; width: number; height: number }
        actions: string[]
        children: unknown[]
      }
      /** How many match. */
      count: number
    }
  }
  /** Start a shell in a terminal. */
  readonly terminal_create: {
    readonly params: {
      /** Program and arguments; `bash` when absent. */
      shell?: string
      /** Columns. */
      cols?: number
      /** Lines. */
      rows?: number
      /** Folder to run in; the home folder when absent. */
      cwd?: string
      /** Variables beside those of the server. */
      env?: { [name: string]: string }
    }
    readonly result: {
      /** Process of the terminal, as `terminal_create` gave it. */
      pid: number
      /** Columns. */
      cols: number
      /** Lines. */
      rows: number
    }
  }
  /** Send input to a terminal, as it is. */
  readonly terminal_send: {
    readonly params: {
      /** Process of the terminal, as `terminal_create` gave it. */
      pid: number
      data: string
    }
    readonly result: object
  }
  /** Resize a terminal. */
  readonly terminal_resize: {
    readonly params: {
      /** Process of the terminal, as `terminal_create` gave it. */
      pid: number
      /** Columns. */
      cols: number
      /** Lines. */
      rows: number
    }
    readonly result: object
  }
  /** End a terminal and all that runs in it. */
  readonly terminal_close: {
    readonly params: {
      /** Process of the terminal, as `terminal_create` gave it. */
      pid: number
    }
    readonly result: {
      /** Its exit status. */
      result: number | null
      /** False where it had ended before. */
      killed: boolean
    }
  }
  /** Move several fingers at the same time. */
  readonly multitouch_gesture: {
    readonly params: {
      fingers: { start: number[]; end: number[] }[]
      screen_w?: number
      screen_h?: number
      duration_ms?: number
      steps?: number
    }
    readonly result: object
  }
}
