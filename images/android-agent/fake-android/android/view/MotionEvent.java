package android.view;

/** Fingers, in the words of the fake device: the action, the finger that it is of, and where all of them are. */
public final class MotionEvent extends InputEvent {
  public static final int ACTION_DOWN = 0;
  public static final int ACTION_UP = 1;
  public static final int ACTION_MOVE = 2;
  public static final int ACTION_POINTER_DOWN = 5;
  public static final int ACTION_POINTER_UP = 6;
  public static final int ACTION_POINTER_INDEX_SHIFT = 8;
  public static final int TOOL_TYPE_FINGER = 1;

  public static final class PointerProperties {
    public int id;
    public int toolType;
  }

  public static final class PointerCoords {
    public float x;
    public float y;
    public float pressure;
    public float size;
  }

  private static final String[] ACTIONS = {"DOWN", "UP", "MOVE", "CANCEL", "OUTSIDE", "POINTER_DOWN", "POINTER_UP"};

  private final String shown;

  private MotionEvent(String shown) {
    this.shown = shown;
  }

  public static MotionEvent obtain(
      long downTime,
      long eventTime,
      int action,
      int pointerCount,
      PointerProperties[] pointerProperties,
      PointerCoords[] pointerCoords,
      int metaState,
      int buttonState,
      float xPrecision,
      float yPrecision,
      int deviceId,
      int edgeFlags,
      int source,
      int flags) {
    if (downTime <= 0 || eventTime < downTime || source != InputDevice.SOURCE_TOUCHSCREEN) throw new IllegalArgumentException();
    StringBuilder shown = new StringBuilder(ACTIONS[action & 0xff]);
    if ((action & 0xff) >= ACTION_POINTER_DOWN) shown.append(' ').append(pointerProperties[action >> 8].id);
    for (int at = 0; at < pointerCount; at++) {
      PointerCoords place = pointerCoords[at];
      if (pointerProperties[at].toolType != TOOL_TYPE_FINGER || place.pressure <= 0) throw new IllegalArgumentException();
      shown.append(' ').append(pointerProperties[at].id).append(':').append(place.x).append(',').append(place.y);
    }
    return new MotionEvent(shown.toString());
  }

  public void recycle() {}

  @Override
  public String toString() {
    return shown;
  }
}
