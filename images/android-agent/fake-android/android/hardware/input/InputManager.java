package android.hardware.input;

import android.FakeState;
import android.view.InputEvent;
import android.view.KeyEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** Events are written to `agent-events`, one a line; a field that has the focus is pasted into as `typed`. */
public final class InputManager {
  private static final int KEYCODE_PASTE = 279;

  private static final InputManager INSTANCE = new InputManager();

  public static InputManager getInstance() {
    return INSTANCE;
  }

  public boolean injectInputEvent(InputEvent event, int mode) throws IOException {
    if (FakeState.has("refuse.events")) return false;
    FakeState.append("agent-events", event + "\n");
    if (!(event instanceof KeyEvent)) return true;
    KeyEvent key = (KeyEvent) event;
    if (mode != 2) throw new IllegalArgumentException("a key whose end is not waited for");
    if (key.fakeAction != KeyEvent.ACTION_DOWN) return true;
    if (key.fakeCode != KEYCODE_PASTE) FakeState.append("typed", String.valueOf((char) ('a' + key.fakeCode - 29)));
    else FakeState.append("typed", new String(Files.readAllBytes(FakeState.path("clipboard")), StandardCharsets.UTF_8));
    return true;
  }
}
