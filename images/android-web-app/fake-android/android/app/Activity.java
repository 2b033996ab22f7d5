package android.app;

import android.FakeDevice;
import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.content.pm.PackageManager;
import android.os.Bundle;

public class Activity extends Context {
  protected void onCreate(Bundle saved) {}

  protected void onRestart() {}

  protected void onDestroy() {}

  public void finish() {
    FakeDevice.say("finish");
  }

  public ComponentName getComponentName() {
    return new ComponentName();
  }

  @Override
  public PackageManager getPackageManager() {
    return new PackageManager();
  }

  @Override
  public boolean bindService(Intent service, ServiceConnection connection, int flags) {
    FakeDevice.bind(service, connection);
    return true;
  }

  @Override
  public void unbindService(ServiceConnection connection) {
    FakeDevice.say("unbind");
  }

  @Override
  public void startActivity(Intent intent) {
    FakeDevice.say("start " + intent);
  }

  /** It is opened, what it opens covers it, is left, and it ends. */
  public void fakeLife() {
    onCreate(null);
    onRestart();
    onDestroy();
  }
}
