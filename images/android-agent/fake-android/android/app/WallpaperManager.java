package android.app;

import android.FakeState;
import android.content.Context;
import android.graphics.Rect;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;

/** The pictures are the files `wallpaper.home` and `wallpaper.lock`. */
public class WallpaperManager {
  private final Context mContext;

  public WallpaperManager(Context context) {
    mContext = context;
  }

  public int setStream(InputStream bitmapData, Rect visibleCropHint, boolean allowBackup, int which) throws IOException {
    if (!mContext.getOpPackageName().equals("com.android.shell")) return 0;
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int value = bitmapData.read(); value >= 0; value = bitmapData.read()) bytes.write(value);
    String[] names = {"wallpaper.home", "wallpaper.lock"};
    for (int at = 0; at < names.length; at++) {
      if ((which & (1 << at)) != 0) Files.write(FakeState.path(names[at]), bytes.toByteArray());
    }
    return 1;
  }
}
