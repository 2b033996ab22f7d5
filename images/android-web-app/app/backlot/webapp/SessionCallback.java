package backlot.webapp;

import android.os.Binder;
import android.os.Parcel;

/** What the browser knows a session by; what it tells of the session is not needed. */
final class SessionCallback extends Binder {
  SessionCallback() {
    attachInterface(null, "android.support.customtabs.ICustomTabsCallback");
  }

  @Override
  protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) {
    // What is told one way has no reply.
    if (reply != null) reply.writeNoException();
    return true;
  }
}
