package android.view;

/** A keyboard with the small letters of English alone. */
public class KeyCharacterMap {
  public static final int VIRTUAL_KEYBOARD = -1;

  private static final int KEYCODE_A = 29;

  public static KeyCharacterMap load(int deviceId) {
    return new KeyCharacterMap();
  }

  public KeyEvent[] getEvents(char[] characters) {
    KeyEvent[] events = new KeyEvent[characters.length * 2];
    for (int at = 0; at < characters.length; at++) {
      if (characters[at] < 'a' || characters[at] > 'z') return null;
      for (int action = 0; action < 2; action++) {
        events[at * 2 + action] = new KeyEvent(1, 1, action, KEYCODE_A + characters[at] - 'a', 0, 0, -1, 0, 0, 0x101);
      }
    }
    return events;
  }
}
