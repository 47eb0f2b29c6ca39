import { type AttemptDetail, type Explanation, type RequestDetail, unnamedModels } from "@sluice/contract";
import { formatCount, formatDuration, formatMoment, formatUsd } from "../../../client/format.ts";
import { t } from "../../../language/areas/requests.ts";
import { locale } from "../../../language/chosen.ts";
import { endpointWords } from "../endpoint-words.ts";
import { isFallback, modelOf, requestedModelOf } from "../model-words.ts";
import { troubleWords } from "./plan-words.ts";
import { countTokens, type TokenCount } from "./token-classes.ts";

/** A request in sentences: caller and model, the route and its reasons, refusals, usage and cost. */
export function summaryOf(detail: RequestDetail): readonly string[] {
  const { attempts, explanation } = detail;
  const last = attempts.at(-1);
  if (last === undefined) return [t("requests.summary.unknown")];
  const refusal = explanation?.refusal ?? null;
  const rejected = last.outcome === "rejected";
  return [
    ...requested(detail, last),
    ...(rejected ? [] : [...skipped(explanation, attempts), ...attempts.map(toSentence(explanation, last))]),
    ...(rejected || refusal !== null ? refused(last, refusal) : []),
    ...(last.calls > 1 ? [t("requests.summary.folded", { count: last.calls })] : []),
    ...used(attempts),
  ];
}

function requested({ key, workspace }: RequestDetail, last: AttemptDetail): readonly string[] {
  const model = requestedModelOf(last) ?? modelOf(last);
  if (model === null) return [withoutModel({ key, workspace }, last)];
  const words = {
    key: key.name || key.id,
    workspace: workspace.slug || workspace.id,
    model,
    endpoint: endpointWords[last.endpoint] ?? last.endpoint,
  };
  const first = last.stream ? t("requests.summary.requestedStreamed", words) : t("requests.summary.requested", words);
  return isFallback(last) ? [first, t("requests.summary.fallback", { model: last.model })] : [first];
}

/** A request that was refused before its body was read, or passed through. */
function withoutModel({ key, workspace }: Pick<RequestDetail, "key" | "workspace">, last: AttemptDetail): string {
  const words = { key: key.name || key.id, workspace: workspace.slug || workspace.id };
  const endpoint = endpointWords[last.endpoint] ?? last.endpoint;
  if (last.model === unnamedModels.unread) return t("requests.summary.requestedUnread", { ...words, endpoint });
  return last.operation === null
    ? t("requests.summary.requestedNothing", { ...words, endpoint })
    : t("requests.summary.requestedPassThrough", { ...words, operation: last.operation });
}

const skippedMax = 2;

/** Deployments that were unhealthy when the plan was made, and were not tried. */
function skipped(explanation: Explanation | null, attempts: readonly AttemptDetail[]): readonly string[] {
  const tried = new Set(attempts.map((attempt) => attempt.deployment));
  const sentences = (explanation?.plan ?? []).flatMap((place) => {
    const reason = tried.has(place.deployment) ? null : troubleWords(place);
    return reason === null ? [] : [t("requests.summary.skipped", { provider: place.provider, reason })];
  });
  const count = sentences.length - skippedMax;
  return count > 0 ? [...sentences.slice(0, skippedMax), t("requests.summary.skippedMore", { count })] : sentences;
}

function toSentence(explanation: Explanation | null, last: AttemptDetail): (attempt: AttemptDetail) => string {
  return (attempt) => {
    const who = whoOf(attempt);
    const took = formatDuration(attempt.started_after_ms + attempt.total_ms);
    switch (attempt.outcome) {
      case "succeeded":
        return attempt.first_token_ms === null
          ? t("requests.summary.answered", { who, took })
          : t("requests.summary.answeredToken", {
              ...{ who, took },
              token: formatDuration(attempt.started_after_ms + attempt.first_token_ms),
            });
      case "cancelled":
        return t("requests.summary.cancelled", { who, took });
      case "interrupted":
        return t("requests.summary.interrupted", { who, took });
      case "pending":
        return t("requests.summary.pending", { who, since: formatMoment(attempt.at) });
      default:
        return failed(attempt, { who, took }, explanation, attempt === last);
    }
  };
}

function whoOf({ provider, upstream_model: model }: AttemptDetail): string {
  if (provider === "") return t("requests.summary.gateway");
  return model === ""
    ? t("requests.summary.provider", { provider })
    : t("requests.summary.providerModel", { provider, model });
}

interface WhoAndWhen {
  readonly who: string;
  readonly took: string;
}

/** The error of the provider, and the status the client received if it differs. */
function failed(
  attempt: AttemptDetail,
  attemptWords: WhoAndWhen,
  explanation: Explanation | null,
  isLast: boolean,
): string {
  const { upstream_status: upstream, http_status: http, error_code: code } = attempt;
  const message = explanation?.failures.find((failure) => failure.attempt_id === attempt.attempt_id)?.message;
  const isMapped = isLast && upstream !== null && upstream !== http;
  const number = isLast ? http : (upstream ?? http);
  const status = code === null ? String(number) : `${number} ${code}`;
  if (!isMapped) {
    return message === undefined
      ? t("requests.summary.failed", { ...attemptWords, status })
      : t("requests.summary.failedMessage", { ...attemptWords, status, message });
  }
  return message === undefined
    ? t("requests.summary.mapped", { ...attemptWords, upstream, status })
    : t("requests.summary.mappedMessage", { ...attemptWords, upstream, status, message });
}

function refused(last: AttemptDetail, refusal: Explanation["refusal"]): readonly string[] {
  const status = last.http_status;
  const code = refusal?.code ?? last.error_code ?? t("requests.summary.noCode");
  if (refusal === null) return [t("requests.summary.rejected", { status, code })];
  return [t("requests.summary.rejectedMessage", { status, code, message: refusal.message }), ...limitFacts(refusal)];
}

/** Scope, limit, usage and reset time, if available. */
function limitFacts({ code, scope, used, limit, resets_at }: NonNullable<Explanation["refusal"]>): readonly string[] {
  const figure = code.startsWith("budget_") ? formatUsd : formatCount;
  return [
    ...(scope === null ? [] : [t("requests.summary.limit", { scope })]),
    ...(used === null || limit === null
      ? []
      : [t("requests.summary.limitUsed", { used: figure(used), limit: figure(limit) })]),
    ...(resets_at === null ? [] : [t("requests.summary.limitResets", { when: formatMoment(resets_at) })]),
  ];
}

const lists = new Intl.ListFormat(locale, { type: "conjunction" });

function used(attempts: readonly AttemptDetail[]): readonly string[] {
  const parts = usageParts(countTokens(attempts.map((attempt) => attempt.usage)));
  const cost = attempts.reduce((sum, attempt) => sum + attempt.cost_usd, 0);
  if (parts.length === 0 && cost === 0) return [];
  const guessed = attempts.some((attempt) => attempt.usage_source === "estimated");
  return [
    ...(parts.length === 0 ? [] : [t("requests.summary.used", { list: lists.format(parts) })]),
    paid(attempts, cost),
    ...(guessed ? [t("requests.summary.estimated")] : []),
  ];
}

function usageParts({ input, cached, output, images, videoSeconds, toolCalls }: TokenCount): readonly string[] {
  const inputWords = (count: number) =>
    cached > 0
      ? t("requests.summary.inputTokensCached", { count, cached })
      : t("requests.summary.inputTokens", { count });
  return [
    ...(input > 0 ? [inputWords(input)] : []),
    ...(output > 0 ? [t("requests.summary.outputTokens", { count: output })] : []),
    ...(images > 0 ? [t("requests.summary.images", { count: images })] : []),
    ...(videoSeconds > 0 ? [t("requests.summary.video", { count: videoSeconds })] : []),
    ...(toolCalls > 0 ? [t("requests.summary.toolCalls", { count: toolCalls })] : []),
  ];
}

function paid(attempts: readonly AttemptDetail[], costUsd: number): string {
  const versions = new Set(attempts.flatMap((attempt) => (attempt.cost_usd > 0 ? [attempt.price_version] : [])));
  const [version] = versions;
  const cost = formatUsd(costUsd);
  if (costUsd > 0) {
    return versions.size === 1 && version != null
      ? t("requests.summary.costAt", { cost, version })
      : t("requests.summary.cost", { cost });
  }
  const unpriced = attempts.every((attempt) => attempt.price_version === null);
  return unpriced ? t("requests.summary.unpriced") : t("requests.summary.free");
}
