package android.content;

import android.content.pm.PackageManager;

public abstract class Context {
  public static final int BIND_AUTO_CREATE = 1;

  public abstract PackageManager getPackageManager();

  public abstract boolean bindService(Intent service, ServiceConnection connection, int flags);

  public abstract void unbindService(ServiceConnection connection);

  public abstract void startActivity(Intent intent);
}
