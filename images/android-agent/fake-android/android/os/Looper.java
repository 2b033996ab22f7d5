package android.os;

public class Looper {
  private static boolean isPrepared;

  public static void prepareMainLooper() {
    isPrepared = true;
  }

  /** What of Android needs one fails without. */
  public static void fakeCheck() {
    if (!isPrepared) throw new RuntimeException("Can't create handler inside thread that has not called Looper.prepare()");
  }
}
