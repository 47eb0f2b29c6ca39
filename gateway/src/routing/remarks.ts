import type { Remark } from "@sluice/contract/console";

export type PlaceRemark = Remark<"place">;
export type StepRemark = Remark<"step">;

const placeSentences: { readonly [Code in PlaceRemark["code"]]: Sentence<PlaceRemark, Code> } = {
  fallback_model: () => "a fallback model",
  account_bound: () => "only this account keeps what the call goes on from",
  drawn_by_weight: ({ count }) => `drawn by weight and load, first of ${count}`,
  affinity: ({ count }) => `affinity: calls of this conversation come here first, of ${count}`,
  full: ({ in_flight }) => `full, ${in_flight} calls in flight`,
  half_open: () => "half-open, it is being probed",
  recovering: ({ percent }) => `recovering, ${percent} % of its calls go there again`,
  cooling: ({ seconds }) => `cooling for ${Number(seconds).toFixed(1)} s`,
  breaker_open: ({ seconds }) => `breaker open for ${Number(seconds).toFixed(1)} s`,
  failures_in_a_row: ({ count }) => `${count} failures in a row`,
  failure_share: ({ failures, calls, seconds }) => `${failures} of ${calls} calls failed within ${seconds} s`,
  probe_failed: () => "the probe failed",
  refused_a_call: () => "it refused a call for its limit or its model",
  upstream_asked_to_wait: () => "its upstream asked to wait",
  told_by_replica: () => "told by a replica",
  deployment_disabled: () => "left out: it is switched off",
  provider_disabled: () => "left out: its provider is switched off",
  cannot_serve: () => "left out: it cannot serve this call",
  other_account: () => "left out: another account keeps what the call goes on from",
  no_weight: () => "left out: weight 0, and others of its priority have some",
  duplicate: () => "left out: the same deployment stands above",
};

const stepSentences: { readonly [Code in StepRemark["code"]]: Sentence<StepRemark, Code> } = {
  places_not_shown: ({ count }) => `${count} further deployments are not shown`,
  try_first: (params) => tried(params, "first in order"),
  try_first_unready: (params) => tried(params, "nothing is ready, so the first in order is tried all the same"),
  try_next: (params) => tried(params, "next in order"),
  try_larger: (params) => tried(params, "next in order with a larger context window"),
  try_same: (params) => tried(params, `the same again after ${params.wait_ms} ms`),
  try_same_asked: (params) => tried(params, `the same again after the ${params.wait_ms} ms its upstream asked for`),
  try_unready: (params) => tried(params, "nothing is ready, so one that is not is tried"),
  failed: ({ deployment, code, retry }) => `${deployment} failed: ${code}, retry ${retry}`,
  stop_nothing_left: () => stopped("nothing else is left to try"),
  stop_all_full: () => stopped("every deployment is at its limit of calls in flight"),
  stop_maybe_charged: () => stopped("it was sent and may be charged, so it is sent nowhere else (settings.retry_sent)"),
  stop_not_retryable: () => stopped("this failure is not retried"),
  stop_enough_attempts: () => stopped("enough attempts were made"),
  stop_too_many_repeats: () => stopped("the same deployment was repeated too often just now"),
};

/** A place's remarks in one line: what put a circuit where it is follows after a colon. */
export function placeSentence(remarks: readonly PlaceRemark[]): string {
  return remarks.reduce((line, remark) => {
    if (line === "") return wordsOf(remark);
    return `${line}${causes.has(remark.code) ? ": " : "; "}${wordsOf(remark)}`;
  }, "");
}

export function stepSentence(remark: StepRemark): string {
  return sentence<StepRemark>(stepSentences, remark);
}

const causes: ReadonlySet<PlaceRemark["code"]> = new Set([
  "failures_in_a_row",
  "failure_share",
  "probe_failed",
  "refused_a_call",
  "upstream_asked_to_wait",
  "told_by_replica",
]);

function wordsOf(remark: PlaceRemark): string {
  return sentence<PlaceRemark>(placeSentences, remark);
}

type AnyRemark = { readonly code: string; readonly params: object };
type Sentence<All extends AnyRemark, Code> = (params: Extract<All, { readonly code: Code }>["params"]) => string;

/** The table has for each code what takes just its params. */
function sentence<All extends AnyRemark>(table: object, { code, params }: All): string {
  return (Reflect.get(table, code) as (params: All["params"]) => string)(params);
}

function tried({ attempt, deployment }: Extract<StepRemark, { code: "try_first" }>["params"], why: string): string {
  return `attempt ${attempt} to ${deployment}: ${why}`;
}

function stopped(why: string): string {
  return `no further attempt: ${why}`;
}
