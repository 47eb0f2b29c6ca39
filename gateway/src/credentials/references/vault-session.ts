import { numberOf, objectOf, parseObject, textOf } from "#protocols/index.ts";
import type { CredentialContext, IssuerAnswer, IssuerRequest } from "../context.ts";
import { readText } from "../identity-file.ts";
import { refusedBy } from "../oauth.ts";
import { noIdentity } from "../unusable.ts";

const to = "Vault";

/**
 * A login at HashiCorp Vault or OpenBao, and secrets of its key-value engine (version 2).
 * https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2
 */
export class VaultSession {
  #token: { readonly text: string; readonly renewAt: number } | null = null;

  /** The text in a field of the secret. */
  async read(
    context: CredentialContext,
    at: { readonly mount: string; readonly path: string; readonly field: string },
  ) {
    const place = `${encodePath(at.mount)}/data/${encodePath(at.path)}`;
    let answer = await this.#get(context, place);
    // The login expired or was revoked.
    if (answer.status === 403 && this.#token !== null) {
      this.#token = null;
      answer = await this.#get(context, place);
    }
    if (answer.status === 404) throw noIdentity("Vault has no secret at the provider's reference.");
    if (answer.status === 503) throw noIdentity("Vault is sealed.");
    if (answer.status !== 200) throw refusedBy(to, answer);
    const value = textOf(objectOf(objectOf(parseObject(answer.text)?.["data"])["data"])[at.field]);
    if (value === null) throw noIdentity("Vault's secret does not have the field of the provider's reference.");
    return value;
  }

  async #get(context: CredentialContext, place: string): Promise<IssuerAnswer> {
    const token = await this.#login(context);
    return await vaultSend(context, place, { headers: { "x-vault-token": token } });
  }

  /** Logs in again after half of the lease. A token of the environment is renewed instead, if it can be. */
  async #login(context: CredentialContext): Promise<string> {
    if (this.#token !== null && this.#token.renewAt > context.now()) return this.#token.text;
    const { text, seconds } = await loginOf(context);
    // A lease of 0 never expires.
    const lifeMs = (seconds === 0 ? longestSeconds : Math.min(seconds, longestSeconds)) * 1_000;
    this.#token = { text, renewAt: context.now() + lifeMs / 2 };
    return text;
  }
}

const longestSeconds = 24 * 3_600;

async function loginOf(context: CredentialContext): Promise<{ readonly text: string; readonly seconds: number }> {
  const { workload } = context;
  const token = workload.variable("VAULT_TOKEN");
  if (token !== null) {
    // Refused for tokens that cannot be renewed, which is no problem.
    const headers = { "x-vault-token": token };
    const renewed = await vaultSend(context, "auth/token/renew-self", { method: "POST", headers, body: "{}" });
    const seconds = numberOf(objectOf(parseObject(renewed.text)?.["auth"])["lease_duration"]);
    return { text: token, seconds: seconds ?? 3_600 };
  }
  const { method, body } = await loginRequest(context);
  const mount = workload.variable("SLUICE_VAULT_AUTH_MOUNT") ?? method;
  const answer = await vaultSend(context, `auth/${encodePath(mount)}/login`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const auth = objectOf(parseObject(answer.text)?.["auth"]);
  const text = textOf(auth["client_token"]);
  if (answer.status !== 200 || text === null) throw noIdentity(`Vault refused the login (${answer.status}).`);
  return { text, seconds: numberOf(auth["lease_duration"]) ?? 0 };
}

async function loginRequest(context: CredentialContext) {
  const { workload } = context;
  const role = workload.variable("SLUICE_VAULT_KUBERNETES_ROLE");
  if (role !== null) {
    const file = workload.variable("SLUICE_VAULT_JWT_FILE") ?? "/var/run/secrets/kubernetes.io/serviceaccount/token";
    return {
      method: "kubernetes",
      body: { role, jwt: await readText(context, file, "The file with the token for Vault") },
    };
  }
  const roleId = workload.variable("SLUICE_VAULT_ROLE_ID");
  const secretId = workload.variable("SLUICE_VAULT_SECRET_ID");
  if (roleId === null) {
    throw noIdentity("Vault needs VAULT_TOKEN, SLUICE_VAULT_ROLE_ID or SLUICE_VAULT_KUBERNETES_ROLE on the gateway.");
  }
  return { method: "approle", body: { role_id: roleId, ...(secretId === null ? {} : { secret_id: secretId }) } };
}

function vaultSend(
  context: CredentialContext,
  path: string,
  { headers = {}, ...request }: Pick<IssuerRequest, "method" | "body"> & { readonly headers?: Record<string, string> },
): Promise<IssuerAnswer> {
  const address = context.workload.variable("VAULT_ADDR");
  if (address === null) throw noIdentity("Vault needs VAULT_ADDR on the gateway.");
  const namespace = context.workload.variable("VAULT_NAMESPACE");
  return context.send({
    ...request,
    to,
    url: `${address.replace(/\/+$/, "")}/v1/${path}`,
    headers: {
      ...headers,
      "x-vault-request": "true",
      ...(request.body === undefined ? {} : { "content-type": "application/json" }),
      ...(namespace === null ? {} : { "x-vault-namespace": namespace }),
    },
    reach: "operator",
  });
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}
