package backlot.agent;

import java.util.LinkedHashMap;
import java.util.Map;

/** What the agent does on its device; each part of Android is reached when it is first needed. */
final class Device {
  private Input input;
  private Fingers fingers;
  private Clipboard clipboard;
  private ShellContext context;

  /** Puts fingers down, moves and lifts them, until those are down that are named, each at its place. */
  void touch(Map<Integer, float[]> places) throws Exception {
    if (fingers == null) fingers = new Fingers(input());
    fingers.become(places);
  }

  /** Lifts what is down. */
  void liftFingers() throws Exception {
    if (fingers != null) fingers.become(new LinkedHashMap<Integer, float[]>());
  }

  Clipboard clipboard() throws Exception {
    if (clipboard == null) clipboard = new Clipboard(context());
    return clipboard;
  }

  /** Types a text into the field that has the focus. */
  void type(String text) throws Exception {
    new Typing(input(), clipboard()).type(text);
  }

  void setWallpaper(String path, int screens) throws Exception {
    new Wallpaper(context()).set(path, screens);
  }

  private Input input() throws Exception {
    if (input == null) input = new Input();
    return input;
  }

  private ShellContext context() throws Exception {
    if (context == null) context = new ShellContext();
    return context;
  }
}
