package android.os;

import java.util.Map;
import java.util.TreeMap;

public class BaseBundle {
  final Map<String, Object> values = new TreeMap<>();

  public boolean containsKey(String key) {
    return values.containsKey(key);
  }

  public void putString(String key, String value) {
    values.put(key, value);
  }

  public String getString(String key) {
    return (String) values.get(key);
  }

  public void putInt(String key, int value) {
    values.put(key, value);
  }

  public int getInt(String key) {
    return (Integer) values.get(key);
  }

  public void putBoolean(String key, boolean value) {
    values.put(key, value);
  }

  @Override
  public String toString() {
    return values.toString();
  }
}
