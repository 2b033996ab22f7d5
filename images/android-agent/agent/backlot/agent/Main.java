package backlot.agent;

import android.os.Looper;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;

/** Starts on a device as the shell's user: `CLASSPATH=FILE app_process / backlot.agent.Main`. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) throws Exception {
    // What Android itself prints must not come between the answers.
    System.setOut(System.err);
    removeOwnFile();
    Looper.prepareMainLooper();
    DataOutputStream answers = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)));
    Device device = new Device();
    try {
      new Conversation(new DataInputStream(System.in), answers, device).serve();
    } finally {
      device.liftFingers();
    }
    // Threads of Android's own would keep the process.
    System.exit(0);
  }

  /** The file of this program is loaded, and whoever started it may go away before it could remove it. */
  private static void removeOwnFile() {
    String path = System.getenv("CLASSPATH");
    if (path != null && !new File(path).delete()) System.err.println(path + " cannot be removed");
  }
}
