import { modelNameCharactersMax, requestFields } from "@sluice/contract/words";

/** Requests of callers. Sizes in bytes, times in milliseconds. */
export const requestsBounds = {
  /** A larger request body is refused (413). 64 MiB holds twenty photographs in base64. */
  requestBodyBytesMax: 64 * 1024 * 1024,
  /** A body without material (assets and their groups); a larger one is refused (413). */
  plainBodyBytesMax: 1024 * 1024,
  /** Body of a vendor's callback, which has a token in its path and no key. */
  callbackBodyBytesMax: 64 * 1024,
  /** A body with at most this content-length is read in one piece. */
  bodyAtOnceBytesMax: 256 * 1024,
  /** Larger pieces are kept as they are; smaller ones are copied together. */
  bodyPieceKeptBytesMin: 32 * 1024,
  bodyPieceBytes: 256 * 1024,
  /** After this many bytes other callers get a turn. */
  bodyTurnBytes: 1024 * 1024,
  /** Larger bodies are read and translated in threads. */
  readInPlaceBytesMax: 2_560 * 1024,
  translateInPlaceBytesMax: 16 * 1024,
  /** Bodies that are searched for seals of other vendors or for beta fields. */
  unsealInPlaceBytesMax: 64 * 1024,
  /** Timeout for sending a body (408). */
  requestBodyTotalMs: 300_000,
  /** JSON values in a body, and members at its top. An agent's 2 MB have 50,000; an embedding has up to 300,000 tokens. */
  jsonValuesMax: 500_000,
  jsonMembersMax: 4_096,
  /** JSON values in a body that creates an asset, a group or a video. */
  plainValuesMax: 10_000,
  plainMembersMax: 1_000,
  /** A member that decides about a call, such as a flag or an id. Longer ones are ignored. */
  governingBytesMax: 4_096,
  /** Continuation tokens of interactions. */
  interactionTokenBytesMax: 65_536,
  /** Model name in characters. */
  modelNameCharactersMax,
  /** A cache key or session name that keeps the calls of a conversation together. */
  affinityBytesMax: 512,
  /** Objects of the upstream named in one body. */
  namedObjectsMax: 1_000,
  /** Lists of tools, or single tools, added during a conversation. */
  toolListsMax: 500,
  /** Calls of an upstream's own tools that money is held for, if the request sets no limit. */
  serverToolCallsAssumed: 10,
  /** Header names for which it is cached whether they are forwarded. */
  headerNamesMax: 500,
  /** Silence after which a keep-alive comment is sent to the caller. */
  keepAliveMs: 15_000,
  /** Segments of a path. Our longest has eleven; a model name may add some. */
  pathPartsMax: 24,
  /** Texts of an embedding request that are handled one by one. */
  embeddingInputsMax: requestFields["batch-embed-contents"].requests.maxItems,
  /** Idle timeout of a connection, and of a caller that neither reads nor writes. */
  idleConnectionMs: 60_000,
  /** Bytes of pipelined requests; then the connection is not read. */
  pipelinedBytesMax: 64 * 1024,
  /** How long a caller may continue sending on a connection that is about to close. */
  lingerMs: 5_000,
  /** A slower caller is cut off after this total time, which faster reading regains. Only time that the gateway waits counts. */
  slowBytesPerSecond: 1_024,
  stalledReaderMs: 120_000,
  /** Connections that an operator may allow. */
  connectionsMin: 16,
  connectionsMax: 1_000_000,
  /** Open WebSockets of a key. */
  socketsOfKeyMax: 64,
  /** A WebSocket frame. */
  socketFrameBytesMax: 8 * 1024 * 1024,
  /** A larger frame is not read, and ends the WebSocket. */
  socketFrameReadBytesMax: 16 * 1024 * 1024,
  /** Named lanes of a WebSocket, and frames waiting for theirs. */
  socketLanesMax: 32,
  socketWaitingMax: 32,
  /** Stored conversation of a lane, in characters of JSON. */
  socketLaneCharactersMax: 8 * 1024 * 1024,
  /** Idle and total lifetime of a WebSocket, as at OpenAI. */
  socketIdleMs: 15 * 60_000,
  socketLifeMs: 60 * 60_000,
  /** How often the age and key of an open WebSocket are checked. */
  socketWatchMs: 10_000,
  /** Cached callers; the least recently used are dropped. */
  keyCacheEntriesMax: 50_000,
  /** The change feed reports every changePollMs. Without a report for this long, keys in use are read again. */
  keyFreshMs: 10_000,
  /** Without a report for this long, calls wait for their key to be read, unless the database is down. */
  keyAgeMsMax: 60_000,
  /** A key in use is always read again after this long. */
  keyRereadMs: 3_600_000,
  /** Keys read again at the same time in the background, and the pause after a failure. */
  keyRefreshesMax: 16,
  keyRefreshRestMs: 1_000,
  /** How often the database is polled for changes, so that they apply within two seconds. */
  changePollMs: 1_500,
  /** Parts of a form, header of a part, and bytes before the first and after the last. */
  formPartsMax: 128,
  formHeadBytesMax: 8 * 1024,
  formMarginBytesMax: 4 * 1024,
  /** A text field of a form; the longest is a prompt. */
  formTextBytesMax: 1024 * 1024,
  /** A form with images that must be converted. */
  formConvertBytesMax: 32 * 1024 * 1024,
  /** Size of a piece of a spooled body. */
  spoolPieceBytes: 128 * 1024,
  /** Compression ratio of a body. */
  unpackedRatioMax: 200,
  /** How often one key may request its usage in a minute. */
  usageRequestsMax: 60,
  /** Query of a caller's URL that is forwarded. */
  queryBytesMax: 2 * 1024,
} as const;
