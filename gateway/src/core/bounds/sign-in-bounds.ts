/** Sign-in, sessions, invitations and issuers. Sizes in bytes, times in milliseconds. */
export const signInBounds = {
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  /** A session of the console in all, and how long it is fresh enough for dangerous actions. */
  sessionTotalMs: 7 * 86_400_000,
  sessionFreshMs: 600_000,
  /** Tries to sign in by account and by address in one window. */
  signInTriesMax: 10,
  signInTriesMs: 15 * 60_000,
  /** Accounts and addresses that the memory of a process holds. */
  triersMax: 10_000,
  /** How long a second factor is waited for. */
  secondFactorMs: 600_000,
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
