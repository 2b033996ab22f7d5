package android.view;

public abstract class InputEvent {}
