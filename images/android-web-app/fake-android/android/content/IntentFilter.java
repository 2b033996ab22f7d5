package android.content;

public class IntentFilter {
  private final String category;

  public IntentFilter(String category) {
    this.category = category;
  }

  public final boolean hasCategory(String name) {
    return category.equals(name);
  }
}
