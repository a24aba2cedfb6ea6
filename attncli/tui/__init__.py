"""The app: screens and widgets over `attncli.practice`. Nothing here is imported by a command without a screen."""
