/** The console and the admin API. Sizes in bytes, times in milliseconds. */
export const consoleBounds = {
  /** Objects of a workspace; revoked keys do not count. */
  workspaceGroupsMax: 1_000,
  workspaceKeysMax: 100_000,
  accessKeysMax: 50,
  accessModelsMax: 100,
  /** How long work for the console may block the event loop at a time. */
  consoleSliceMs: 5,
  listPageMax: 1_000,
  priceListBytesMax: 8 * 1024 * 1024,
  /** Body of a control call. */
  controlBodyBytesMax: 64 * 1024,
  /** Attempts to open setup, invitation or reset links from one address. */
  setupTriesMax: 10,
  setupTriesMs: 15 * 60_000,
  /** Invitations and decisions on key requests (each), mails about alerts, and test alerts sent by a workspace in a window. */
  invitationMailsMax: 300,
  alertMailsMax: 300,
  alertTestsMax: 30,
  mailWindowMs: 60 * 60_000,
  /** Logged reports of the console's content policy in a window, and length of a logged field. */
  policyReportsMax: 20,
  policyReportsMs: 10 * 60_000,
  policyReportWordMax: 200,
  /** Live views of requests: in total, per person, rows waiting for a slow one, and lifetime. */
  tailsMax: 50,
  tailsPerUserMax: 8,
  tailRowsMax: 256,
  tailMs: 30 * 60_000,
  /**
   * Sending rows to live views in other processes: batching interval, rows per batch, interval of announcements, and how long an
   * announcement is valid.
   */
  tailBatchMs: 100,
  tailBatchRowsMax: 100,
  tailWatchMs: 10_000,
  tailWatchedMs: 30_000,
  /** Timeout of a query of the console. */
  reportMs: 5_000,
  /** Queries waiting for a thread, and rows of an answer without pages. */
  reportsWaitingMax: 100,
  reportRowsMax: 5_000,
  /** Rows of a list that are counted. */
  listCountMax: 100_000,
  /** PostgreSQL: work memory of a query over all keys, MiB. */
  reportWorkMemoryMb: 32,
  /** Test of a provider: timeout and size of its answer. */
  providerProbeMs: 25_000,
  probeAnswerBytesMax: 1024 * 1024,
  /** List of models of a provider: size of a page, pages, models. */
  modelListBytesMax: 8 * 1024 * 1024,
  modelPagesMax: 20,
  modelsListedMax: 5_000,
  /** Points of a line in a chart. */
  usageStepsMax: 400,
  /** How often alert rules are evaluated, how many messages are sent each time, and how often one is tried. */
  alertCheckMs: 15_000,
  alertsAtOnceMax: 20,
  alertTriesMax: 6,
  alertLeaseMs: 60_000,
  /** Scheduled reports: of a workspace, made each time, lease, attempts, and size of an attachment. */
  scheduledReportsMax: 100,
  reportsAtOnceMax: 10,
  reportLeaseMs: 5 * 60_000,
  reportTriesMax: 5,
  reportFileBytesMax: 512 * 1024,
  /** Rules that read the ledger, each time. */
  alertReadingsMax: 50,
  /** Rules, and channels, of a workspace or of the installation. */
  alertRulesMax: 100,
  alertChannelsMax: 50,
  /** Expiring service tokens that are checked. */
  tokensEndingMax: 1_000,
  /** Key requests: open ones and all stored ones of a person in a workspace, and how long one can be decided or collected. */
  keyRequestsOpenMax: 10,
  keyRequestsKeptMax: 60,
  keyRequestMs: 30 * 86_400_000,
  /** Workspaces listed in the answer about the caller. */
  sessionWorkspacesMax: 500,
  /** Deployments and lines of an explanation. */
  explainPlacesMax: 32,
  explainLinesMax: 32,
  /** Stored part of a captured body, and the longest base64 that is stored completely. */
  captureBodyBytesMax: 64 * 1024,
  captureBase64CharactersMax: 1024,
} as const;
