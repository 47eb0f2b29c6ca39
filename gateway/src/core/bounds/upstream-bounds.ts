/** Calls to upstreams. Sizes in bytes, times in milliseconds. */
export const upstreamBounds = {
  /** An answer that is not streamed, held to read its usage. */
  replyBytesMax: 64 * 1024 * 1024,
  /** Longer bodies are sent as streams. */
  sendAtOnceBytesMax: 4 * 1024 * 1024,
  sendPieceBytes: 256 * 1024,
  /** After this many bytes other calls get a turn. */
  sendTurnBytes: 1024 * 1024,
  /** Larger answers are read and translated in threads. */
  replyInPlaceBytesMax: 2 * 1024 * 1024,
  translateReplyInPlaceBytesMax: 128 * 1024,
  /** Stored part of an upstream's error body. */
  errorBodyBytesMax: 256 * 1024,
  /** Accounts with cached short-lived tokens. */
  tokenAccountsMax: 10_000,
  /** An event of a stream. Larger ones hold images or documents, and use memory shared by all streams. */
  eventBytesMax: 1024 * 1024,
  /** Larger events are scanned without being parsed. */
  builtEventBytesMax: 64 * 1024,
  /** Parsed part of a translated event without its images. A larger one ends the stream with an error. */
  eventJsonBytesMax: 2 * 1024 * 1024,
  /** Images of a translated stream that its end repeats, or that wait for their position. */
  streamMediaBytesMax: 64 * 1024 * 1024,
  /** Shorter inputs do not show how many tokens a text has. */
  calibrationTokensMin: 64,
  /** Conversations, keys and workspaces with remembered answer lengths, each for one model. */
  forecastsMax: 50_000,
  /** Media fetched for upstreams that accept no URLs: count, total size, timeout. */
  inlinedMediaMax: 32,
  inlinedBytesMax: 32 * 1024 * 1024,
  inlinedFetchMs: 10_000,
  inlinedMovesMax: 3,
  /** Cached objects of upstreams. */
  upstreamObjectsMax: 50_000,
  /** An unknown object may have been created by another process: first pause before it is read again, doubled each time. */
  objectWaitMs: 50,
  objectWaitMsMax: 3_200,
  /** How long a missing object is not waited for again. */
  objectMissingMs: 10_000,
  /** OpenAI stores responses for "at least 30 days". */
  storedResponseMs: 60 * 86_400_000,
  /** Anthropic stores a thread for minutes, and deletes it within an hour. */
  storedThreadMs: 3_600_000,
  /** Vendors keep containers for at most 30 days, but conversations that name one are sent for longer. */
  storedContainerMs: 180 * 86_400_000,
  /** Attempts of a call over all deployments. Higher than the number of deployments of a model. */
  attemptsMax: 128,
  /** How often a call is resent after an attempt with an unknown result. */
  resendsMax: 2,
  /** Longest Retry-After that a call waits for. */
  retryAfterMsMax: 10_000,
  /** Running calls of a deployment; further ones go to the next. Higher than the 5,000 streams of a process. */
  deploymentInFlightMax: 8_192,
  /** First pause before the same deployment is retried. */
  backoffMsMin: 100,
  backoffMsMax: 2_000,
  /** Longest time that a deployment is skipped because of Retry-After. */
  coolMsMax: 3_600_000,
  /** Longest Retry-After that is accepted and reported to callers. */
  retryAfterReadMsMax: 7 * 86_400_000,
  /** Deployments with health in memory. */
  circuitsMax: 100_000,
  urlBytesMax: 8 * 1024,
  /** Cached upstream origins and resolved names. */
  originsMax: 1_024,
  /** Cached parsed URLs, and their length. */
  parsedUrlsMax: 1_000,
  parsedUrlCharactersMax: 256,
  namesMax: 1_024,
  /** Addresses of a name that are tried when a connection is refused. */
  addressesMax: 8,
  /** How long a resolved name is used, how long before its end it is renewed, and how much longer it is used while lookups fail. */
  nameFreshMs: 30_000,
  nameRenewMs: 20_000,
  nameStaleMs: 300_000,
  nameLookupMs: 2_000,
  nameRetryMs: 1_000,
  /** Idle connections are not reused after this long without data from the address, because they may be dead. */
  keptConnectionIdleMs: 30_000,
  /** Header of an upstream's answer, and its number of fields. */
  upstreamHeadBytesMax: 128 * 1024,
  upstreamFieldsMax: 256,
  /** Idle connections: per address and in total; the longest unused are closed. */
  keptConnectionsPerAddressMax: 256,
  keptConnectionsMax: 2_048,
  /** Requests waiting for the end of an event loop turn before they are sent. */
  turnSendsMax: 16,
  /** Buffered part of an answer; then the upstream is slowed down. */
  unreadBytesMax: 256 * 1024,
  /**
   * A reused connection counts as stale if the upstream was silent for at least this long before, and closed it this soon after the
   * request was written.
   */
  staleSilenceMs: 1_000,
  staleEndMs: 250,
  /** A timer that is this late shows that the process was paused: arrived data is read before the timeout counts. */
  timerLateMs: 100,
  /** Time for reading data that arrived during a pause. */
  standstillGraceMs: 1_000,
  /** An event with an image or document in base64; a larger one ends the stream with an error. */
  imageEventBytesMax: 32 * 1024 * 1024,
  /** Tool calls of a streamed answer, and buffered arguments of later ones. */
  answerCallsMax: 1_024,
  /** Citations of a text of an answer. */
  blockCitationsMax: 1_024,
  heldArgumentsCharactersMax: 16 * 1024 * 1024,
} as const;
