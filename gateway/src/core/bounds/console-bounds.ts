/** The console and the admin API. Sizes in bytes, times in milliseconds. */
export const consoleBounds = {
  /** What one workspace may have; of keys, those that are not revoked. */
  workspaceGroupsMax: 1_000,
  workspaceKeysMax: 100_000,
  /** One page of effective access: keys by models. */
  accessKeysMax: 50,
  accessModelsMax: 100,
  /** How long work for the console may hold the event loop before it lets others on. */
  consoleSliceMs: 5,
  listPageMax: 1_000,
  /** The price list, as it is sent. */
  priceListBytesMax: 8 * 1024 * 1024,
  /** Body of a control call. */
  controlBodyBytesMax: 64 * 1024,
  /** Tries of the set-up link, or of links to invitations and new passwords, from one address. */
  setupTriesMax: 10,
  setupTriesMs: 15 * 60_000,
  /** Letters of invitation, and tests of alerts, that people of one workspace send in one window. */
  lettersMax: 300,
  noticeTestsMax: 30,
  lettersMs: 60 * 60_000,
  /** Reports of the console's content policy that are logged in such a time, and how much of a field. */
  policyReportsMax: 20,
  policyReportsMs: 10 * 60_000,
  policyReportWordMax: 200,
  /** Live views of requests: how many, how many of one person, rows that wait for a slow one, how long one lasts. */
  tailsMax: 50,
  tailsPerUserMax: 8,
  tailRowsMax: 256,
  tailMs: 30 * 60_000,
  /** Between processes: rows are gathered for so long, and no more than so many are told of then; who watches says so each so often, and is believed for so long. */
  tailTellMs: 100,
  tailTellRowsMax: 100,
  tailWatchMs: 10_000,
  tailWatchedMs: 30_000,
  /** What the console asks of the database: how long one question may take. */
  reportMs: 5_000,
  /** Questions that wait for a thread, and rows of one answer that is no page. */
  reportsWaitingMax: 100,
  reportRowsMax: 5_000,
  /** PostgreSQL: what one question about all keys may take on the server, MiB. */
  reportWorkMemoryMb: 32,
  /** A try of a provider: how long its list or its answer to a small question may take (the caller waits), and how large it is. */
  providerProbeMs: 25_000,
  probeAnswerBytesMax: 1024 * 1024,
  /** A provider's list of models: one page of it, how many pages, how many models. */
  modelListBytesMax: 8 * 1024 * 1024,
  modelPagesMax: 20,
  modelsListedMax: 5_000,
  /** Points of one line of a chart. */
  usageStepsMax: 400,
  /** How often budgets are looked at for notices, how many are sent at a look, and how often one is tried. */
  noticeLookMs: 15_000,
  noticesAtOnceMax: 20,
  noticeTriesMax: 6,
  noticeLeaseMs: 60_000,
  /** Crossings of which a process remembers that they are written down; with more it begins anew. */
  noticesWrittenMax: 50_000,
  noticesPerWorkspaceMax: 100,
  /** Before its end a service token is told of when so many days are left; so many tokens are looked at. */
  tokenNoticeDays: [7, 1],
  tokensEndingMax: 1_000,
  /** Workspaces that one answer about the caller lists. */
  sessionWorkspacesMax: 500,
  /** Deployments and lines of one explanation. */
  explainPlacesMax: 32,
  explainLinesMax: 32,
  /** Captures: what is kept of a body, and the longest base64 that is kept whole. */
  captureBodyBytesMax: 64 * 1024,
  captureBase64CharactersMax: 1024,
} as const;
