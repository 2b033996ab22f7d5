package android.app;

import android.content.ClipboardManager;
import android.content.Context;
import android.os.Looper;

public final class ActivityThread {
  public static ActivityThread systemMain() {
    Looper.fakeCheck();
    return new ActivityThread();
  }

  public Context getSystemContext() {
    return new Context() {
      @Override
      public String getPackageName() {
        return "android";
      }

      @Override
      public String getOpPackageName() {
        return "android";
      }

      @Override
      public Object getSystemService(String name) {
        if (name.equals(CLIPBOARD_SERVICE)) return new ClipboardManager(this);
        if (name.equals(WALLPAPER_SERVICE)) return new WallpaperManager(this);
        return null;
      }
    };
  }
}
