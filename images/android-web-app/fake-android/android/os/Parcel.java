package android.os;

import java.util.ArrayDeque;
import java.util.Queue;

public final class Parcel {
  private final Queue<Object> values = new ArrayDeque<>();

  public static Parcel obtain() {
    return new Parcel();
  }

  public void recycle() {
    values.clear();
  }

  public void writeInterfaceToken(String name) {
    values.add(name);
  }

  public void writeStrongBinder(IBinder value) {
    values.add(value);
  }

  public void writeNoException() {
    values.add("no exception");
  }

  public void readException() {
    if (!values.remove().equals("no exception")) throw new IllegalStateException("an exception");
  }

  public void writeInt(int value) {
    values.add(value);
  }

  public int readInt() {
    return (Integer) values.remove();
  }

  public Object fakeRead() {
    return values.remove();
  }
}
