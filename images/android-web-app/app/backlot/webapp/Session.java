package backlot.webapp;

import android.os.Bundle;
import android.os.IBinder;
import android.os.Parcel;
import android.os.RemoteException;

/** A session with a browser, by the interface of its service (`ICustomTabsService` of androidx.browser). */
final class Session {
  private static final String SERVICE = "android.support.customtabs.ICustomTabsService";
  private static final int NEW_SESSION = IBinder.FIRST_CALL_TRANSACTION + 2;
  private static final String EXTRA = "android.support.customtabs.extra.";

  private Session() {}

  /** Whether the browser takes it. */
  static boolean begin(IBinder service, IBinder callback) throws RemoteException {
    Parcel request = Parcel.obtain();
    Parcel answer = Parcel.obtain();
    try {
      request.writeInterfaceToken(SERVICE);
      request.writeStrongBinder(callback);
      service.transact(NEW_SESSION, request, answer, 0);
      answer.readException();
      return answer.readInt() != 0;
    } finally {
      answer.recycle();
      request.recycle();
    }
  }

  /** What a page is opened with for the browser to hide its controls, once the site names this application as its own. */
  static Bundle extras(IBinder callback, Bundle settings) {
    Bundle extras = new Bundle();
    extras.putBinder(EXTRA + "SESSION", callback);
    extras.putBoolean(EXTRA + "LAUNCH_AS_TRUSTED_WEB_ACTIVITY", true);
    if (settings.containsKey("backlot.theme_color")) {
      extras.putInt(EXTRA + "TOOLBAR_COLOR", settings.getInt("backlot.theme_color"));
    }
    return extras;
  }
}
