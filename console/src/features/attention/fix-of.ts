import type { AttentionItem } from "@sluice/contract";
import { alertPage, limitedObjects } from "@sluice/contract/words";
import type { LinkProps } from "@tanstack/react-router";
import { t } from "../../language/areas/attention.ts";
import { linkOf } from "../../routes/search.ts";
import { limitLink } from "../limits/limit-link.ts";

interface Fix {
  readonly verb: string;
  readonly link: LinkProps;
}

/** The page that fixes a finding; null: it cannot be fixed in the console. */
export function fixOf({ finding, subject, workspace, alerts: [alert] }: AttentionItem): Fix | null {
  const here = workspace === null ? {} : { workspace: workspace.slug };
  switch (finding.code) {
    case "budget_exhausted":
    case "budget_refusing":
    case "budget_falls_back":
    case "budget_fallback_missing":
    case "budget_near": {
      if (subject.kind === "policy") {
        return { verb: t("attention.fix.policy"), link: { to: "/limits", search: { ...here, budget: subject.id } } };
      }
      const scope = limitedObjects.find((each) => each === subject.kind);
      if (scope === undefined || workspace === null) return null;
      const budget = { scope, scope_id: subject.id, kind: "budget" } as const;
      return { verb: t("attention.fix.limit"), link: limitLink(budget, workspace.slug) };
    }
    case "error_spike":
    case "error_spike_others":
      return {
        verb: t("attention.fix.requests"),
        link: { to: "/requests", search: { ...here, outcome: "unsuccessful", range: "24h" } },
      };
    case "provider_down":
    case "provider_unhealthy":
    case "provider_errors":
      return providerFix(subject.id);
    case "key_expiring":
      return {
        verb: t("attention.fix.key"),
        link: { to: "/keys/$key", params: { key: subject.id }, search: here },
      };
    case "key_requests_pending":
      return { verb: t("attention.fix.keyRequests"), link: { to: "/keys", search: { ...here, view: "requests" } } };
    case "key_request_approved":
      return {
        verb: t("attention.fix.collect"),
        link: { to: "/keys", search: { ...here, view: "requests", request: subject.id } },
      };
    case "admin_token_expiring":
      return { verb: t("attention.fix.tokens"), link: { to: "/settings", search: { tab: "tokens" } } };
    case "secret_unreadable":
      return providerFix(subject.id);
    case "certificate_expired":
    case "certificate_expiring":
      return subject.kind === "provider" ? providerFix(subject.id) : systemFix;
    case "model_unpriced":
      return {
        verb: t("attention.fix.price"),
        link: { to: "/models/$model", params: { model: subject.id }, search: { tab: "price" } },
      };
    case "models_unpriced_unused":
      return { verb: t("attention.fix.models"), link: { to: "/models", search: { price: "none" } } };
    case "price_list_old":
      return { verb: t("attention.fix.priceList"), link: { to: "/models", search: {} } };
    case "alert_failed":
      return { verb: t("attention.fix.alert"), link: { to: "/alerts", search: { ...here, tab: "channels" } } };
    case "webhooks_failed":
      return {
        verb: t("attention.fix.task"),
        link: { to: "/media/$task", params: { task: subject.id }, search: here },
      };
    case "alert_open":
      return alert === undefined
        ? null
        : { verb: t("attention.fix.cause"), link: linkOf(alertPage(alert, workspace?.slug ?? null)) };
    case "check_failed":
      return null;
    default:
      return systemFix;
  }
}

function providerFix(provider: string): Fix {
  return {
    verb: t("attention.fix.provider"),
    link: { to: "/providers/$provider", params: { provider }, search: {} },
  };
}

const systemFix: Fix = {
  verb: t("attention.fix.system"),
  link: { to: "/settings", search: { tab: "system" } },
};
