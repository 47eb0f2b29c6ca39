import type { AttentionCheck, AttentionItem, Remark } from "@sluice/contract";
import { attentionChecks, attentionSeverities, meets, remarkSentence } from "@sluice/contract/words";
import { type Actor, asFailure, type Workspace } from "#core/index.ts";
import type { ConsoleDependencies } from "../dependencies.ts";
import { type Viewer, visiblePerson } from "../handlers/callers.ts";
import { checkAlerts, joined } from "./alerts.ts";
import { checkBudgets } from "./budgets.ts";
import { checkCertificates, checkErrors, checkKeys, checkProviders, checkTokens } from "./calls.ts";
import type { Check, Finding } from "./finding.ts";
import { checkGateway, checkPrices, checkWebhooks } from "./installation.ts";
import { checkRequests } from "./key-requests.ts";

const checks: Readonly<Record<AttentionCheck, Check>> = {
  budgets: checkBudgets,
  errors: checkErrors,
  keys: checkKeys,
  requests: checkRequests,
  tokens: checkTokens,
  providers: checkProviders,
  certificates: checkCertificates,
  prices: checkPrices,
  webhooks: checkWebhooks,
  alerts: checkAlerts,
  gateway: checkGateway,
};

/** The role that a check needs. */
const needs = {
  budgets: "viewer",
  errors: "viewer",
  keys: "viewer",
  requests: "viewer",
  tokens: "viewer",
  providers: "administrator",
  certificates: "administrator",
  prices: "administrator",
  webhooks: "admin",
  alerts: "viewer",
  gateway: "administrator",
} as const satisfies Readonly<Record<AttentionCheck, string>>;

const listedOfOneCode = 5;

/** Findings about everything that the caller may see. A check that fails is a finding too, so an empty list means that all is well. */
export async function readAttention(
  viewer: Viewer & { readonly actor: Actor; readonly workspace: Workspace | null },
  dependencies: ConsoleDependencies,
): Promise<{ readonly data: readonly AttentionItem[]; readonly checked: readonly AttentionCheck[] }> {
  const { actor, workspace, held } = viewer;
  const scope = { workspace, actor, person: visiblePerson(viewer), now: dependencies.clock.now() };
  const checked = attentionChecks.filter((check) => meets(held, needs[check]));
  const found = await Promise.all(
    checked.map(async (check) => {
      try {
        return await checks[check](scope, dependencies);
      } catch (thrown) {
        dependencies.observer.log("warn", "failed to check what needs attention", { check, error: asFailure(thrown) });
        return [checkFailed(check)];
      }
    }),
  );
  return { data: listed(joined(found.flat())), checked };
}

function checkFailed(check: AttentionCheck): Finding {
  return {
    ...{ severity: "warning", code: "check_failed", params: { check } },
    ...{ workspace: null, subject: { kind: "gateway", id: "", name: "" } },
  };
}

/** Orders findings by severity. Findings with one code stay together, and only the first of them are listed. */
function listed(findings: readonly Finding[]): readonly AttentionItem[] {
  return attentionSeverities.flatMap((severity) => {
    const byCode = Map.groupBy(
      findings.filter((finding) => finding.severity === severity),
      ({ code }) => code,
    );
    return [...byCode.values()].flatMap((alike) => {
      const shown = alike.toSorted((one, other) => (other.weight ?? 0) - (one.weight ?? 0)).slice(0, listedOfOneCode);
      const rest = alike.length - shown.length;
      return shown.map((finding, place) => itemOf(finding, place === shown.length - 1 ? rest : 0));
    });
  });
}

function itemOf({ severity, code, params, workspace, subject, alerts = [] }: Finding, alike: number): AttentionItem {
  const finding = { code, params } as Remark<"attention">;
  return { severity, finding, text: remarkSentence("attention", finding), workspace, subject, alerts, alike };
}
