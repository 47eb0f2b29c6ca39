/** The config file, logs and metrics. Sizes in bytes, times in milliseconds. */
export const startBounds = {
  /** Signals to end that come this soon after the first are that one again; a later one is somebody who is tired of waiting. */
  sameSignalMs: 2_000,
  /** How long readiness fails before calls are refused, when nothing else is said: a load balancer's look or two. */
  drainGraceMs: 5_000,
  drainGraceMsMax: 300_000,
  /** A config file; larger is refused unread. */
  configFileBytesMax: 16 * 1024 * 1024,
  /** How long before the end of a certificate the gateway and its doctor warn. */
  certificateSoonMs: 14 * 86_400_000,
  /** How often a config file that rests is looked at, for changes that the system does not tell of: two seconds in all. */
  configRestMs: 1_500,
  /** Label values of one metric; further ones are counted together as `other`. There are fewer routes than that. */
  metricRoutesMax: 256,
  metricPairsMax: 2_000,
  metricValuesMax: 64,
  metricDeploymentsMax: 2_000,
  /** Lines about failures in one second; further ones are counted and told with the next. */
  failureLinesPerSecond: 20,
  /** Access lines wait this long, and until there are so many bytes, to be written together; a text in one, and texts kept. */
  accessLogMs: 100,
  accessLogBytesMax: 64 * 1024,
  accessLogTextMax: 256,
  /** Characters of an error's sentence in a line of the log, and of a path where nothing is. */
  accessLogSentenceMax: 400,
  accessLogPathMax: 128,
  accessLogTextsMax: 4_096,
  /** What a log line carries: nesting, members of one value, characters of one text, bytes that wait to be written. */
  logDepthMax: 5,
  logMembersMax: 64,
  logTextMax: 4_096,
  logBacklogBytesMax: 4 * 1024 * 1024,
} as const;
