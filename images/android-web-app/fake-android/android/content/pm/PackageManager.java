package android.content.pm;

import android.FakeDevice;
import android.content.ComponentName;
import android.content.Intent;
import java.util.List;

public class PackageManager {
  public static final int GET_META_DATA = 0x80;
  public static final int GET_RESOLVED_FILTER = 0x40;
  public static final int MATCH_DEFAULT_ONLY = 0x10000;

  public static class NameNotFoundException extends Exception {}

  public ActivityInfo getActivityInfo(ComponentName name, int flags) throws NameNotFoundException {
    if (name == null) throw new NameNotFoundException();
    ActivityInfo found = new ActivityInfo();
    if (flags == GET_META_DATA) found.metaData = FakeDevice.settings();
    return found;
  }

  public ResolveInfo resolveActivity(Intent intent, int flags) {
    return FakeDevice.chosen();
  }

  public List<ResolveInfo> queryIntentServices(Intent intent, int flags) {
    return FakeDevice.browsers();
  }
}
