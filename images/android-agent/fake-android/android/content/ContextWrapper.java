package android.content;

public class ContextWrapper extends Context {
  private final Context base;

  public ContextWrapper(Context base) {
    this.base = base;
  }

  @Override
  public String getPackageName() {
    return base.getPackageName();
  }

  @Override
  public String getOpPackageName() {
    return base.getOpPackageName();
  }

  @Override
  public Object getSystemService(String name) {
    return base.getSystemService(name);
  }
}
