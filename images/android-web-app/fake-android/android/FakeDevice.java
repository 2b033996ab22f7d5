package android;

import android.app.Activity;
import android.content.ComponentName;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.ServiceConnection;
import android.content.pm.ActivityInfo;
import android.content.pm.ResolveInfo;
import android.content.pm.ServiceInfo;
import android.os.Binder;
import android.os.Bundle;
import android.os.IBinder;
import android.os.Parcel;
import java.util.ArrayList;
import java.util.List;

/**
 * A device with the browsers that are named, which opens an application, leaves its page and ends it, and prints what arrives:
 * {@code FakeDevice ACTIVITY PAGE COLOR CHOSEN [BROWSER[:trusted][:refuses]]...}.
 */
public final class FakeDevice {
  private static final List<ResolveInfo> browsers = new ArrayList<>();
  private static final Bundle settings = new Bundle();
  private static ResolveInfo chosen;
  private static boolean refuses;

  private FakeDevice() {}

  public static void main(String[] arguments) throws Exception {
    settings.putString("backlot.start_url", arguments[1]);
    if (!arguments[2].isEmpty()) settings.putInt("backlot.theme_color", Integer.parseUnsignedInt(arguments[2], 16));
    chosen = browser(arguments[3]);
    for (int at = 4; at < arguments.length; at++) browsers.add(browser(arguments[at]));
    Activity activity = (Activity) Class.forName(arguments[0]).getDeclaredConstructor().newInstance();
    activity.fakeLife();
  }

  private static ResolveInfo browser(String words) {
    ResolveInfo found = new ResolveInfo();
    found.serviceInfo = new ServiceInfo();
    found.activityInfo = new ActivityInfo();
    found.activityInfo.packageName = found.serviceInfo.packageName = words.split(":")[0];
    found.filter = new IntentFilter(words.contains(":trusted") ? "androidx.browser.trusted.category.TrustedWebActivities" : "");
    refuses |= words.contains(":refuses");
    return found;
  }

  public static Bundle settings() {
    return settings;
  }

  public static ResolveInfo chosen() {
    return chosen;
  }

  public static List<ResolveInfo> browsers() {
    return browsers;
  }

  public static void say(String what) {
    System.out.println(what);
  }

  /** Binds to the service of a browser, which comes back once. */
  public static void bind(Intent service, ServiceConnection connection) {
    say("bind " + service);
    IBinder browser = new Binder() {
      @Override
      protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) {
        say("transact " + code + " " + data.fakeRead() + " " + ((Binder) data.fakeRead()).getInterfaceDescriptor());
        reply.writeNoException();
        reply.writeInt(refuses ? 0 : 1);
        return true;
      }
    };
    connection.onServiceConnected(new ComponentName(), browser);
    connection.onServiceDisconnected(new ComponentName());
    connection.onServiceConnected(new ComponentName(), browser);
  }
}
