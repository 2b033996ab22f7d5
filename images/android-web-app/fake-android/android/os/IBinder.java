package android.os;

public interface IBinder {
  int FIRST_CALL_TRANSACTION = 1;

  String getInterfaceDescriptor() throws RemoteException;

  boolean transact(int code, Parcel data, Parcel reply, int flags) throws RemoteException;
}
