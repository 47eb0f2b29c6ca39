/** Sign-in, sessions, invitations and issuers. Sizes in bytes, times in milliseconds. */
export const signInBounds = {
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  /** A session of the console: unused, in all, fresh enough for what is dangerous, and how often its use is written down. */
  sessionIdleMs: 12 * 3_600_000,
  sessionTotalMs: 7 * 86_400_000,
  sessionFreshMs: 600_000,
  sessionTouchMs: 60_000,
  sessionsPerUserMax: 20,
  passkeysPerUserMax: 20,
  /** Accounts of single sign-on that open one user. */
  connectionsPerUserMax: 10,
  /** Tries to sign in by account and by address in one window, which doubles while it is used up. */
  signInTriesMax: 10,
  signInTriesMs: 15 * 60_000,
  signInTriesMsMax: 86_400_000,
  /** Who is remembered in the memory of a process, and in a database; how often the latter is cleared; how long a process goes by a refusal. */
  triersMax: 10_000,
  triersStoredMax: 100_000,
  triesSweepMs: 600_000,
  triesKnownMs: 1_000,
  /** How long a browser in which somebody signed in is known; it keeps its tries when the account is locked. */
  knownDeviceMs: 90 * 86_400_000,
  /** Challenges and trips to an issuer that one address may begin in such a window. */
  signInStartsMax: 60,
  /** Passwords that are hashed at once (64 MiB each), and how many wait. */
  passwordsAtOnceMax: 2,
  passwordsWaitingMax: 32,
  /** A second factor is waited for this long, and a code that was used is remembered this long. */
  secondFactorMs: 600_000,
  usedCodeMs: 180_000,
  /** A refused sign-in is written down when its answer has certainly left. */
  refusalNoteMs: 50,
  /** How often what ended in sign-in is cleared away. */
  signInSweepMs: 600_000,
  /** Addresses this gateway is opened at, each with its own sign-in. */
  signInSitesMax: 8,
  /** An issuer of single sign-on: one request to it, its answer, and how long its documents are believed. */
  issuerMs: 10_000,
  issuerAnswerBytesMax: 256 * 1024,
  issuerDocumentMs: 3_600_000,
  issuerKeysRetryMs: 30_000,
  /** Claims: how deep a path goes, and what one holds. Longer values match no rule. */
  claimDepthMax: 8,
  claimValuesMax: 2_000,
  claimCharactersMax: 1_024,
  /** An agent's refresh waits this long for the word of its person's issuer; and how many people are put under new rules in one write. */
  issuerRecheckMs: 5_000,
  issuerRechecksMax: 1_000,
  rightsAtOnceMax: 50,
  /** How long an invitation and a link to a new password hold, and how many invitations one place has open. */
  invitationMs: 7 * 86_400_000,
  passwordResetMs: 86_400_000,
  invitationsOpenMax: 1_000,
  /** Admin tokens of one user, and how often their use is written down. */
  tokensPerUserMax: 200,
  tokenTouchMs: 60_000,
} as const;
