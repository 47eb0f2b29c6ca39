export const session = {
  code: {
    backupHelp:
      "Enter one of the backup codes that were shown when two-factor authentication was set up. Each works once.",
    help: "Enter the six-digit code that your authenticator app shows for Sluice.",
    backup: "Backup code",
    label: "Code",
    restart: "Start over",
    useApp: "Use the app instead",
    useBackup: "Use a backup code",
  },
  signIn: "Sign in",
  password: {
    label: "Password",
    help: "At least {min, plural, one {# character} other {# characters}}. A few words are easier to remember than symbols.",
    short: "{missing, plural, one {# more character is needed.} other {# more characters are needed.}}",
    repeat: "Repeat password",
    differ: "The two passwords differ.",
  },
  problem: {
    noAddress: "The sign-in page of this account has no valid URL.",
    passkeyExists: "This device or password manager already has a passkey for this console.",
    passkeyDismissed: "No passkey was used: the dialog was closed or timed out.",
    passkeyAddress: "Passkeys only work where the console is opened by its domain name, over https or on localhost.",
    passkeyFailed: "The browser could not use a passkey: {message}",
  },
  or: "or",
  passkey: "Continue with a passkey",
  continueWith: "Continue with {name}",
  noMethod: "This browser supports none of the sign-in methods of this gateway. Try another browser.",
  signedInThere: "Signed in there: continue here",
  email: "Email address",
} as const;
