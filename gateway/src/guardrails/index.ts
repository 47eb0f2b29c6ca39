/**
 * guardrails: rules on what calls may send and receive. Finds credentials, personal data and patterns in requests and answers, whole and
 * streamed; blocks, masks and restores. Models and services can judge texts, too. A check that cannot be done blocks the call or
 * lets it pass, as configured.
 */
export { CallGuard, guardedInPlaceBytesMax, isAwaited } from "./call-guard.ts";
export { checkEntryOf } from "./check-entry.ts";
export { type CheckRecord, guardrailsHeader } from "./check-record.ts";
export { createDetector, patternProblem } from "./detect/index.ts";
export { GuardedStream } from "./guarded-stream.ts";
export { type InspectAsk, inspectBody } from "./inspect-body.ts";
export { type CapturedAsk, type CapturedOutcome, inspectCaptured } from "./inspect-captured.ts";
export type { JudgedText } from "./judged-texts.ts";
export { appliesToCaller, isLocating, policyOf, type SidePolicy } from "./policy.ts";
export { type RemoteVerdict, readWebhookVerdict } from "./webhook-verdict.ts";
