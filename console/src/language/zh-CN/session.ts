import type { Translation } from "../catalogue.ts";
import type { session as english } from "../en/session.ts";

export const session: Translation<typeof english> = {
  giveOneOfTheBackup:
    "Give one of the backup codes that were shown when two-factor sign-in was set up. Each works once.",
  giveTheSixDigitsThat: "Give the six digits that your authenticator app shows for Sluice now.",
  backupCode: "Backup code",
  code: "Code",
  beginAgain: "Begin again",
  signIn: "Sign in",
  useTheAppInstead: "Use the app instead",
  useABackupCode: "Use a backup code",
  password: "Password",
  atLeastCharactersAFew: "At least {passwordLengthMin} characters. A few words are easier to keep than signs.",
  moreCharactersAreNeeded: "{missing} more characters are needed.",
  again: "{label} again",
  theTwoPasswordsDiffer: "The two passwords differ.",
  theSignInPageOf: "The sign-in page of this account has no address that can be opened.",
  thisDeviceOrPasswordManager: "This device or password manager holds a passkey for this console already.",
  noPasskeyWasUsedThe: "No passkey was used: the dialog was closed, or took too long.",
  passkeysWorkOnlyWhereThe: "Passkeys work only where the console is opened by its name, over https or on localhost.",
  error: "Error",
  theBrowserCouldNotUse: "The browser could not use a passkey: {message}",
  or: "or",
  useAPasskey: "Use a passkey",
  continueWith: "Continue with {name}",
  thisBrowserKnowsNoneOf: "This browser knows none of the ways in that the gateway offers. Try another browser.",
  eMailAddress: "E-mail address",
};
