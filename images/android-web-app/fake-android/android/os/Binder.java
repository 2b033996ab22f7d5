package android.os;

public class Binder implements IBinder {
  private String descriptor;

  public void attachInterface(IInterface owner, String descriptor) {
    this.descriptor = descriptor;
  }

  @Override
  public String getInterfaceDescriptor() {
    return descriptor;
  }

  protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) throws RemoteException {
    return false;
  }

  @Override
  public final boolean transact(int code, Parcel data, Parcel reply, int flags) throws RemoteException {
    return onTransact(code, data, reply, flags);
  }

  @Override
  public String toString() {
    return "binder of " + descriptor;
  }
}
