package android.view;

public class KeyEvent extends InputEvent {
  public static final int ACTION_DOWN = 0;
  public static final int ACTION_UP = 1;

  public final int fakeAction;
  public final int fakeCode;

  public KeyEvent(
      long downTime,
      long eventTime,
      int action,
      int code,
      int repeat,
      int metaState,
      int deviceId,
      int scancode,
      int flags,
      int source) {
    fakeAction = action;
    fakeCode = code;
  }

  @Override
  public String toString() {
    return (fakeAction == ACTION_DOWN ? "KEY_DOWN " : "KEY_UP ") + fakeCode;
  }
}
