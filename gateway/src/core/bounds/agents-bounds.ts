/** Sign-in of coding agents. Sizes in bytes, times in milliseconds. */
export const agentsBounds = {
  /** Lifetime of a device code, interval of polls, and how much earlier a poll is still answered. */
  deviceCodeMs: 600_000,
  devicePollMs: 5_000,
  devicePollEarlyMs: 500,
  /** Pending device codes, how many are dropped when there are too many, and how many an address may request in a window. */
  deviceCodesMax: 10_000,
  deviceCodesDropped: 100,
  deviceStartsMax: 30,
  deviceStartsMs: 600_000,
  /** How many user codes a person and an address may try. The window doubles each time it is used up. */
  userCodeTriesMax: 10,
  userCodeTriesMs: 15 * 60_000,
  userCodeTriesMsMax: 86_400_000,
  /** Size of a form of the token endpoint, and length of the stored name of the client. */
  agentFormBytesMax: 16 * 1024,
  agentClientCharactersMax: 200,
  /** Lifetime and size of an access token. */
  accessTokenMs: 3_600_000,
  accessTokenBytesMax: 4_096,
  /** Session of an agent: idle and total lifetime, and how many a person has in a workspace. The one unused for longest is dropped. */
  agentSessionIdleMs: 30 * 86_400_000,
  agentSessionTotalMs: 180 * 86_400_000,
  agentSessionsPerPersonMax: 20,
  /** How long a used refresh token works again, for two simultaneous refreshes or a lost answer. */
  refreshOverlapMs: 30_000,
  /** Nesting of managed agent settings. Their size is limited like any control call. */
  agentSettingsDepthMax: 32,
  /** Stored versions of a group's settings. */
  agentSettingsVersionsMax: 100,
  agentTelemetryBytesMax: 4 * 1024 * 1024,
} as const;
