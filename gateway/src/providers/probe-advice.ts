import type { Remark } from "@sluice/contract/console";
import type { AccountFault, Failure } from "#core/index.ts";
import type { ProviderKind } from "./kind.ts";
import { kindForm } from "./kind-form.ts";

/** What is known of an answer that was not what was hoped for. `status` 0: there was none. */
export interface BadProbe {
  readonly status: number;
  readonly failure: Failure;
  /** The origin and path a redirect names; null when it is none. */
  readonly location: string | null;
  /** The upstream's model that was asked; null when its list was asked for. */
  readonly model: string | null;
}

/** What whoever runs the gateway can do about it: by code, and in plain words. */
export interface Advice {
  readonly remark: Remark<"testAdvice">;
  readonly text: string;
}

/** null when nothing is known to help. */
export function adviceFor(kind: ProviderKind, probe: BadProbe): Advice | null {
  const { status, failure, location, model } = probe;
  if (failure.accountFault === "credential" || status === 401) return keyAdvice(kind);
  if (failure.accountFault !== null) return plain(adviceByFault[failure.accountFault]);
  if (failure.code === "upstream_timeout") return plain("try_later_or_allow_time");
  if (failure.code === "upstream_truncated") return plain("check_connection");
  if (failure.code === "invalid_request") return plain("enter_key_again");
  if (status >= 300 && status < 400) {
    const target = location === null ? "elsewhere" : `to ${location}`;
    const text = `The address leads ${target}, and redirects are never followed. Use the final address as the base URL.`;
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
    "It was reached but is too slow, or something on the way holds the answer back. Try again, or allow it more time.",
  check_connection: "The connection broke off. Try again; if it stays so, look at what is between.",
  enter_key_again: "The API key holds a character that cannot be sent, such as a line break. Enter it again.",
  write_url: "Write the base URL as https://host/path.",
  allow_private_network:
    "The base URL leads to a private address. If that server is yours, allow the private network for this provider.",
  use_other_address: "Nothing is ever sent to this address, since it is none of a server. Use another one.",
  check_name:
    "Nobody knows the name in the base URL. Check how it is written, and that this machine can look names up.",
  check_reachability:
    "Nothing answers there. Check the base URL and its port, that the server runs, and that a firewall lets this machine out.",
  check_certificate:
    "The server's certificate does not hold: it has expired, is for another name, or its authority is not known here.",
  check_proxy:
    "The egress proxy lets nothing through to it. Check the proxy's address and credentials, and its own rules for this host.",
  top_up: "The account has no credit left, or its bill is unpaid. Top it up at the provider.",
  check_base_url: "Check the base URL: something else may stand at that path.",
  no_key_needed: "The provider refused us, although this kind takes no key.",
  check_key: "The key is missing, wrong, revoked, or of another account or region. Check it, or enter another.",
  check_permissions: "The key is known but may not do this. Check its permissions, its project and its region.",
  wait_or_raise_quota: "The key works, but its rate limit or quota is used up. Wait, or raise it at the provider.",
  wait_for_provider: "The provider has trouble of its own. Try again later; its status page may say more.",
  check_model_type:
    "It did not take the question. Check that the model is of the type that is tried, and the settings.",
  check_base_url_path:
    "Something answers there, but not this API. Check the base URL: many miss their path, such as /v1.",
  name_models_yourself:
    "There is no list of models there. If the base URL is right, that is no fault: name models yourself.",
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
};

/** Of a list that is JSON and none. */
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
