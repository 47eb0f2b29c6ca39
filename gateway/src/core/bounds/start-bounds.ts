/** The config file, logs and metrics. Sizes in bytes, times in milliseconds. */
export const startBounds = {
  /** A signal that comes this soon after the first one counts as the same. */
  sameSignalMs: 2_000,
  /** How long readiness fails before calls are refused: default and maximum. */
  drainGraceMs: 5_000,
  drainGraceMsMax: 300_000,
  configFileBytesMax: 16 * 1024 * 1024,
  /** How long before the expiry of a certificate a warning is logged. */
  certificateSoonMs: 14 * 86_400_000,
  /** How often the config file is polled for changes that the system does not report. */
  configRestMs: 1_500,
  /** Label values of a metric; further ones count as `other`. */
  metricRoutesMax: 256,
  metricPairsMax: 2_000,
  metricValuesMax: 64,
  metricDeploymentsMax: 2_000,
  /** Logged failures per second; further ones are counted. */
  failureLinesPerSecond: 20,
  /** Access lines are written together after this time or size; length of a text, and cached texts. */
  accessLogMs: 100,
  accessLogBytesMax: 64 * 1024,
  accessLogTextMax: 256,
  /** Characters of an error message and of an unknown path in a log line. */
  accessLogSentenceMax: 400,
  accessLogPathMax: 128,
  accessLogTextsMax: 4_096,
  /** A log line: nesting and members of a value, length of a text. Bytes waiting to be written. */
  logDepthMax: 5,
  logMembersMax: 64,
  logTextMax: 4_096,
  logBacklogBytesMax: 4 * 1024 * 1024,
} as const;
