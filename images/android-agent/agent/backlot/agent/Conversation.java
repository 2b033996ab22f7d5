package backlot.agent;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Requests and their answers, one after the other; numbers are big-endian. A request is the length of what follows in four
 * bytes, a byte that says what is asked, and its body. An answer is the length of what follows, 0 or 1 for failed, and its body.
 */
final class Conversation {
  /** The version of this protocol. */
  static final int VERSION = 1;

  private static final int HELLO = 1;
  private static final int TOUCH = 2;
  private static final int GET_CLIPBOARD = 3;
  private static final int SET_CLIPBOARD = 4;
  private static final int SET_WALLPAPER = 5;
  private static final int TYPE_TEXT = 6;

  /** Bytes that a request has at most. */
  private static final int LONGEST = 64 << 20;

  private final DataInputStream requests;
  private final DataOutputStream answers;
  private final Device device;

  Conversation(DataInputStream requests, DataOutputStream answers, Device device) {
    this.requests = requests;
    this.answers = answers;
    this.device = device;
  }

  /** Answers until the requests end. */
  void serve() throws IOException {
    for (;;) {
      byte[] request;
      try {
        int length = requests.readInt();
        if (length < 1 || length > LONGEST) throw new IOException("a request of " + length + " bytes");
        request = new byte[length];
        requests.readFully(request);
      } catch (EOFException end) {
        return;
      }
      try {
        answer(0, carryOut(ByteBuffer.wrap(request)));
      } catch (Throwable failure) {
        answer(1, reasonOf(failure).getBytes(StandardCharsets.UTF_8));
      }
    }
  }

  private byte[] carryOut(ByteBuffer request) throws Exception {
    int asked = request.get();
    switch (asked) {
      case HELLO:
        return new byte[] {VERSION};
      case TOUCH:
        device.touch(fingersIn(request));
        return nothing();
      case GET_CLIPBOARD:
        return device.clipboard().text().getBytes(StandardCharsets.UTF_8);
      case SET_CLIPBOARD:
        device.clipboard().set(textIn(request));
        return nothing();
      case SET_WALLPAPER:
        int screens = request.get();
        device.setWallpaper(textIn(request), screens);
        return nothing();
      case TYPE_TEXT:
        device.type(textIn(request));
        return nothing();
      default:
        throw new IllegalArgumentException("the agent knows no request " + asked);
    }
  }

  /** The fingers that are down, by their number: a byte for how many, then for each its number and two floats. */
  private static Map<Integer, float[]> fingersIn(ByteBuffer request) {
    Map<Integer, float[]> fingers = new LinkedHashMap<Integer, float[]>();
    for (int left = request.get(); left > 0; left--) {
      int finger = request.get();
      fingers.put(finger, new float[] {request.getFloat(), request.getFloat()});
    }
    return fingers;
  }

  private static String textIn(ByteBuffer request) {
    byte[] bytes = new byte[request.remaining()];
    request.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static byte[] nothing() {
    return new byte[0];
  }

  private static String reasonOf(Throwable failure) {
    Throwable reason = failure;
    while (reason instanceof InvocationTargetException && reason.getCause() != null) reason = reason.getCause();
    String text = reason.getMessage();
    return text == null ? reason.getClass().getName() : reason.getClass().getSimpleName() + ": " + text;
  }

  private void answer(int status, byte[] body) throws IOException {
    answers.writeInt(1 + body.length);
    answers.writeByte(status);
    answers.write(body);
    answers.flush();
  }
}
