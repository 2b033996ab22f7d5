package backlot.webapp;

import android.app.Activity;
import android.content.ComponentName;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.PackageManager;
import android.net.Uri;
import android.os.Bundle;
import android.os.IBinder;
import android.os.RemoteException;

/** Opens the web app that the manifest of this application names, in a browser that shows it without controls of its own. */
public final class LaunchActivity extends Activity implements ServiceConnection {
  private final SessionCallback callback = new SessionCallback();
  private Bundle settings;
  private String browser;
  private boolean isBound;
  private boolean isOpened;

  @Override
  protected void onCreate(Bundle saved) {
    super.onCreate(saved);
    try {
      settings = getPackageManager().getActivityInfo(getComponentName(), PackageManager.GET_META_DATA).metaData;
    } catch (PackageManager.NameNotFoundException error) {
      throw new IllegalStateException(error);
    }
    browser = Browsers.bestOf(getPackageManager(), page());
    isBound = browser != null && bindService(Browsers.service().setPackage(browser), this, BIND_AUTO_CREATE);
    if (!isBound) open(new Intent(Intent.ACTION_VIEW, page()));
  }

  @Override
  public void onServiceConnected(ComponentName name, IBinder service) {
    // The browser's service may end and come back.
    if (isOpened) return;
    Intent intent = new Intent(Intent.ACTION_VIEW, page()).setPackage(browser);
    try {
      if (Session.begin(service, callback)) intent.putExtras(Session.extras(callback, settings));
    } catch (RemoteException error) {
      // Without a session the browser opens the page as any other.
    }
    open(intent);
  }

  @Override
  public void onServiceDisconnected(ComponentName name) {}

  /** Who leaves the web app leaves this application; until then the browser holds on to the session through it. */
  @Override
  protected void onRestart() {
    super.onRestart();
    if (isOpened) finish();
  }

  @Override
  protected void onDestroy() {
    super.onDestroy();
    if (isBound) unbindService(this);
  }

  private void open(Intent intent) {
    isOpened = true;
    startActivity(intent);
  }

  private Uri page() {
    return Uri.parse(settings.getString("backlot.start_url"));
  }
}
