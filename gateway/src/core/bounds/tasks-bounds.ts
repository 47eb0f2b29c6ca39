import { videoTaskFields } from "@sluice/contract/words";

/** Video tasks, their results and messages. Sizes in bytes, times in milliseconds. */
export const tasksBounds = {
  /** Video tasks. One that has not ended by then has expired: vendors give up after 48 hours themselves (Ark; 72 at most). */
  taskDeadlineMs: 49 * 3_600_000,
  taskDeadlineMsMax: 73 * 3_600_000,
  /** The body of a task, with what stands in it as `data:`. */
  taskRequestBytesMax: 32 * 1024 * 1024,
  /** So small a body is worked on at once and kept whole in its row; of a larger one the material is kept apart. */
  taskBodyInPlaceBytesMax: 64 * 1024,
  /** What of a larger body is not material: it stays in the row. */
  taskOutlineBytesMax: 256 * 1024,
  /** A longer text of such a body is material: a `data:` URI, and any other (base64 alone) that is no address. Words never are. */
  taskDataInPlaceCharactersMax: 1024,
  taskTextInPlaceCharactersMax: 8 * 1024,
  /** What a video is to show, in words. Vendors take 2,000 to 32,000 characters. */
  taskPromptCharactersMax: videoTaskFields.prompt.maxLength,
  /** How long material may take into the blob store, when it belongs to nobody, and how often it is looked for, how much at once. */
  taskMaterialPutMs: 120_000,
  taskMaterialUnownedMs: 900_000,
  taskMaterialSweepMs: 60_000,
  taskMaterialSweepMax: 32,
  taskMetadataBytesMax: 4 * 1024,
  taskMaterialMax: videoTaskFields.references.maxItems,
  idempotencyKeyBytesMax: 255,
  /** How long one pass may work on a task before another may take it: a poll of the upstream, or a whole submission. */
  taskLeaseMs: 120_000,
  taskSubmitLeaseMs: 300_000,
  /** One attempt to submit; how long a POST waits for all of them; how soon the poller may take what it left. */
  taskSubmitAttemptMs: 60_000,
  taskSubmitWaitMs: 60_000,
  taskAcceptedGraceMs: 10_000,
  /** One poll of the upstream: to connect, to the status line, in all. */
  taskPollConnectMs: 5_000,
  taskPollHeadersMs: 15_000,
  taskPollTotalMs: 25_000,
  /** How often due tasks are asked for at most, how often when none is due, and how many are looked at at once. */
  taskTickMs: 500,
  taskIdleMs: 5_000,
  taskPollsInFlightMax: 32,
  /** A place in an account's row of polls that is nearer than this is waited for in memory; accounts nobody polls are forgotten. */
  taskSlotWaitMs: 1_000,
  taskPollsKeptMs: 24 * 3_600_000,
  /** How long a caller's GET waits for a poll of the upstream, and a cancellation for the pass that is at work. */
  taskRefreshMs: 2_000,
  taskCancelWaitMs: 5_000,
  /** How long the vendor must say "no such task" before it is believed. */
  taskGoneMs: 600_000,
  /** From the last word of the call that began a background response to its first poll. */
  backgroundFirstPollMs: 2_000,
  /** How often those that have not ended are counted, for metrics. */
  backgroundCountMs: 60_000,
  /** How long a vendor that does not answer is asked again for a task that is past its deadline, and how often. */
  taskUnansweredMs: 600_000,
  taskUnansweredPollMs: 30_000,
  /** Accounts of running tasks that are remembered as providers. */
  taskAccountsMax: 1_000,
  /** What became of tasks whose reservations this process holds is asked so often, so many at a time. */
  taskHoldsSweepMs: 5_000,
  taskHoldsSweepMax: 100,
  /** The same of a shared counter, which every process asks. */
  taskHoldsSharedSweepMax: 20,
  /** How long a counter that held nothing is not asked, unless something is held meanwhile. */
  taskHoldsRestMs: 30_000,
  /**
   * How long something is held for a task that is not stored: its request may still be on its way to the store. A background
   * response comes out of a journal, which may be behind.
   */
  taskHoldUnstoredMs: 120_000,
  responseHoldUnstoredMs: 3_600_000,
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
  /** Copies that were left when a process ended: how old their tasks may be, and how long a link lives whose vendor does not say. */
  resultCopyTaskMsMax: 3 * 86_400_000,
  resultLinkMs: 86_400_000,
  /** Messages to callers: tries, how long one may take, how many at once, what is kept of why one failed. */
  deliveryTriesMax: 8,
  deliveryTotalMs: 20_000,
  deliveryLeaseMs: 60_000,
  deliveriesInFlightMax: 8,
  deliveryErrorCharactersMax: 300,
  /** Changes of one task that its history keeps; the final one is always kept. */
  taskEventsMax: 500,
  taskErrorCharactersMax: 2_000,
} as const;
