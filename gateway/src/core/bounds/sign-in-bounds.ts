/** Sign-in, sessions, invitations and issuers. Sizes in bytes, times in milliseconds. */
export const signInBounds = {
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  /** Lifetime of a console session, and how long it is fresh enough for dangerous actions. */
  sessionTotalMs: 7 * 86_400_000,
  sessionFreshMs: 600_000,
  /** Attempts to sign in, by account and by address, in a window. */
  signInTriesMax: 10,
  signInTriesMs: 15 * 60_000,
  /** Accounts and addresses counted in memory. */
  triersMax: 10_000,
  /** Timeout of the second factor. */
  secondFactorMs: 600_000,
  /** How long an agent's refresh waits for the user's issuer, and how many users get new rights in one write. */
  issuerRecheckMs: 5_000,
  issuerRechecksMax: 1_000,
  rightsAtOnceMax: 50,
  /** Lifetime of invitations and reset links, and open invitations of a workspace. */
  invitationMs: 7 * 86_400_000,
  passwordResetMs: 86_400_000,
  invitationsOpenMax: 1_000,
  /** Admin tokens of a user, and how often their use is recorded. */
  tokensPerUserMax: 200,
  tokenTouchMs: 60_000,
} as const;
