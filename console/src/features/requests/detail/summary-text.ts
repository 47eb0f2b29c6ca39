import type { AttemptDetail, Explanation, RequestDetail } from "@sluice/contract";
import { formatCount, formatDuration, formatMoment, formatUsd } from "../../../client/format.ts";
import { t } from "../../../language/areas/requests.ts";
import { endpointWords } from "../endpoint-words.ts";
import { countTokens } from "./token-classes.ts";

/** A request in sentences: who asked for what, which way it went and why, what was refused, what it used and cost. */
export function summaryOf(detail: RequestDetail): readonly string[] {
  const { attempts, explanation } = detail;
  const last = attempts.at(-1);
  if (last === undefined) return [t("requests.nothingIsKnownOfThis")];
  const refusal = explanation?.refusal ?? null;
  return [
    askedFor(detail, last),
    ...(last.outcome === "rejected" ? [] : [...passedOver(explanation, attempts), wentThrough(attempts, explanation)]),
    ...(last.outcome === "rejected" || refusal !== null ? [refused(last, refusal)] : []),
    ...used(attempts),
  ];
}

function askedFor({ key, workspace }: RequestDetail, last: AttemptDetail): string {
  const endpoint = endpointWords[last.endpoint] ?? last.endpoint;
  const how = last.stream ? t("requests.streamed2", { endpoint }) : endpoint;
  const wanted = last.requested_model || last.model || t("requests.anUnknownModel");
  const turned =
    last.model === "" || last.model === wanted ? "" : ` Its fallback ${last.model} was used and is what was paid for.`;
  return `Key “${key.name || key.id}” of workspace ${workspace.slug || workspace.id} asked for ${wanted} (${how}).${turned}`;
}

const troubles = /(?:^|; )((?:cooling|breaker open|half-open|full)\b.*)$/s;

/** Deployments that were not well when the plan was made, and were not tried. */
function passedOver(explanation: Explanation | null, attempts: readonly AttemptDetail[]): readonly string[] {
  const tried = new Set(attempts.map((attempt) => attempt.deployment));
  const unhealthy = (explanation?.plan ?? []).flatMap((place) => {
    const trouble = tried.has(place.deployment) ? null : troubles.exec(place.note ?? "")?.[1];
    return trouble == null
      ? []
      : [t("requests.providerWasPassedOver", { provider: place.provider, trouble: withoutEnd(trouble) })];
  });
  const more = unhealthy.length - toldMax;
  return more > 0 ? [...unhealthy.slice(0, toldMax), t("requests.moreWerePassedOverToo", { more })] : unhealthy;
}

const toldMax = 2;

/** The attempts one after another. */
function wentThrough(attempts: readonly AttemptDetail[], explanation: Explanation | null): string {
  const [only] = attempts;
  if (attempts.length === 1 && only !== undefined) return `${capital(ended(only, explanation))}.`;
  const told = attempts.map((attempt, place) => ended(attempt, explanation, place === attempts.length - 1));
  return `${capital(told.join("; then "))}.`;
}

/** Of an attempt that was repeated the caller saw nothing: what counts is what the upstream said. */
export function statusOf({ upstream_status, http_status }: AttemptDetail, isLast: boolean): number {
  return isLast ? http_status : (upstream_status ?? http_status);
}

function ended(attempt: AttemptDetail, explanation: Explanation | null, isLast = true): string {
  const { provider, upstream_model: upstreamModel, outcome, http_status: status, error_code: code } = attempt;
  const who =
    provider === ""
      ? t("requests.theGateway")
      : `provider ${provider}${upstreamModel === "" ? "" : ` (${upstreamModel})`}`;
  const took = formatDuration(attempt.total_ms);
  const token =
    attempt.first_token_ms === null
      ? ""
      : t("requests.theFirstTokenAfter", { first_token_ms: formatDuration(attempt.first_token_ms) });
  switch (outcome) {
    case "succeeded":
      return t("requests.answeredIn", { who, took, token });
    case "cancelled":
      return t("requests.theCallerWentAwayAfter", { took, who });
    case "interrupted":
      return t("requests.theGatewayStoppedAfterWhile", { took, who });
    default: {
      const said = explanation?.failures.find((failure) => failure.attempt_id === attempt.attempt_id)?.message;
      const words = said === undefined ? "" : `: ${withoutEnd(said)}`;
      const upstream = attempt.upstream_status;
      const passed = `${status}${code === null ? "" : ` ${code}`}`;
      if (upstream === null || upstream === status) return t("requests.failedAfterWith", { who, took, passed, words });
      return `${who} failed after ${took} with ${upstream}${isLast ? t("requests.whichTheCallerGotAs", { passed }) : ""}${words}`;
    }
  }
}

function refused(last: AttemptDetail, refusal: Explanation["refusal"]): string {
  const code = refusal?.code ?? last.error_code ?? t("requests.noCode");
  const head = t("requests.theCallerWasRefusedWith", { http_status: last.http_status, code });
  if (refusal === null) return `${head}.`;
  const facts = limitFacts(refusal);
  return `${head}: ${withoutEnd(refusal.message)}.${facts === "" ? "" : ` ${facts}.`}`;
}

/** Scope, limit, used, when it frees: as far as they are known. */
function limitFacts(refusal: NonNullable<Explanation["refusal"]>): string {
  const inUsd = refusal.code === "budget_exceeded";
  const figure = (value: number) => (inUsd ? formatUsd(value) : formatCount(value));
  const parts = [
    ...(refusal.scope === null ? [] : [t("requests.limit2", { scope: refusal.scope })]),
    ...(refusal.used === null || refusal.limit === null
      ? []
      : [t("requests.usedOf", { used: figure(refusal.used), limit: figure(refusal.limit) })]),
    ...(refusal.resets_at === null ? [] : [`frees: ${formatMoment(refusal.resets_at)}`]),
  ];
  return capital(parts.join("; "));
}

function used(attempts: readonly AttemptDetail[]): readonly string[] {
  const tokens = countTokens(attempts.map((attempt) => attempt.usage));
  const cost = attempts.reduce((sum, attempt) => sum + attempt.cost_usd, 0);
  const prices = [...new Set(attempts.flatMap((attempt) => (attempt.cost_usd > 0 ? [attempt.price_version] : [])))];
  const parts = [
    ...(tokens.input > 0
      ? [
          `${formatCount(tokens.input)} tokens in${tokens.cached > 0 ? ` (${formatCount(tokens.cached)} from the cache)` : ""}`,
        ]
      : []),
    ...(tokens.output > 0 ? [t("requests.tokensOut", { output: formatCount(tokens.output) })] : []),
    ...(tokens.images > 0 ? [`${formatCount(tokens.images)} ${tokens.images === 1 ? "image" : "images"}`] : []),
    ...(tokens.videoSeconds > 0 ? [t("requests.sOfVideo", { videoSeconds: formatCount(tokens.videoSeconds) })] : []),
    ...(tokens.toolCalls > 0
      ? [`${formatCount(tokens.toolCalls)} ${tokens.toolCalls === 1 ? "call" : "calls"} of the upstream's own tools`]
      : []),
  ];
  const [price] = prices;
  if (parts.length === 0 && cost === 0) return [];
  const at = prices.length === 1 && price != null ? ` at price version ${price}` : "";
  const paid =
    cost > 0
      ? t("requests.cost2", { cost: formatUsd(cost), at })
      : attempts.every((attempt) => attempt.price_version === null)
        ? t("requests.costNothingBecauseTheModel")
        : t("requests.costNothing");
  const guessed = attempts.some((attempt) => attempt.usage_source === "estimated")
    ? " The upstream did not say how much it was; this is an estimate."
    : "";
  return [`${capital(parts.length === 0 ? "it" : parts.join(", "))} ${paid}.${guessed}`];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A sentence that will get its own end. */
function withoutEnd(text: string): string {
  return text.trim().replace(/[.;,]+$/, "");
}
