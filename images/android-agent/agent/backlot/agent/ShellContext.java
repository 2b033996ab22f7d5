package backlot.agent;

import android.content.Context;
import android.content.ContextWrapper;
import java.lang.reflect.Field;

/** The context of a process that belongs to no application: what it asks is asked by the package of the shell's user. */
final class ShellContext extends ContextWrapper {
  private static final String PACKAGE = "com.android.shell";

  ShellContext() throws ReflectiveOperationException {
    super(systemContext());
  }

  @Override
  public String getPackageName() {
    return PACKAGE;
  }

  @Override
  public String getOpPackageName() {
    return PACKAGE;
  }

  /** A service of Android, which asks in the name of this context. */
  Object serviceInOwnName(String name) throws ReflectiveOperationException {
    Object service = getSystemService(name);
    if (service == null) throw new UnsupportedOperationException("this Android has no service \"" + name + "\"");
    Field context = service.getClass().getDeclaredField("mContext");
    context.setAccessible(true);
    context.set(service, this);
    return service;
  }

  private static Context systemContext() throws ReflectiveOperationException {
    Class<?> type = Class.forName("android.app.ActivityThread");
    Object thread = type.getDeclaredMethod("systemMain").invoke(null);
    return (Context) type.getDeclaredMethod("getSystemContext").invoke(thread);
  }
}
