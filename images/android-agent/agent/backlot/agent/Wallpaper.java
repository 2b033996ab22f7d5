package backlot.agent;

import android.app.WallpaperManager;
import android.content.Context;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** The picture behind the applications, and the one of the lock screen. */
final class Wallpaper {
  private final WallpaperManager manager;

  Wallpaper(ShellContext context) throws ReflectiveOperationException {
    manager = (WallpaperManager) context.serviceInOwnName(Context.WALLPAPER_SERVICE);
  }

  /** Sets it from a file that the shell's user may read; `screens` are bits of WallpaperManager: 1 home, 2 lock. */
  void set(String path, int screens) throws IOException {
    InputStream picture = new FileInputStream(path);
    try {
      if (manager.setStream(picture, null, true, screens) == 0) throw new IOException("Android has not taken " + path);
    } finally {
      picture.close();
    }
  }
}
