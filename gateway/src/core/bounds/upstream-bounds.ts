/** Calls to upstreams: routing, addresses, answers. Sizes in bytes, times in milliseconds. */
export const upstreamBounds = {
  /** A whole (not streamed) upstream answer that is held to read its usage. */
  replyBytesMax: 64 * 1024 * 1024,
  /** A longer body is sent in pieces of this size. */
  sendAtOnceBytesMax: 4 * 1024 * 1024,
  sendPieceBytes: 256 * 1024,
  /** After so much of it everybody else has a turn. */
  sendTurnBytes: 1024 * 1024,
  /** Larger whole answers are read, and translated, in threads of their own. */
  replyInPlaceBytesMax: 2 * 1024 * 1024,
  translateReplyInPlaceBytesMax: 128 * 1024,
  /** What is kept of an upstream's error body. */
  errorBodyBytesMax: 256 * 1024,
  /** Accounts whose short-lived tokens are shared by all that use them. */
  tokenAccountsMax: 10_000,
  /** One event of a stream: larger ones hold pictures or documents, and take room that all streams have together. */
  eventBytesMax: 1024 * 1024,
  /** An event that is built as a value to be looked at; in a larger one what tells of the call is found without building the rest. */
  builtEventBytesMax: 64 * 1024,
  /** What is built of one event that is translated, beside its pictures. A larger one ends the stream with an error. */
  eventJsonBytesMax: 2 * 1024 * 1024,
  /** Pictures of one translated stream that its end repeats, or that wait for their place in it. */
  streamMediaBytesMax: 64 * 1024 * 1024,
  /** Shorter inputs are mostly frame, and say nothing of how many tokens a text has. */
  calibrationTokensMin: 64,
  /** Conversations, keys and workspaces whose recent answers are remembered, each with one model. */
  forecastsMax: 50_000,
  /** Media that are fetched from their addresses for upstreams that read none: how many, how much in all, how long each. */
  inlinedMediaMax: 32,
  inlinedBytesMax: 32 * 1024 * 1024,
  inlinedFetchMs: 10_000,
  inlinedMovesMax: 3,
  /** Objects kept at upstreams that are in memory. */
  upstreamObjectsMax: 50_000,
  /** An object that the database does not know may have been made by another process: read again after this, and each time twice as long. */
  objectWaitMs: 50,
  objectWaitMsMax: 3_200,
  /** For so long one that was waited for in vain is not waited for again. */
  objectMissingMs: 10_000,
  /** OpenAI stores responses for "at least 30 days". */
  responseKeptMs: 60 * 86_400_000,
  /** Anthropic stores a thread for minutes, and deletes it within an hour. */
  threadKeptMs: 3_600_000,
  /** Vendors' containers live for 30 days at most; conversations that name one are sent again for longer. */
  containerKeptMs: 180 * 86_400_000,
  /** Attempts for one call, over all deployments: a last bound, above the deployments that a model may have. */
  attemptsMax: 128,
  /** How often one call is sent again after a try of which nobody knows whether it was done. */
  resendsMax: 2,
  /** Longest time one call waits for a Retry-After before it tries again. */
  retryAfterMsMax: 10_000,
  /** Calls in flight on one deployment; further ones go to the next. Above the 5,000 streams one process must carry. */
  deploymentInFlightMax: 8_192,
  /** Wait before the same deployment is tried again. */
  backoffMsMin: 100,
  backoffMsMax: 2_000,
  /** Longest time a deployment is passed over because its upstream said Retry-After. */
  coolMsMax: 3_600_000,
  /** Longest time that an upstream's Retry-After is taken to mean, and its callers are told. */
  retryAfterReadMsMax: 7 * 86_400_000,
  /** Deployments whose health is remembered in memory. */
  circuitsMax: 100_000,
  /** A URL we send to. */
  urlBytesMax: 8 * 1024,
  /** Upstream origins and names whose addresses are remembered; the oldest leave first. */
  originsMax: 1_024,
  /** Addresses of upstreams, of at most so many characters, of which is kept what was found in them. */
  knownUrlsMax: 1_000,
  knownUrlCharactersMax: 256,
  namesMax: 1_024,
  /** Addresses of one name that are dialled in turn when a connection is refused. */
  addressesMax: 8,
  /** A looked-up name is used this long, renewed ahead of its end, and used this much longer while look-ups fail. */
  nameFreshMs: 30_000,
  nameRenewMs: 20_000,
  nameStaleMs: 300_000,
  nameLookupMs: 2_000,
  nameRetryMs: 1_000,
  /** After this much silence of an upstream address no kept connection to it is used: it may be dead without our knowing. */
  keptConnectionIdleMs: 30_000,
  /** The head of an upstream's answer, and how many fields it has. */
  upstreamHeadBytesMax: 128 * 1024,
  upstreamFieldsMax: 256,
  /** Connections that are kept for the next request: to one address, and in all; the longest unused leave first. */
  keptConnectionsPerAddressMax: 256,
  keptConnectionsMax: 2_048,
  /** How many requests wait for the end of a turn of the event loop before they are sent. */
  turnSendsMax: 16,
  /** How much of an answer waits in memory for whoever reads it; then the upstream is slowed down. */
  unreadBytesMax: 256 * 1024,
  /**
   * A kept connection counts as stale when its upstream was silent for at least this long before, and it ended this soon
   * after it was written to: sooner than anything could have been made of the request.
   */
  staleSilenceMs: 1_000,
  staleEndMs: 250,
  /** A timer that comes later than this tells that the process stood still: what arrived meanwhile is read before it counts. */
  timerLateMs: 100,
  /** For reading what arrived while the process stood still. */
  standstillGraceMs: 1_000,
  /** One event with a picture or a document in it, as base64; a larger one ends the stream with an error. */
  imageEventBytesMax: 32 * 1024 * 1024,
  /** Tool calls of one streamed answer, and how much of the later ones' arguments waits for the first to end. */
  answerCallsMax: 1_024,
  /** Citations of one text of an answer. */
  blockCitationsMax: 1_024,
  heldArgumentsCharactersMax: 16 * 1024 * 1024,
} as const;
