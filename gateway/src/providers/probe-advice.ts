import type { Remark } from "@sluice/contract/console";
import type { AccountFault, Failure } from "#core/index.ts";
import type { ProviderKind } from "./kind.ts";
import { kindForm } from "./kind-form.ts";

/** A failed test request. `status` 0: no answer. */
export interface BadProbe {
  readonly status: number;
  readonly failure: Failure;
  /** Origin and path of a redirect; null: none. */
  readonly location: string | null;
  /** The upstream's model; null for the model list. */
  readonly model: string | null;
}

/** How to fix the problem, by code and in words. */
export interface Advice {
  readonly remark: Remark<"testAdvice">;
  readonly text: string;
}

/** null: no advice. */
export function adviceFor(kind: ProviderKind, probe: BadProbe): Advice | null {
  const { status, failure, location, model } = probe;
  if (failure.accountFault === "credential" || status === 401) return keyAdvice(kind);
  if (failure.accountFault !== null) return plain(adviceByFault[failure.accountFault]);
  if (failure.code === "upstream_timeout") return plain("try_later_or_allow_time");
  if (failure.code === "upstream_truncated") return plain("check_connection");
  if (failure.code === "invalid_request") return plain("enter_key_again");
  if (status >= 300 && status < 400) {
    const target = location === null ? "elsewhere" : `to ${location}`;
    const text = `The URL redirects ${target}, and redirects are never followed. Use the final URL as the base URL.`;
    if (location === null) return { remark: { code: "use_final_address", params: {} }, text };
    return { remark: { code: "use_address", params: { location } }, text };
  }
  return status === 0 ? null : statusAdvice(status, model);
}

function plain(code: keyof typeof texts): Advice {
  return { remark: { code, params: {} }, text: texts[code] };
}

const texts = {
  try_later_or_allow_time:
    "The server is reachable but too slow, or a proxy buffers its answer. Try again, or raise the timeouts.",
  check_connection: "The connection broke. Try again; if it persists, check the network and proxies on the way.",
  enter_key_again: "The API key contains a character that cannot be sent, such as a line break. Enter it again.",
  write_url: "Enter the base URL as https://host/path.",
  allow_private_network:
    "The base URL resolves to a private address. If the server is yours, allow the private network for this provider.",
  use_other_address: "This address can never be a server. Use another one.",
  check_name: "The host name of the base URL does not resolve. Check its spelling and this machine's DNS.",
  check_reachability:
    "The server does not respond. Check the base URL and its port, that the server runs, and the firewall.",
  check_certificate:
    "The server's certificate is invalid: it has expired, is for another name, or its authority is not trusted.",
  check_proxy:
    "The egress proxy refuses the connection. Check its address, its credentials and its rules for this host.",
  top_up: "The account has no credit left, or its bill is unpaid. Top it up at the provider.",
  check_base_url: "Check the base URL: another service may be at that path.",
  check_identity:
    "The gateway could not prove its identity. Fix the reason above; check the role or account, what it trusts, and what the gateway's environment allows.",
  no_key_needed: "The provider refused the request, although this provider type needs no key.",
  check_key: "The key is missing, wrong, revoked, or for another account or region. Check it or enter another.",
  check_permissions: "The key is valid but not permitted to do this. Check its permissions, project and region.",
  wait_or_raise_quota: "The key works, but its rate limit or quota is exhausted. Wait, or raise it at the provider.",
  wait_for_provider: "The provider has an outage. Try again later and check its status page.",
  check_model_type: "The test request was refused. Check the model's type and the settings.",
  check_base_url_path: "The server responds, but not with this API. Check the path of the base URL, such as /v1.",
  name_models_yourself: "The provider has no list of models. If the base URL is right, enter model names yourself.",
} as const satisfies Partial<Record<Remark<"testAdvice">["code"], string>>;

const adviceByFault: Readonly<Record<Exclude<AccountFault, "credential">, keyof typeof texts>> = {
  url: "write_url",
  private_address: "allow_private_network",
  forbidden_address: "use_other_address",
  name: "check_name",
  unreachable: "check_reachability",
  certificate: "check_certificate",
  proxy: "check_proxy",
  credit: "top_up",
  identity: "check_identity",
};

/** For JSON that is not a model list. */
export const noListAdvice = plain("check_base_url");

function keyAdvice(kind: ProviderKind): Advice {
  const { apiKey, apiKeyHelp } = kindForm(kind);
  if (apiKey === "none") return plain("no_key_needed");
  const { remark, text } = plain("check_key");
  return { remark, text: apiKeyHelp === null ? text : `${text} ${apiKeyHelp}` };
}

function statusAdvice(status: number, model: string | null): Advice {
  if (status === 403) return plain("check_permissions");
  if (status === 404 || status === 405) {
    if (model === null) return plain("name_models_yourself");
    const text = `The account has no model ${model}, or the base URL is wrong (many end in /v1).`;
    return { remark: { code: "no_such_model", params: { model } }, text };
  }
  if (status === 429) return plain("wait_or_raise_quota");
  if (status >= 500) return plain("wait_for_provider");
  return plain(status >= 400 ? "check_model_type" : "check_base_url_path");
}
