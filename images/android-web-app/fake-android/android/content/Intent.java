package android.content;

import android.net.Uri;
import android.os.Bundle;

public class Intent {
  public static final String ACTION_VIEW = "android.intent.action.VIEW";

  private final String action;
  private final Uri data;
  private String name;
  private Bundle extras = new Bundle();

  public Intent(String action) {
    this(action, null);
  }

  public Intent(String action, Uri data) {
    this.action = action;
    this.data = data;
  }

  public Intent setPackage(String packageName) {
    name = packageName;
    return this;
  }

  public Intent putExtras(Bundle more) {
    extras = more;
    return this;
  }

  @Override
  public String toString() {
    return action + " " + data + " " + name + " " + extras;
  }
}
