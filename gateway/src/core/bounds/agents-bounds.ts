/** Sign-in of coding agents: device codes, and what is given out for them. Sizes in bytes, times in milliseconds. */
export const agentsBounds = {
  /** How long a device code waits for somebody's word, how often it may be asked about, and how much sooner an answer is still given. */
  deviceCodeMs: 600_000,
  devicePollMs: 5_000,
  devicePollEarlyMs: 500,
  /** Device codes that wait, in all; how many make room when there are as many; and how many one address may ask for in a window. */
  deviceCodesMax: 10_000,
  deviceCodesDropped: 100,
  deviceStartsMax: 30,
  deviceStartsMs: 600_000,
  /** User codes that one person, and one address, may try; the window doubles while it is used up. */
  userCodeTriesMax: 10,
  userCodeTriesMs: 15 * 60_000,
  userCodeTriesMsMax: 86_400_000,
  /** A form of the token endpoint, and what is kept of the program that asks. */
  agentFormBytesMax: 16 * 1024,
  agentClientCharactersMax: 200,
  /** An access token: how long it holds, and how long it may be. */
  accessTokenMs: 3_600_000,
  accessTokenBytesMax: 4_096,
  /** A sign-in of an agent: unused, in all, and how many one person has in a workspace. The one unused for longest ends first. */
  agentSessionIdleMs: 30 * 86_400_000,
  agentSessionTotalMs: 180 * 86_400_000,
  agentSessionsPerPersonMax: 20,
  /** A refresh token that was used opens once more within this: two processes of one person refresh at the same moment, or an answer is lost. */
  refreshOverlapMs: 30_000,
  /** Settings that are managed for a group's agents: how deeply they may be nested. Their size is that of any control call. */
  agentSettingsDepthMax: 32,
  /** Versions of one group's settings that are kept; the oldest goes first. */
  agentSettingsVersionsMax: 100,
  /** One message of an agent's telemetry. */
  agentTelemetryBytesMax: 4 * 1024 * 1024,
} as const;
