import { modelNameCharactersMax, requestFields } from "@sluice/contract/words";

/** What a caller may send, and how long it may take. Sizes in bytes, times in milliseconds. */
export const requestsBounds = {
  /** A request body; larger is 413. Base64 images make big chats: 64 MiB carries twenty photographs. */
  requestBodyBytesMax: 64 * 1024 * 1024,
  /** A body that holds names, addresses and settings, but no material (assets and their groups); larger is 413. */
  plainBodyBytesMax: 1024 * 1024,
  /** A body from somebody who shows no key, only a token in the path: a vendor's callback. */
  callbackBodyBytesMax: 64 * 1024,
  /** A body that says that it is no larger is taken in one piece; others are counted as they come. */
  bodyAtOnceBytesMax: 256 * 1024,
  /** What comes in pieces of this size is kept so, not copied; shorter ones are put together in larger ones. */
  bodyPieceKeptBytesMin: 32 * 1024,
  bodyPieceBytes: 256 * 1024,
  /** After so much of a body everybody else has a turn. */
  bodyTurnBytes: 1024 * 1024,
  /** Larger bodies than these are read and translated in threads of their own. */
  readInPlaceBytesMax: 2_560 * 1024,
  translateInPlaceBytesMax: 16 * 1024,
  /** What is walked member by member, for what another vendor sealed in it, or for fields of betas. */
  unsealInPlaceBytesMax: 64 * 1024,
  /** How long a caller may take to send its body; longer is 408. */
  requestBodyTotalMs: 300_000,
  /** Values of a JSON body in all, and members at its top. An agent's 2 MB have 50,000; 300,000 tokens are an embedding's most. */
  jsonValuesMax: 500_000,
  jsonMembersMax: 4_096,
  /** The same of a body that makes an asset, a group or a video. */
  plainValuesMax: 10_000,
  plainMembersMax: 1_000,
  /** A member that decides something about a call: a flag, an id. What is longer says nothing. */
  governingBytesMax: 4_096,
  /** A model's name, in characters as people count them (of up to four bytes); longer cannot exist. */
  modelNameCharactersMax,
  /** What keeps the calls of one conversation together: a cache key, a session's name. */
  affinityBytesMax: 512,
  /** Objects at the upstream that one body names. */
  namedObjectsMax: 1_000,
  /** Lists of tools, or single ones, that a conversation adds on its way. */
  toolListsMax: 500,
  /** Calls of one of an upstream's own tools that money is held for, where the call sets no limit of its own. */
  serverToolCallsAssumed: 10,
  /** Names of headers for which it is remembered whether they go to an account. */
  headerNamesMax: 500,
  /** Silence towards the caller after which a keep-alive comment is sent. */
  keepAliveMs: 15_000,
  /** Parts of a path. The longest of ours has eleven; a model's name may add some. */
  pathPartsMax: 24,
  /** Texts that one call for vectors may hold, as far as they are looked at one by one. */
  embeddingInputsMax: requestFields["batch-embed-contents"].requests.maxItems,
  /** A connection on which no call is under way, or whose caller neither reads nor writes. */
  idleConnectionMs: 60_000,
  /** What waits of requests that are sent before the one ahead of them was answered; then the connection is not read. */
  pipelinedBytesMax: 64 * 1024,
  /** How long the caller of a connection that is about to close may go on sending. */
  lingerMs: 5_000,
  /**
   * A caller that reads fewer bytes in a second is waited for this long, in all; what moves faster gains it back. Only time in which the
   * gateway waits for the caller counts.
   */
  slowBytesPerSecond: 1_024,
  stalledReaderMs: 120_000,
  /** Connections of callers: how many an operator may allow. */
  connectionsMin: 16,
  connectionsMax: 1_000_000,
  /** WebSockets of one key that are open at once. */
  socketsOfKeyMax: 64,
  /** What one frame may hold. */
  socketFrameBytesMax: 8 * 1024 * 1024,
  /** Up to here a frame that is too large is told so; a larger one is not even read, and ends the socket. */
  socketFrameReadBytesMax: 16 * 1024 * 1024,
  /** Of one WebSocket: lanes with a name, and frames that wait for theirs. */
  socketLanesMax: 32,
  socketWaitingMax: 32,
  /** What is remembered of the conversation of one lane, in characters of JSON. */
  socketLaneCharactersMax: 8 * 1024 * 1024,
  /** A WebSocket ends after so long without a response, and after so long in any case, as OpenAI's do. */
  socketIdleMs: 15 * 60_000,
  socketLifeMs: 60 * 60_000,
  /** How often an open WebSocket is looked at: its age, and whether its key may still be used. */
  socketWatchMs: 10_000,
  /** Cached callers; least recently used leave first. */
  keyCacheEntriesMax: 50_000,
  /** The feed of changes says every changePollMs that nothing was changed. Where it has not for so long, keys in use are read anew. */
  keyFreshMs: 10_000,
  /** From then on calls wait for that, unless the database does not answer. */
  keyAgeMsMax: 60_000,
  /** A key in use is read anew after so long in any case. */
  keyRereadMs: 3_600_000,
  /** How many are read anew at once beside what callers wait for; after a failure none for so long. */
  keyRefreshesMax: 16,
  keyRefreshRestMs: 1_000,
  /** How often the database is asked whether something changed. Keeps every change under two seconds. */
  changePollMs: 1_500,
  /** Fields and files of one form, the head of each, and what may stand before the first and behind the last. */
  formPartsMax: 128,
  formHeadBytesMax: 8 * 1024,
  formMarginBytesMax: 4 * 1024,
  /** A field of a form that is read as text; a prompt is the longest. */
  formTextBytesMax: 1024 * 1024,
  /** A form whose pictures must be turned into another shape is held while that is done. */
  formConvertBytesMax: 32 * 1024 * 1024,
  /** The piece in which a spooled body is written and read. */
  spoolPieceBytes: 128 * 1024,
  /** A packed body may become this many times as large. */
  unpackedRatioMax: 200,
  /** How often one key may request its usage in a minute. */
  usageRequestsMax: 60,
  /** What stands behind the `?` of a caller's URL and goes on to an upstream. */
  queryBytesMax: 2 * 1024,
} as const;
