package backlot.agent;

import android.view.InputEvent;
import java.io.IOException;
import java.lang.reflect.Method;

/** Sends events of keys and fingers to Android, as only the shell and the system may. */
final class Input {
  /** Android does not wait for the application. */
  static final int WITHOUT_WAITING = 0;
  /** Android answers when the application has dealt with the event. */
  static final int UNTIL_FINISHED = 2;

  private final Object manager;
  private final Method inject;

  Input() throws ReflectiveOperationException {
    Class<?> type = Class.forName("android.hardware.input.InputManager");
    manager = type.getDeclaredMethod("getInstance").invoke(null);
    inject = type.getMethod("injectInputEvent", InputEvent.class, int.class);
  }

  void send(InputEvent event, int mode) throws ReflectiveOperationException, IOException {
    if (!Boolean.TRUE.equals(inject.invoke(manager, event, mode))) throw new IOException("Android has not taken " + event);
  }
}
