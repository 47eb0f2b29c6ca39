/** Every maximum of the gateway, in one place. Sizes in bytes, times in milliseconds. */
export const bounds = {
  /** A request body; larger is 413. Base64 images make big chats: 64 MiB carries twenty photographs. */
  requestBodyBytesMax: 64 * 1024 * 1024,
  /** How long a caller may take to send its body; longer is 408. */
  requestBodyTotalMs: 300_000,
  /** Nesting of a JSON body. Vendors stop far below it; a bomb stops here. */
  jsonDepthMax: 128,
  /** A model name; longer cannot exist. */
  modelNameBytesMax: 256,
  /** A whole (not streamed) upstream answer that is held to read its usage. */
  replyBytesMax: 64 * 1024 * 1024,
  /** What is kept of an upstream's error body. */
  errorBodyBytesMax: 256 * 1024,
  /** One SSE event; a larger one ends the stream with an error. */
  eventBytesMax: 1024 * 1024,
  /** What keeps the calls of one conversation together: a cache key, a session's name. */
  affinityBytesMax: 512,
  /** Shorter inputs are mostly frame, and say nothing of how many tokens a text has. */
  calibrationTokensMin: 64,
  /** Media that are fetched from their addresses for upstreams that read none: how many, how much in all, how long each. */
  inlinedMediaMax: 32,
  inlinedBytesMax: 32 * 1024 * 1024,
  inlinedFetchMs: 10_000,
  inlinedMovesMax: 3,
  /** Answers kept at upstreams whose account is remembered. */
  keepersMax: 50_000,
  /** A credential in a header. */
  credentialBytesMax: 512,
  /** Silence towards the caller after which a keep-alive comment is sent. */
  keepAliveMs: 15_000,
  /** At the end of a drain: for the last error events to leave, and for the ledger to be flushed. */
  lastBytesMs: 2_000,
  flushMs: 30_000,
  /** How often old ledger entries are looked for. */
  pruneMs: 3_600_000,
  /** A caller that has not read for this long is taken to be gone. */
  stalledReaderMs: 120_000,
  /** Cached callers; least recently used leave first. */
  keyCacheEntriesMax: 50_000,
  /** Cached unknown keys, so that a guesser costs no database read. */
  unknownKeyEntriesMax: 10_000,
  unknownKeyMs: 10_000,
  /** Attempts for one call, over all deployments. */
  attemptsMax: 4,
  /** Longest time one call waits for a Retry-After before it tries again. */
  retryAfterMsMax: 10_000,
  /** Counters kept in memory (scopes × limits). */
  countersMax: 1_000_000,
  /** How soon a checkpoint follows the last one in a stream. */
  checkpointMs: 1_000,
  checkpointEvents: 64,
  /** Journal: a segment is closed at this size; records wait at most this long for the disk. */
  journalSegmentBytes: 64 * 1024 * 1024,
  journalSyncMs: 50,
  /** Settle records held in memory while the journal cannot be written (a full disk). */
  journalBacklogMax: 10_000,
  journalRecordBytesMax: 256 * 1024,
  /** Rows in one database batch of the drain. */
  drainBatchMax: 500,
  /** How often the database is asked whether something changed. Keeps every change under two seconds. */
  changePollMs: 500,
  userAgentBytesMax: 256,
  tagsMax: 16,
  tagBytesMax: 128,
  /** What one workspace may have; of keys, those that are not revoked. */
  workspaceGroupsMax: 1_000,
  workspaceKeysMax: 100_000,
  /** One page of effective access: keys by models. */
  accessKeysMax: 50,
  accessModelsMax: 100,
  /** How long work for the console may hold the event loop before it lets others on. */
  consoleSliceMs: 5,
  rawUsageBytesMax: 8 * 1024,
  listPageMax: 1_000,
  /** Files of the console and the API reference. */
  staticFilesMax: 2_000,
  staticFileBytesMax: 16 * 1024 * 1024,
  /** Body of a control call. */
  controlBodyBytesMax: 64 * 1024,
  /** Tries of the set-up link from one address, and how many addresses are remembered. */
  setupTriesMax: 10,
  setupTriesMs: 15 * 60_000,
  throttledAddressesMax: 10_000,
  /** Reports of the console's content policy that are logged in such a time, and how much of a field. */
  policyReportsMax: 20,
  policyReportsMs: 10 * 60_000,
  policyReportWordMax: 200,
  passwordLengthMin: 12,
  passwordLengthMax: 256,
  /** Buffered journal bytes (checkpoints, refusals) that are written without waiting for the next record. */
  journalBufferBytes: 64 * 1024,
  /** The same backlog as journalBacklogMax, in bytes. */
  journalBacklogBytesMax: 64 * 1024 * 1024,
  /** How soon a refused journal write is tried again. */
  journalRetryMs: 200,
  /** How often the drain is told of new journal records. */
  drainNoticeMs: 100,
  /** The drain's waits after a refused batch: the first, doubled each time up to the last. */
  drainRetryMs: 50,
  drainRetryMsMax: 2_000,
  /** How soon a drain that died is started again. */
  drainRestartMs: 1_000,
  /** Calls in flight on one deployment; further ones go to the next. Above the 5,000 streams one process must carry. */
  deploymentInFlightMax: 8_192,
  /** Repeated attempts of one call, on whichever deployment. */
  retriesMax: 2,
  /** Attempts under way that are repeats: this share of all, but always at least retriesActiveMin. */
  retriesActiveShare: 0.2,
  retriesActiveMin: 3,
  /** Wait before the same deployment is tried again. */
  backoffMsMin: 100,
  backoffMsMax: 2_000,
  /** Longest time a deployment is passed over because its upstream said Retry-After. */
  coolMsMax: 3_600_000,
  /** Deployments whose health is remembered in memory. */
  circuitsMax: 100_000,
  /** A config file; larger is refused unread. */
  configFileBytesMax: 16 * 1024 * 1024,
  /** Nesting of a config file, and how many nodes its aliases may stand for. */
  configDepthMax: 64,
  configAliasesMax: 100,
  /** Problems of one config file that are listed; the rest are counted. */
  configProblemsMax: 100,
  /** How often a config file is looked at. A change counts when two looks in a row agree: well within one second. */
  configPollMs: 250,
  /** A URL we send to. */
  urlBytesMax: 8 * 1024,
  /** Upstream origins and names whose addresses are remembered; the oldest leave first. */
  originsMax: 1_024,
  namesMax: 1_024,
  /** Addresses of one name that are dialled in turn when a connection is refused. */
  addressesMax: 8,
  /** A looked-up name is used this long, renewed ahead of its end, and used this much longer while look-ups fail. */
  nameFreshMs: 30_000,
  nameRenewMs: 20_000,
  nameStaleMs: 300_000,
  nameLookupMs: 2_000,
  nameRetryMs: 1_000,
  /** After this much silence of an upstream address, a connection is tried beside the next request. */
  addressSilenceMs: 5_000,
  /** How long such a trial connection is kept waiting. */
  probeMs: 30_000,
  /** An answer of known length up to this is taken in one piece; a longer one is read piece by piece. */
  replyAtOnceBytesMax: 1024 * 1024,
  /** Label values of one metric; further ones are counted together as `other`. */
  metricPairsMax: 2_000,
  metricValuesMax: 64,
  metricDeploymentsMax: 2_000,
  /** Lines about failures in one second; further ones are counted and told with the next. */
  failureLinesPerSecond: 20,
  /** What a log line carries: nesting, members of one value, characters of one text, bytes that wait to be written. */
  logDepthMax: 5,
  logMembersMax: 64,
  logTextMax: 4_096,
  logBacklogBytesMax: 4 * 1024 * 1024,
  /** One event with a picture in it, as base64. */
  imageEventBytesMax: 32 * 1024 * 1024,
  /** Pictures that are counted in one answer; vendors make 15 at most. */
  imagesPerReplyMax: 1_024,
  /** Fields and files of one form, the head of each, and what may stand before the first and behind the last. */
  formPartsMax: 128,
  formHeadBytesMax: 8 * 1024,
  formMarginBytesMax: 4 * 1024,
  /** A field of a form that is read as text; a prompt is the longest. */
  formTextBytesMax: 1024 * 1024,
  /** A form whose pictures must be turned into another shape is held while that is done. */
  formConvertBytesMax: 32 * 1024 * 1024,
  /** Bodies that wait to be sent: what one keeps in memory, and what all keep in memory and on disk together. */
  spoolMemoryBytesMax: 1024 * 1024,
  spoolMemoryTotalBytesMax: 64 * 1024 * 1024,
  spoolDiskBytesMax: 4 * 1024 * 1024 * 1024,
  /** The piece in which a spooled body is written and read. */
  spoolPieceBytes: 128 * 1024,
  /** Tool calls of one streamed answer, and how much of the later ones' arguments waits for the first to end. */
  answerCallsMax: 1_024,
  heldArgumentsCharactersMax: 16 * 1024 * 1024,
  /** A packed body may become this many times as large; a small one in any case this large. */
  unpackedRatioMax: 200,
  unpackedBytesMin: 1024 * 1024,
  /** What stands behind the `?` of a caller's URL and goes on to an upstream. */
  queryBytesMax: 2 * 1024,
  /** Video tasks. One that has not ended by then has expired: vendors give up after 48 hours themselves (Ark; 72 at most). */
  taskDeadlineMs: 49 * 3_600_000,
  taskDeadlineMsMax: 73 * 3_600_000,
  /** The body of a task is kept in its row, with what stands in it as `data:`. */
  taskRequestBytesMax: 32 * 1024 * 1024,
  taskMetadataBytesMax: 4 * 1024,
  taskMaterialMax: 64,
  idempotencyKeyBytesMax: 255,
  /** How long one pass may work on a task before another may take it: a look at the upstream, or a whole submission. */
  taskLeaseMs: 120_000,
  taskSubmitLeaseMs: 300_000,
  /** One attempt to submit; how long a POST waits for all of them; how soon the poller may take what it left. */
  taskSubmitAttemptMs: 60_000,
  taskSubmitWaitMs: 60_000,
  taskAcceptedGraceMs: 10_000,
  /** One look at the upstream: to connect, to the status line, in all. */
  taskPollConnectMs: 5_000,
  taskPollHeadersMs: 15_000,
  taskPollTotalMs: 25_000,
  /** How often due tasks are asked for, and how many are looked at at once. */
  taskTickMs: 500,
  taskPollsInFlightMax: 32,
  /** A place in an account's row of polls that is nearer than this is waited for in memory. */
  taskSlotWaitMs: 1_000,
  taskSlotsMax: 100_000,
  /** How long a caller's GET waits for a look at the upstream, and a cancellation for the pass that is at work. */
  taskRefreshMs: 2_000,
  taskCancelWaitMs: 5_000,
  /** How long the vendor must say "no such task" before it is believed. */
  taskGoneMs: 600_000,
  /** Accounts of running tasks that are remembered as providers. */
  taskAccountsMax: 1_000,
  /** What became of tasks whose reservations this process holds is asked so often, so many at a time. */
  taskHoldsSweepMs: 5_000,
  taskHoldsSweepMax: 100,
  /** Results: redirects that are followed, the wait for a first byte, silence between two pieces, the whole. */
  resultMovesMax: 3,
  resultHeadersMs: 30_000,
  resultIdleMs: 60_000,
  resultTotalMs: 3_600_000,
  /** Copies of results: size, how many at once, how many wait, tries of one. */
  resultCopyBytesMax: 2 * 1024 * 1024 * 1024,
  resultCopiesActiveMax: 2,
  resultCopiesWaitingMax: 10_000,
  resultCopyTriesMax: 3,
  /** Messages to callers: tries, how long one may take, how many at once, what is kept of why one failed. */
  deliveryTriesMax: 8,
  deliveryTotalMs: 20_000,
  deliveryLeaseMs: 60_000,
  deliveriesInFlightMax: 8,
  deliveryErrorCharactersMax: 300,
  /** Changes of one task that its history keeps; the final one is always kept. */
  taskEventsMax: 500,
  /** Temporary files of blobs that were not written to for this long belong to nobody. */
  blobLeftoverMs: 3_600_000,
  /** Blobs in a bucket: the pieces they are read in, tries of one request, and how long a silent bucket is waited for. */
  bucketPieceBytes: 1024 * 1024,
  bucketTriesMax: 3,
  bucketSilenceMs: 30_000,
  bucketUploadMs: 1_800_000,
  /** Names and descriptions of asset groups and assets, in characters. */
  assetNameCharactersMax: 64,
  assetDescriptionCharactersMax: 300,
  /** Material of our own platform, as the strictest known library takes it: bytes by type, sides in pixels, width by height. */
  assetImageBytesMax: 30 * 1024 * 1024,
  assetVideoBytesMax: 50 * 1024 * 1024,
  assetAudioBytesMax: 15 * 1024 * 1024,
  assetSidePixelsMin: 300,
  assetSidePixelsMax: 6_000,
  assetRatioMin: 0.4,
  assetRatioMax: 2.5,
  /** Wider than any one vendor (Ark takes 2 to 15 seconds); each judges for itself beyond this. */
  assetSecondsMin: 1,
  assetSecondsMax: 120,
  /** Fetching an asset from its address: each wait, the whole, and how often it may move. */
  assetConnectMs: 10_000,
  assetHeadersMs: 20_000,
  assetIdleMs: 20_000,
  assetFetchMs: 120_000,
  assetMovesMax: 3,
  /** How long one pass owns an asset; longer than the fetch and what follows it. */
  assetLeaseMs: 180_000,
  /** Assets one process works on at once, and how often it looks for due ones. */
  assetsAtOnceMax: 8,
  assetTickMs: 1_000,
  /** Waits after a fetch that failed by its host's fault; an asset older than the last is given up. */
  assetRetryMs: 2_000,
  assetRetryMsMax: 30_000,
  assetGiveUpMs: 60_000,
  /** Waits between looks at an asset that an upstream's library is processing, and when that has taken too long. */
  assetLookMs: 1_000,
  assetLookMsMax: 15_000,
  assetProcessingMs: 86_400_000,
  /** A caller that asks sees what the library said at most this long ago. */
  assetFreshMs: 2_000,
  /** One call to an upstream's asset library, and its answer. */
  assetLibraryMs: 30_000,
  assetLibraryBytesMax: 256 * 1024,
  /** How long a task waits for its asset to become Active on another account. */
  assetBindMs: 30_000,
  /** Assets of a group that are looked at for the container it already has on an account. */
  assetSiblingsMax: 50,
  /** An asset that is sent inside a request because nothing of ours can be fetched from outside. */
  assetInlinedBytesMax: 10 * 1024 * 1024,
  /** Signed addresses of our blobs: those shown to callers, and those given to upstreams, which may queue for hours. */
  blobUrlMs: 3_600_000,
  blobUrlUpstreamMs: 86_400_000,
  /** What is read of a file at once to see its measures, how many of its parts are looked at, and how much tells its type. */
  mediaWindowBytes: 64 * 1024,
  mediaPartsMax: 512,
  mediaOpeningBytes: 64,
  /** A task's name at its vendor, and what is kept of a vendor's sentence about why one failed. */
  upstreamIdCharactersMax: 512,
  /** Live views of requests: how many, how many of one person, rows that wait for a slow one, how long one lasts. */
  tailsMax: 50,
  tailsPerUserMax: 8,
  tailRowsMax: 256,
  tailMs: 30 * 60_000,
  /** Names of keys that the console remembers, and how long they count as right. */
  keyNamesMax: 10_000,
  keyNameMs: 30_000,
  taskErrorCharactersMax: 2_000,
  /** What the console asks of the database: how long one question may take, and one whose answer a search may cut short. */
  reportMs: 5_000,
  reportScanMs: 120,
  /** A late question has this long to notice it before its thread is ended; an unasked thread ends by itself after this. */
  reportGraceMs: 1_000,
  reportIdleMs: 60_000,
  /** Threads that answer, questions that wait for one, rows of one answer that is no page. */
  reportThreads: 2,
  reportsWaitingMax: 100,
  reportRowsMax: 5_000,
  /** A copy of the whole database. */
  backupMs: 1_800_000,
  /** A try of a provider: how long its list or its answer to a small question may take (the caller waits), and how large it is. */
  providerProbeMs: 25_000,
  probeAnswerBytesMax: 1024 * 1024,
  /** A provider's list of models: one page of it, how many pages, how many models. */
  modelListBytesMax: 8 * 1024 * 1024,
  modelPagesMax: 20,
  modelsListedMax: 5_000,
  /** A session of the console: unused, in all, fresh enough for what is dangerous, and how often its use is written down. */
  sessionIdleMs: 12 * 3_600_000,
  sessionTotalMs: 7 * 86_400_000,
  sessionFreshMs: 600_000,
  sessionTouchMs: 60_000,
  sessionsPerUserMax: 20,
  passkeysPerUserMax: 20,
  /** Tries to sign in by account and by address in one window, which doubles while it is used up, and who is remembered. */
  signInTriesMax: 10,
  signInTriesMs: 15 * 60_000,
  signInTriesMsMax: 86_400_000,
  signInTriersMax: 10_000,
  /** Challenges and trips to an issuer that one address may begin in such a window. */
  signInStartsMax: 60,
  /** Passwords that are hashed at once (64 MiB each), and how many wait. */
  passwordsAtOnceMax: 2,
  passwordsWaitingMax: 32,
  /** A second factor is waited for this long, and a code that was used is remembered this long. */
  secondFactorMs: 600_000,
  usedCodeMs: 180_000,
  /** A refused sign-in is written down when its answer has certainly left. */
  refusalNoteMs: 50,
  /** How often what ended in sign-in is cleared away. */
  signInSweepMs: 600_000,
  /** Addresses this gateway is opened at, each with its own sign-in. */
  signInSitesMax: 8,
  /** An issuer of single sign-on: one request to it, its answer, and how long its documents are believed. */
  issuerMs: 10_000,
  issuerAnswerBytesMax: 256 * 1024,
  issuerDocumentMs: 3_600_000,
  issuerKeysRetryMs: 30_000,

  /** Points of one line of a chart. */
  usageStepsMax: 400,
  /** A chart by minutes is of so long a time at most, and read from so many entries, those of the time before included. */
  usageMinutesMaxMs: 6 * 3_600_000,
  usageEntriesMax: 200_000,

  /** How often budgets are looked at for notices, how many are sent at a look, and how often one is tried. */
  noticeLookMs: 15_000,
  noticesAtOnceMax: 20,
  noticeTriesMax: 6,
  noticeLeaseMs: 60_000,
  noticesPerWorkspaceMax: 100,
  /** One mail, from the connection to the server's last word. */
  mailMs: 20_000,
  /** How long an invitation and a link to a new password hold, and how many invitations one place has open. */
  invitationMs: 7 * 86_400_000,
  passwordResetMs: 86_400_000,
  invitationsOpenMax: 1_000,
  /** Admin tokens of one user, and how often their use is written down. */
  tokensPerUserMax: 200,
  tokenTouchMs: 60_000,
  /** Workspaces that one answer about the caller lists. */
  sessionWorkspacesMax: 500,

  /** Explanations: deployments and lines of one, the characters of a sentence in it, and how many in one second that tell of a mere choice. */
  explainPlacesMax: 32,
  explainLinesMax: 32,
  explainTextMax: 600,
  explainChoicesPerSecond: 200,
  /** Captures: what is kept of a body and of a header, how many headers, and how long base64 may be that stands whole. */
  captureBodyBytesMax: 64 * 1024,
  captureHeaderCharactersMax: 4 * 1024,
  captureHeadersMax: 100,
  captureBase64CharactersMax: 1024,
  /** Both wait this long to be written together, in batches so large; what does not fit into the queue is dropped. */
  explainFlushMs: 100,
  explainBatchRowsMax: 128,
  explainBatchBytesMax: 1024 * 1024,
  explainQueueRowsMax: 10_000,
  explainQueueBytesMax: 16 * 1024 * 1024,
  /** A thread that writes them and died is started again after this. */
  explainRestartMs: 5_000,
} as const;
