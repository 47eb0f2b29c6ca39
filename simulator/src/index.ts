/**
 * simulator: an upstream that imitates vendors, misbehaves on demand, and records what it really served (the truth).
 *
 * A *dialect* is a vendor's wire format, one file in dialects/: conversations, images, embeddings, tokens, and the
 * video tasks of ten vendors. A *script* controls one request: its pace, size and faults. It comes from the request
 * (header `x-sim-script`, a `[[sim {…}]]` marker in the last user message, a model name `sim{…}name`) or from a *preset*
 * for later requests (POST /__sim/script). The *truth* has one record per attempt, found by its `x-attempt-id` header:
 * the request, the bytes sent, and how it ended. It also has one record per accepted *task*, whose state follows from
 * its age.
 *
 * Counting is deliberately simple, so that usage can be checked exactly: a prompt token is a word of message text, and
 * an output token is one content event. The simulator imports nothing from the gateway, because a test oracle must not
 * share code with what it tests. When a caller disconnects, it stops at once and records the time.
 */

export type { BillingRules } from "./dialects/billing.ts";
export type { Script } from "./script.ts";

export { type RunningSimulator, serveSimulator } from "./serve-simulator.ts";
export { checkSignature } from "./sigv4.ts";
export { createSimulator, type Simulator } from "./simulator.ts";
export type { TaskTruthRecord, TaskTruthState } from "./task-truth.ts";
export type { TruthRecord, TruthState } from "./truth.ts";
