package backlot.agent;

import android.content.ClipData;
import android.os.SystemClock;
import android.view.InputDevice;
import android.view.KeyCharacterMap;
import android.view.KeyEvent;

/** Types any text: by keys where the keyboard has them for all of it, else by pasting it. */
final class Typing {
  private static final int KEYCODE_PASTE = 279;

  private final Input input;
  private final Clipboard clipboard;

  Typing(Input input, Clipboard clipboard) {
    this.input = input;
    this.clipboard = clipboard;
  }

  void type(String text) throws Exception {
    KeyEvent[] events = KeyCharacterMap.load(KeyCharacterMap.VIRTUAL_KEYBOARD).getEvents(text.toCharArray());
    if (events == null) {
      paste(text);
      return;
    }
    for (KeyEvent event : events) input.send(event, Input.UNTIL_FINISHED);
  }

  private void paste(String text) throws Exception {
    ClipData before = clipboard.content();
    clipboard.set(text);
    try {
      // The application has read the clipboard by the time that it has dealt with the key.
      for (int action : new int[] {KeyEvent.ACTION_DOWN, KeyEvent.ACTION_UP}) {
        long now = SystemClock.uptimeMillis();
        input.send(new KeyEvent(now, now, action, KEYCODE_PASTE, 0, 0, KeyCharacterMap.VIRTUAL_KEYBOARD, 0, 0,
            InputDevice.SOURCE_KEYBOARD), Input.UNTIL_FINISHED);
      }
    } finally {
      clipboard.restore(before);
    }
  }
}
