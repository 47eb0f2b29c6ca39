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
  if (failure.accountFault !== null) return faultAdvice[failure.accountFault];
  if (failure.code === "upstream_timeout") {
    return plain(
      "try_later_or_allow_time",
      "It was reached but is too slow, or something on the way holds the answer back. Try again, or allow it more time.",
    );
  }
  if (failure.code === "upstream_truncated") {
    return plain("check_connection", "The connection broke off. Try again; if it stays so, look at what is between.");
  }
  if (failure.code === "invalid_request") {
    return plain(
      "enter_key_again",
      "The API key holds a character that cannot be sent, such as a line break. Enter it again.",
    );
  }
  if (status >= 300 && status < 400) {
    const target = location === null ? "elsewhere" : `to ${location}`;
    const text = `The address leads ${target}, and redirects are never followed. Use the final address as the base URL.`;
    if (location === null) return plain("use_final_address", text);
    return { remark: { code: "use_address", params: { location } }, text };
  }
  return status === 0 ? null : statusAdvice(status, model);
}

type Param = {
  readonly [Code in Remark<"testAdvice">["code"]]: Extract<Remark<"testAdvice">, { code: Code }>["params"];
};
type PlainCode = {
  [Code in keyof Param]: keyof Param[Code] extends never ? Code : never;
}[keyof Param];

function plain(code: PlainCode, text: string): Advice {
  return { remark: { code, params: {} }, text };
}

const faultAdvice: Readonly<Record<Exclude<AccountFault, "credential">, Advice>> = {
  url: plain("write_url", "Write the base URL as https://host/path."),
  private_address: plain(
    "allow_private_network",
    "The base URL leads to a private address. If that server is yours, allow the private network for this provider.",
  ),
  forbidden_address: plain(
    "use_other_address",
    "Nothing is ever sent to this address, since it is none of a server. Use another one.",
  ),
  name: plain(
    "check_name",
    "Nobody knows the name in the base URL. Check how it is written, and that this machine can look names up.",
  ),
  unreachable: plain(
    "check_reachability",
    "Nothing answers there. Check the base URL and its port, that the server runs, and that a firewall lets this machine out.",
  ),
  certificate: plain(
    "check_certificate",
    "The server's certificate does not hold: it has expired, is for another name, or its authority is not known here.",
  ),
  proxy: plain(
    "check_proxy",
    "The egress proxy lets nothing through to it. Check the proxy's address and credentials, and its own rules for this host.",
  ),
  credit: plain("top_up", "The account has no credit left, or its bill is unpaid. Top it up at the provider."),
};

/** Of a list that is JSON and none. */
export const noListAdvice = plain("check_base_url", "Check the base URL: something else may stand at that path.");

function keyAdvice(kind: ProviderKind): Advice {
  const { apiKey, apiKeyHelp } = kindForm(kind);
  if (apiKey === "none") return plain("no_key_needed", "The provider refused us, although this kind takes no key.");
  const where = apiKeyHelp === null ? "" : ` ${apiKeyHelp}`;
  return plain(
    "check_key",
    `The key is missing, wrong, revoked, or of another account or region. Check it, or enter another.${where}`,
  );
}

function statusAdvice(status: number, model: string | null): Advice {
  if (status === 403) {
    return plain(
      "check_permissions",
      "The key is known but may not do this. Check its permissions, its project and its region.",
    );
  }
  if (status === 404 || status === 405) return notFoundAdvice(model);
  if (status === 429) {
    return plain(
      "wait_or_raise_quota",
      "The key works, but its rate limit or quota is used up. Wait, or raise it at the provider.",
    );
  }
  if (status >= 500) {
    return plain(
      "wait_for_provider",
      "The provider has trouble of its own. Try again later; its status page may say more.",
    );
  }
  if (status >= 400) {
    return plain(
      "check_model_type",
      "It did not take the question. Check that the model is of the type that is tried, and the settings.",
    );
  }
  return plain(
    "check_base_url_path",
    "Something answers there, but not this API. Check the base URL: many miss their path, such as /v1.",
  );
}

function notFoundAdvice(model: string | null): Advice {
  if (model === null) {
    return plain(
      "name_models_yourself",
      "There is no list of models there. If the base URL is right, that is no fault: name models yourself.",
    );
  }
  return {
    remark: { code: "no_such_model", params: { model } },
    text: `The account has no model ${model}, or the base URL is not the API's (many end in /v1).`,
  };
}
