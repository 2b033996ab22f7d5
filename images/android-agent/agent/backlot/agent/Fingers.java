package backlot.agent;

import android.os.SystemClock;
import android.view.InputDevice;
import android.view.MotionEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

/** The fingers that are down, and the events that change them. */
final class Fingers {
  private final Input input;
  private final Map<Integer, float[]> down = new LinkedHashMap<Integer, float[]>();
  private long since;

  Fingers(Input input) {
    this.input = input;
  }

  /** Sends what leads from the fingers that are down to those that are named: moves, then lifts, then what goes down. */
  void become(Map<Integer, float[]> places) throws ReflectiveOperationException, IOException {
    boolean hasMoved = false;
    for (Map.Entry<Integer, float[]> finger : down.entrySet()) {
      float[] place = places.get(finger.getKey());
      if (place == null || (place[0] == finger.getValue()[0] && place[1] == finger.getValue()[1])) continue;
      finger.setValue(place);
      hasMoved = true;
    }
    if (hasMoved) send(MotionEvent.ACTION_MOVE);
    for (Integer finger : new ArrayList<Integer>(down.keySet())) {
      if (places.containsKey(finger)) continue;
      try {
        send(down.size() == 1 ? MotionEvent.ACTION_UP : MotionEvent.ACTION_POINTER_UP | indexOf(finger));
      } finally {
        down.remove(finger);
      }
    }
    for (Map.Entry<Integer, float[]> finger : places.entrySet()) {
      if (down.containsKey(finger.getKey())) continue;
      if (down.isEmpty()) since = SystemClock.uptimeMillis();
      down.put(finger.getKey(), finger.getValue());
      send(down.size() == 1 ? MotionEvent.ACTION_DOWN : MotionEvent.ACTION_POINTER_DOWN | indexOf(finger.getKey()));
    }
  }

  /** Which of the fingers an action is of, in the bits that it has for that. */
  private int indexOf(Integer finger) {
    return new ArrayList<Integer>(down.keySet()).indexOf(finger) << MotionEvent.ACTION_POINTER_INDEX_SHIFT;
  }

  private void send(int action) throws ReflectiveOperationException, IOException {
    MotionEvent.PointerProperties[] properties = new MotionEvent.PointerProperties[down.size()];
    MotionEvent.PointerCoords[] places = new MotionEvent.PointerCoords[down.size()];
    int at = 0;
    for (Map.Entry<Integer, float[]> finger : down.entrySet()) {
      properties[at] = new MotionEvent.PointerProperties();
      properties[at].id = finger.getKey();
      properties[at].toolType = MotionEvent.TOOL_TYPE_FINGER;
      places[at] = new MotionEvent.PointerCoords();
      places[at].x = finger.getValue()[0];
      places[at].y = finger.getValue()[1];
      places[at].pressure = 1;
      places[at].size = 1;
      at++;
    }
    MotionEvent event = MotionEvent.obtain(since, SystemClock.uptimeMillis(), action, at, properties, places, 0, 0, 1, 1, 0, 0,
        InputDevice.SOURCE_TOUCHSCREEN, 0);
    try {
      input.send(event, Input.WITHOUT_WAITING);
    } finally {
      event.recycle();
    }
  }
}
