package android.content;

public abstract class Context {
  public static final String CLIPBOARD_SERVICE = "clipboard";
  public static final String WALLPAPER_SERVICE = "wallpaper";

  public abstract String getPackageName();

  public abstract String getOpPackageName();

  public abstract Object getSystemService(String name);

  /** Android lets nobody ask in the name of a package that is not of the caller's user. */
  public static void fakeCheck(Context context) {
    if (context.getOpPackageName().equals("com.android.shell")) return;
    throw new SecurityException("Package " + context.getOpPackageName() + " does not belong to 2000");
  }
}
