export const signIn = {
  elsewhere: {
    title: "You are not signed in",
    denied: "The identity provider reported that you declined, or that you may not sign in here.",
    expired: "It took too long, or was started in another window. Try again.",
    noEmail: "The identity provider sent no email address, so we do not know who you are.",
    unverified: "The identity provider has not verified your email address. Verify it there, then try again.",
    notInvited:
      "The identity provider may not sign in people with this email address. If you were invited, open the invitation link first; otherwise ask an administrator.",
    accountExists:
      "An account with this email address exists and is not connected to this identity provider. Sign in to it first, then connect it in your profile.",
    otherPerson: "It is already connected to someone else's account.",
    signInFirst: "Connecting an account needs a recent, complete sign-in. Try again.",
    noAccess: "Your account may not sign in. Ask an administrator.",
    failed: "Single sign-on failed. Try again; if it persists, ask the operator to check the gateway's log.",
  },
  invite: {
    invalid: "This invitation is not valid",
    skip: "Continue without it",
    administrator:
      "You are invited to administer this gateway. The invitation is for {email} and expires <when></when>.",
    administratorBy:
      "{name} ({address}) invites you to administer this gateway. The invitation is for {email} and expires <when></when>.",
    workspace:
      "You are invited to join {workspace} as {role}. The invitation is for {email} and expires <when></when>.",
    workspaceBy:
      "{name} ({address}) invites you to join {workspace} as {role}. The invitation is for {email} and expires <when></when>.",
    welcome: "Welcome to Sluice",
    signInFirst: "Sign in to accept",
    elsewhere: "If you use single sign-on, open the invitation link again afterwards.",
    accept: "Accept the invitation",
    other: "This invitation is for someone else",
    otherHelp: "You are signed in as {email}. Sign out to accept it as {invited}.",
    do: "Accept",
  },
  roles: {
    owner: "owner",
    admin: "admin",
    member: "member",
    viewer: "viewer",
  },
  email: "Email address",
  name: "Your name",
  nameHelp: "Shown to others.",
  createAccount: "Create account",
  signOut: "Sign out",
  pageTitle: "Sign in · {product}",
  title: "Sign in",
  foot: "No account? Ask an administrator for an invitation. Programs call the API with a key: <link>API reference</link>",
  reset: {
    done: "The new password is set. Sign in with it.",
    title: "Set a new password",
    help: "This link works once. You are signed out everywhere else.",
    do: "Set password",
    signIn: "Go to sign-in",
  },
  setup: {
    doneTitle: "Setup is already complete",
    doneHelp: "A setup link works once. There is nothing left to do with it.",
    continue: "Continue",
    noneTitle: "There is no administrator yet",
    noneHelp:
      "Open the setup link that the gateway printed at startup, or that is in the file it named: it contains <code>#setup=…</code>. Until then the gateway is reachable from this machine only.",
    foot: "The API works already: <link>API reference</link>",
    lost: "Lost the link? Restart the gateway; it prints a new one.",
    title: "Create the first administrator",
    help: "This link works once. The password is stored only as a hash.",
    do: "Create administrator",
  },
} as const;
