/**
 * simulator: an upstream that plays vendors, misbehaves on request, and keeps the truth of what it served.
 *
 * A *dialect* is a vendor's wire format, a file in dialects/: conversations, images, embeddings, tokens, and the video
 * tasks of ten vendors. A *script* says how one request goes: pace, size, faults. It comes from the request (header
 * `x-sim-script`, a `[[sim {…}]]` mark in the last user message, a model name `sim{…}name`) or from a *preset* left for
 * requests to come (POST /__sim/script). The *truth* is one record per attempt, by the `x-attempt-id` header: what was
 * asked, what left, and how it ended; and one per *task* that was accepted, which stands where its age says.
 *
 * Counting is simple on purpose, so that usage can be checked exactly: a prompt token is a word of message text, an
 * output token is one content event. It imports nothing of the gateway: an oracle must not share the code it judges.
 * When a caller goes away it stops at once and notes when.
 */

export type { Script } from "./script.ts";

export { type RunningSimulator, serveSimulator } from "./serve-simulator.ts";
export { createSimulator, type Simulator } from "./simulator.ts";
export type { TaskTruthRecord, TaskTruthState } from "./task-truth.ts";
export type { TruthRecord, TruthState } from "./truth.ts";
